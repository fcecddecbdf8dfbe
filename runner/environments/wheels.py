"""Downloads a recipe's wheels outside of any image: built distributions only, every hash checked."""

from __future__ import annotations

import platform
import subprocess
import sys
from pathlib import Path

from runner.environments.recipe import PYTHON, BuildFailed

DOWNLOAD_SECONDS = 900
GLIBC = (
    "manylinux_2_41",
    "manylinux_2_34",
    "manylinux_2_28",
    "manylinux_2_27",
    "manylinux_2_17",
    "manylinux2014",
)


def download_wheels(requirements: str, folder: Path, *, ca_file: Path | None = None) -> None:
    """Put the wheels of a hashed requirements text, and the text itself, into a folder. Raises BuildFailed."""
    folder.mkdir(parents=True)
    listing = folder / "requirements.txt"
    listing.write_text(requirements)
    abi = f"cp{PYTHON.replace('.', '')}"
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps"]
    command += [
        "--require-hashes",
        "--only-binary",
        ":all:",
        "--python-version",
        PYTHON,
        "--implementation",
        "cp",
    ]
    command += ["--abi", abi, "--abi", "abi3", "--abi", "none"]
    for glibc in GLIBC:
        command += ["--platform", f"{glibc}_{platform.machine()}"]
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


def _remedy(said: str) -> str:
    """Return what to do about what pip said."""
    if "CERTIFICATE" in said.upper():
        return "A proxy signs the connection: give its certificate as the extra CA file."
    if "HASHES" in said.upper():
        return "A file differs from the hash in the recipe: do not install it; find out why."
    return "Check the connection to the package index."
