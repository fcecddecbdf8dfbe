"""Downloads a recipe's wheels outside of any image: built distributions only, every hash checked."""

from __future__ import annotations

import platform
import subprocess
import sys
from pathlib import Path

from runner.environments.recipe import BuildFailed, Recipe

DOWNLOAD_SECONDS = 900
# The C library of each Debian; a suite that is not named has that of the newest here, or a later one.
GLIBC = {"bookworm": 36, "trixie": 41}
OLDEST_GLIBC = 5
LEGACY = ("manylinux2014", "manylinux2010", "manylinux1")


def download_wheels(recipe: Recipe, folder: Path, *, ca_file: Path | None = None) -> None:
    """Put the wheels of a recipe's requirements, and their text, into a folder. Raises BuildFailed."""
    folder.mkdir(parents=True)
    listing = folder / "requirements.txt"
    listing.write_text(recipe.requirements)
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps"]
    command += ["--require-hashes", *wheels_for(recipe.python, recipe.suite)]
    command += ["--cert", str(ca_file)] if ca_file else []
    try:
        done = subprocess.run(
            [*command, "--dest", str(folder), "--requirement", str(listing)],
            capture_output=True,
            text=True,
            timeout=DOWNLOAD_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise BuildFailed(
            f"The package index was too slow ({DOWNLOAD_SECONDS} s). Try again later."
        ) from None
    if done.returncode:
        raise BuildFailed(
            f"The wheels could not be had:\n{done.stderr.strip()[-1200:]}\n{_remedy(done.stderr)}"
        )


def wheels_for(python: str, suite: str) -> list[str]:
    """Return pip's options that take nothing but wheels which run under that Python on that Debian."""
    newest = GLIBC.get(suite, max(GLIBC.values()))
    systems = [*(f"manylinux_2_{minor}" for minor in range(newest, OLDEST_GLIBC - 1, -1)), *LEGACY]
    options = ["--only-binary", ":all:", "--python-version", python, "--implementation", "cp"]
    for abi in (f"cp{python.replace('.', '')}", "abi3", "none"):
        options += ["--abi", abi]
    for system in systems:
        options += ["--platform", f"{system}_{platform.machine()}"]
    return options


def _remedy(said: str) -> str:
    """Return what to do about what pip said."""
    if "CERTIFICATE" in said.upper():
        return "A proxy signs the connection: give its certificate as the extra CA file."
    if "HASHES" in said.upper():
        return "A file differs from the hash in the recipe: do not install it; find out why."
    return "Check the connection to the package index."
