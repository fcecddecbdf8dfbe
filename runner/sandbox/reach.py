"""What a sample reaches for that a confined process has not, and the modes that have it; pure.

Said by its text, before it is run: confinement shows as a failure of the program, which is the last thing that should
decide a verdict. A text that only mentions such a thing is run in a mode that has it, which costs time and no truth.
"""

from __future__ import annotations

import re
from enum import StrEnum
from functools import lru_cache

from runner.sandbox.base import Job
from runner.sandbox.zygote import LANDLOCK, NAMESPACES


class Reach(StrEnum):
    """A thing some modes have and others have not."""

    PROC = "/proc"
    SHARED = "shared memory"
    SOCKETS = "sockets"


_SIGNS = {
    Reach.PROC: re.compile(
        r"/proc\b|/sys\b|\bpsutil\b|\bloadavg\b|\bpty\b|\bopenpty\b|/dev/(?!null|zero|full|u?random)"
    ),
    Reach.SHARED: re.compile(
        r"\bmultiprocessing\b|\bProcessPoolExecutor\b|\bshared_memory\b|\bposix_ipc\b|\bsysv_ipc\b|/dev/shm"
        r"|\bshm_open\b|\bshmget\b|\bsemget\b|\bmsgget\b|\bmq_open\b|\bsem_open\b|\bjoblib\b"
    ),
    Reach.SOCKETS: re.compile(
        r"\bsocket\b|\bsocketserver\b|\bhttp\.server\b|\bxmlrpc\b|\bwsgiref\b|\burllib\.request\b|\bhttp\.client\b"
        r"|\bsmtplib\b|\bftplib\b|\basyncore\b|\brequests\b|\baiohttp\b|\btornado\b|\b[fF]lask\b|\bstart_server\b"
        r"|\bopen_connection\b|\bcreate_server\b|\bcreate_connection\b"
    ),
}
# A text without any of these has none of the signs; looking for them takes a twentieth of the time.
_HINTS = (
    *(
        "/proc",
        "/sys",
        "/dev/",
        "psutil",
        "loadavg",
        "pty",
        "process",
        "Process",
        "shared_memory",
        "ipc",
        "shm",
        "semget",
    ),
    *(
        "msgget",
        "mq_open",
        "sem_open",
        "joblib",
        "socket",
        "http",
        "xmlrpc",
        "wsgiref",
        "urllib",
        "lib",
        "asyncore",
    ),
    *("requests", "tornado", "lask", "server", "connection"),
)
_HAVE = {LANDLOCK: frozenset[Reach](), NAMESPACES: frozenset({Reach.SHARED})}


def reaches(job: Job) -> frozenset[Reach]:
    """Return what the texts of a job reach for."""
    return _signs(job.program) | _signs_of_tests(job.tests) | _signs_of_tests(job.block)


def _signs(text: str) -> frozenset[Reach]:
    if not any(hint in text for hint in _HINTS):
        return frozenset()
    return frozenset(reach for reach, sign in _SIGNS.items() if sign.search(text))


_signs_of_tests = lru_cache(maxsize=256)(_signs)  # the same for all samples of a problem


def fits(job: Job, mode: str) -> bool:
    """Return whether a mode has all that a job reaches for; a container of its own has everything a box can have."""
    return mode not in _HAVE or reaches(job) <= _HAVE[mode]
