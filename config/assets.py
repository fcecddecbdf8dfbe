"""Collected static files: made anew only when a file behind them has changed, so that a start takes no time."""

from __future__ import annotations

import hashlib
from pathlib import Path

from django.conf import settings
from django.contrib.staticfiles.finders import get_finders
from django.core.management import call_command

# Pages of libraries that this site does not serve: the browsable API, and a second viewer of the API's schema.
LEFT_OUT = ["rest_framework", "redoc"]


def collect_if_changed() -> bool:
    """Collect, compress and name the static files by their content; return False where nothing had changed.

    The stamp is written last: a collection that was interrupted is done again.
    """
    stamp = Path(settings.DATA_DIR) / "static.stamp"
    wanted = _fingerprint()
    if stamp.exists() and stamp.read_text() == wanted and Path(settings.STATIC_ROOT).is_dir():
        return False
    call_command("collectstatic", interactive=False, clear=True, verbosity=0, ignore_patterns=LEFT_OUT)
    stamp.write_text(wanted)
    return True


def _fingerprint() -> str:
    """Return a hash over name, size and time of every file that would be collected, and over how it is stored."""
    seen = hashlib.sha256(settings.STORAGES["staticfiles"]["BACKEND"].encode())
    for finder in get_finders():
        for path, storage in finder.list(LEFT_OUT):
            found = Path(storage.path(path)).stat()
            seen.update(f"{path}\0{found.st_size}\0{found.st_mtime_ns}\n".encode())
    return seen.hexdigest()
