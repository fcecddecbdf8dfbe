"""Hands a program's process over to another program, with three descriptors and nothing else. Standard library only."""

from __future__ import annotations

import os
import signal
from collections.abc import Sequence

ROWS, TESTS, SHEET = 3, 4, 5
HIGH = 64
WORK = "/work"


def enter() -> None:
    """Go where the program works."""
    os.chdir(WORK)


def hand_over(
    command: Sequence[str], environment: dict[str, str], ends: Sequence[int], *, program: int = -1
) -> None:
    """Become the command; the ends (rows, tests, sheet) are its descriptors 3, 4 and 5. Returns never.

    `program` is a descriptor to execute in place of the command's first word.
    """
    for number in (signal.SIGPIPE, signal.SIGXFSZ):
        signal.signal(number, signal.SIG_DFL)  # Python ignores them, and what is ignored stays so
    high = [os.dup2(end, HIGH + at) for at, end in enumerate((*ends, program) if program >= 0 else ends)]
    os.closerange(ROWS, HIGH)
    for place, end in zip((ROWS, TESTS, SHEET), high, strict=False):
        os.dup2(end, place)
    if program >= 0:
        os.set_inheritable(high[-1], False)
        os.execve(high[-1], list(command), environment)  # noqa: S606 - no shell is the point
    os.closerange(HIGH, HIGH + len(high))
    os.execve(command[0], list(command), environment)  # noqa: S606


def sheet_of(*parts: bytes) -> int:
    """Return a descriptor that reads the parts; the file has no name."""
    place = os.path.join(WORK, ".sheet")
    end = os.open(place, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
    os.unlink(place)
    for part in parts:
        left = memoryview(part)
        while left:
            left = left[os.write(end, left) :]
    os.lseek(end, 0, os.SEEK_SET)
    return end
