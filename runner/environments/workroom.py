"""Folders in which images are made: gone when the work is, and after a while also when the process that had one was killed."""

from __future__ import annotations

import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

PREFIX = "benchwright-build-"
# Longer than any step of a build may take.
LEFT_AFTER_SECONDS = 3600.0


@contextmanager
def workroom() -> Iterator[Path]:
    """Give a new, empty folder; those that a killed process left are removed first."""
    for room in Path(tempfile.gettempdir()).glob(f"{PREFIX}*"):
        with suppress(OSError):
            if room.stat().st_mtime < time.time() - LEFT_AFTER_SECONDS:
                shutil.rmtree(room)
    with tempfile.TemporaryDirectory(prefix=PREFIX) as folder:
        yield Path(folder)
