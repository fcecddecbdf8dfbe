"""The program's process: how it is set up after the fork, and how its traces are removed."""

from __future__ import annotations

import ctypes
import gc
import os
import resource
import signal
import struct
from collections.abc import Callable
from contextlib import suppress
from itertools import count, islice, pairwise
from typing import Any

WRITABLE = ("/work", "/tmp", "/dev/shm", "/dev/mqueue")  # noqa: S108 - places of the box, not of the host
DEFAULTED = (signal.SIGTERM, signal.SIGHUP, signal.SIGCHLD, signal.SIGQUIT, signal.SIGUSR1)
FILE_BYTES = 32 << 20
FILES = 256
FEW = 500
PR_SET_DUMPABLE = 4
# Landlock (man 7 landlock): the calls, the rights to write to a file and to move one to another directory, and the
# version from which on the second can be granted at all.
LANDLOCK_CREATE_RULESET, LANDLOCK_ADD_RULE, LANDLOCK_RESTRICT_SELF = 444, 445, 446
WRITE_FILE, REFER = 1 << 1, 1 << 13
LANDLOCK_WITH_REFER = 2
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


def close_proc() -> None:
    """Take the right to write below /proc and /sys from this process and all it starts, where the kernel knows how.

    Else a program could take back the score that lets the kernel kill it before the supervisor, and die in so many
    small processes that the supervisor is the largest. Without Landlock that remains possible, and is no verdict.
    """
    if LIBC.syscall(LANDLOCK_CREATE_RULESET, None, 0, 1) < LANDLOCK_WITH_REFER:
        return
    rights = struct.pack("Q", WRITE_FILE | REFER)
    rules = LIBC.syscall(LANDLOCK_CREATE_RULESET, rights, len(rights), 0)
    for path in ("/work", "/tmp", "/dev"):  # noqa: S108 - all else is read-only anyway
        with suppress(FileNotFoundError):
            place = os.open(path, os.O_PATH)
            LIBC.syscall(LANDLOCK_ADD_RULE, rules, 1, rights + struct.pack("i", place), 0)
            os.close(place)
    LIBC.syscall(LANDLOCK_RESTRICT_SELF, rules, 0)
    os.close(rules)


def wipe() -> bool:
    """Empty every writable place, which nothing else is using any more; return whether it worked."""
    try:
        for place in WRITABLE:
            if os.path.isdir(place):
                _empty(place)
    except OSError:
        return False
    return True


def unmarked() -> bool:
    """Take from the writable places themselves what a sample could have written on them; return whether it worked."""
    try:
        for place in WRITABLE:
            if os.path.isdir(place) and os.stat(place).st_uid == os.getuid():
                for name in os.listxattr(place):
                    os.removexattr(place, name)
                os.chmod(place, 0o700)
                os.utime(place, (0, 0))
    except OSError:
        return False
    return True


def _empty(place: str) -> None:
    """Remove all there is in a place. Raises OSError.

    What a directory holds is first moved up to the place itself: however deep a program has nested, no path gets long,
    two descriptors are enough, and nothing recurses.
    """
    if os.stat(place).st_uid == os.getuid():
        os.chmod(place, 0o700)
    top = os.open(place, os.O_RDONLY | os.O_DIRECTORY)
    fresh, number = os.urandom(8).hex(), count()
    try:
        while names := _some(top):
            for name in names:
                if _unlinked(name, top):
                    continue
                inner = os.open(name, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=top)
                try:
                    while names_below := _some(inner):
                        for below in names_below:
                            if not _unlinked(below, inner):
                                os.rename(below, f"{fresh}{next(number)}", src_dir_fd=inner, dst_dir_fd=top)
                finally:
                    os.close(inner)
                os.rmdir(name, dir_fd=top)
    finally:
        os.close(top)


def _some(directory: int) -> list[str]:
    """Return a few of the names in a directory: memory may be short just now."""
    with os.scandir(directory) as entries:
        return [entry.name for entry in islice(entries, FEW)]


def _unlinked(name: str, parent: int) -> bool:
    """Remove what is no directory; return False for one, which then can be opened and moved. Raises OSError."""
    try:
        os.unlink(name, dir_fd=parent)
    except IsADirectoryError:
        os.chmod(name, 0o700, dir_fd=parent)
        return False
    return True
