"""The program's process: how it is set up after the fork, and how its traces are removed."""

from __future__ import annotations

import ctypes
import gc
import os
import resource
import signal
from collections.abc import Callable
from contextlib import suppress
from itertools import pairwise
from typing import Any

WRITABLE = ("/work", "/tmp", "/dev/shm")  # noqa: S108 - places of the box, not of the host
DEFAULTED = (signal.SIGTERM, signal.SIGHUP, signal.SIGCHLD, signal.SIGQUIT, signal.SIGUSR1)
FILE_BYTES = 32 << 20
FILES = 256
PR_SET_DUMPABLE = 4
LIBC = ctypes.CDLL(None)


def dumpable(on: bool) -> None:
    """Let others of the same user look into this process, or not; a fork inherits it."""
    LIBC.prctl(PR_SET_DUMPABLE, int(on), 0, 0, 0)


def become_child(
    ends: dict[str, tuple[int, int]], job: dict[str, Any], play: Callable[[int, int], None]
) -> None:
    """Turn the forked process into the program's process; never returns."""
    try:
        signal.set_wakeup_fd(-1)
        for number in DEFAULTED:
            signal.signal(number, signal.SIG_DFL)
        signal.signal(signal.SIGINT, signal.default_int_handler)
        os.setsid()
        gc.enable()
        os.nice(10)  # within the box only: the supervisor is served first
        dumpable(True)
        _raise_oom_score()
        null = os.open("/dev/null", os.O_RDONLY)
        os.dup2(null, 0)
        os.dup2(ends["out"][1], 1)
        os.dup2(ends["err"][1], 2)
        rows, tests = ends["rows"][1], ends["tests"][0]
        for first, last in pairwise((2, *sorted((rows, tests)), FILES)):
            os.closerange(first + 1, last)
        seconds = int(job["cpu_seconds"] + job.get("build_seconds", 0)) + 2
        for what, value in (
            (resource.RLIMIT_CPU, seconds),
            (resource.RLIMIT_FSIZE, FILE_BYTES),
            (resource.RLIMIT_CORE, 0),
            (resource.RLIMIT_NOFILE, FILES),
        ):
            resource.setrlimit(what, (value, value))
        play(rows, tests)
    finally:
        os._exit(1)


def _raise_oom_score() -> None:
    """Let the kernel take the program before the supervisor when memory runs out."""
    with suppress(OSError), open("/proc/self/oom_score_adj", "w") as file:
        file.write("1000")


def wipe() -> bool:
    """Empty every writable place; return whether it worked."""
    for place in WRITABLE:
        for base, folders, files in os.walk(place, topdown=False):
            for name, remove in [(f, os.unlink) for f in files] + [(f, os.rmdir) for f in folders]:
                path = os.path.join(base, name)
                with suppress(OSError):
                    os.unlink(path) if os.path.islink(path) else remove(path)
        if os.path.isdir(place) and os.listdir(place):
            return False
    return True
