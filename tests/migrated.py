"""A SQLite database with all our tables, for processes of their own: migrated once on a machine, then copied."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from hashlib import sha256
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
FILE = "benchwright.sqlite3"


def give_tables(room: Path) -> None:
    """Put a migrated database into a data directory, which is made where it is absent."""
    room.mkdir(parents=True, exist_ok=True)
    shutil.copy(_migrated(), room / FILE)


def _migrated() -> Path:
    """Return the file to copy; it carries the hash of what it was made of, and is whole wherever it is seen."""
    made = Path(tempfile.gettempdir()) / f"benchwright-migrated-{_digest()}.sqlite3"
    if not made.exists():
        with tempfile.TemporaryDirectory() as room:
            own = {"DJANGO_SETTINGS_MODULE": "config.settings", "BENCHWRIGHT_DATA": room, "DATABASE_URL": ""}
            environment = {name: text for name, text in {**os.environ, **own}.items() if text}
            command = [sys.executable, "manage.py", "migrate", "-v0", "--skip-checks"]
            subprocess.run(command, cwd=ROOT, env=environment, check=True)
            beside = made.with_suffix(f".{os.getpid()}")
            shutil.copy(Path(room) / FILE, beside)
            beside.replace(made)
    return made


def _digest() -> str:
    """Return a hash of every migration of ours and of the versions of everybody else's."""
    texts = [ROOT / "requirements.txt", *sorted(ROOT.glob("*/migrations/*.py"))]
    return sha256(b"".join(path.read_bytes() for path in texts)).hexdigest()[:16]
