"""A file lock that the kernel releases when its process ends, however that happens."""

from __future__ import annotations

import fcntl
import os
from pathlib import Path
from typing import IO


def take(path: Path) -> IO[bytes] | None:
    """Return the held lock, None when another process holds it. Close it to give it up.

    A link is refused (OSError): the directory may belong to an account with fewer rights than ours.
    """
    opened = os.fdopen(os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600), "r+b")
    try:
        fcntl.flock(opened, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        opened.close()
        return None
    return opened
