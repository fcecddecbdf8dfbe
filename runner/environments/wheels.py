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
# How pip and its parts say that nobody was there.
UNREACHED = (
    "CONNECTION BROKEN",
    "NEWCONNECTIONERROR",
    "MAX RETRIES",
    "NAME RESOLUTION",
    "TIMED OUT",
    "PROXYERROR",
)
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
            f"The wheels could not be had:\n{done.stderr.strip()[-1200:]}\n{refusal_of(done.stderr) or 'Check the connection to the package index.'}"
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


def refusal_of(said: str) -> str:
    """Return what helps where pip could not reach its index or was given another file; "" where it is neither."""
    text = said.upper()
    if "CERTIFICATE" in text:
        return "A proxy signs the connection: give its certificate as the extra CA file (RUNNER_CA_FILE)."
    if "HASHES" in text:
        return "A file differs from the hash in the recipe: do not install it; find out why."
    if any(sign in text for sign in UNREACHED):
        return "The package index does not answer. Check the connection to it, then build again."
    return ""
