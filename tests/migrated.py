"""Databases with all our tables: migrated once on a machine, then copied; migrating takes longer than most tests.

python -m tests.migrated FOLDER     puts one into a data directory
"""

from __future__ import annotations

import fcntl
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from contextlib import suppress
from hashlib import sha256
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
FILE = "benchwright.sqlite3"


def give_tables(room: Path) -> None:
    """Put a migrated SQLite database into a data directory, which is made where it is absent."""
    room.mkdir(parents=True, exist_ok=True)
    shutil.copy(migrated_file(), room / FILE)


def migrated_file() -> Path:
    """Return a migrated SQLite database, to be copied."""

    def make(beside: Path) -> None:
        with tempfile.TemporaryDirectory() as room:
            _migrate(BENCHWRIGHT_DATA=room, DATABASE_URL="")
            shutil.copy(Path(room) / FILE, beside)

    return _made_once("sqlite3", make)


def fill_postgres(url: str, programs: Path) -> None:
    """Make our tables in an empty Postgres database; `programs` is the directory with pg_dump and psql."""

    def make(beside: Path) -> None:
        _migrate(DATABASE_URL=url)
        subprocess.run([programs / "pg_dump", "--no-owner", "-f", beside, url], check=True)

    # Read in one transaction: by the process that made it, too, so that all find the same.
    dump = _made_once("sql", make)
    clear = ["-c", "DROP SCHEMA public CASCADE", "-c", "CREATE SCHEMA public"]
    command = [programs / "psql", "-q", "-1", "-v", "ON_ERROR_STOP=1", *clear, "-f", dump, url]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)


def _made_once(suffix: str, make: Callable[[Path], None]) -> Path:
    """Return a file that `make` writes where it is absent, one process at a time.

    Its name carries the hash of what it is made of, and it is whole wherever it is seen.
    """
    made = Path(tempfile.gettempdir()) / f"benchwright-migrated-{_digest()}.{suffix}"
    with made.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not made.exists():
            beside = made.with_suffix(f".{os.getpid()}")
            try:
                make(beside)
                beside.replace(made)
            finally:
                with suppress(FileNotFoundError):
                    beside.unlink()
    return made


def _migrate(**own: str) -> None:
    """Run the migrations of the product's own settings with these variables; an empty one is not set."""
    variables = {**os.environ, "DJANGO_SETTINGS_MODULE": "config.settings", **own}
    environment = {name: text for name, text in variables.items() if text}
    command = [sys.executable, "manage.py", "migrate", "-v0", "--skip-checks"]
    subprocess.run(command, cwd=ROOT, env=environment, check=True)


def _digest() -> str:
    """Return a hash of every migration of ours and of the versions of everybody else's."""
    texts = [ROOT / "requirements.txt", *sorted(ROOT.glob("*/migrations/*.py"))]
    return sha256(b"".join(path.read_bytes() for path in texts)).hexdigest()[:16]


if __name__ == "__main__":
    give_tables(Path(sys.argv[1]))
