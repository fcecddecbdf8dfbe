"""Closes a sample's process in, apart from every other that its container has had or will have. Standard library only.

Two ways, each a `Confinement`. Landlock (ABI 6, Linux 6.12) takes away everything but the system's own files and the
scratch directories, TCP, and signals to any process that is not the sample's own. Namespaces give it scratch
directories, mounts and System V objects of its own, which end with it. Either way a system call filter follows, last
thing before the program: it takes away what outlives a process (System V objects and message queues under Landlock),
and the making of further namespaces.

There is no namespace for process ids: the program would be its init, which the kernel spares from most signals, and
one that kills itself would live on, which it does in no other mode.

Sources: landlock(7), user_namespaces(7), seccomp(2); numbers of system calls from the kernel's tables.
"""

from __future__ import annotations

import ctypes
import os
import struct
from collections.abc import Callable
from contextlib import suppress

LANDLOCK_ABI = 6
CREATE_RULESET, ADD_RULE, RESTRICT_SELF = 444, 445, 446
EXECUTE, WRITE_FILE, READ_FILE, READ_DIR, TRUNCATE = 1, 2, 4, 8, 1 << 14
EVERY_FILE_RIGHT, EVERY_TCP_RIGHT, EVERY_SCOPE = (1 << 16) - 1, 3, 3
SCRATCH = ("/work", "/tmp")  # noqa: S108 - places of the box, not of the host
KEPT_BACK = ("proc", "sys", "dev", "work", "tmp")
DEVICES = {
    "null": READ_FILE | WRITE_FILE | TRUNCATE,
    "zero": READ_FILE | WRITE_FILE | TRUNCATE,
    "full": READ_FILE | WRITE_FILE | TRUNCATE,
    "random": READ_FILE,
    "urandom": READ_FILE,
}
PROCESSORS = "/sys/devices/system/cpu"  # how many there are, which is the same for every sample

NEWNS, NEWIPC, NEWUSER = 0x00020000, 0x08000000, 0x10000000
NEW_ANY = 0x7E020000
NOSUID, NODEV, NOEXEC, READONLY, RECURSIVE, PRIVATE = 2, 4, 8, 1, 1 << 14, 1 << 18
OWN_SCRATCH = "size=32m,nr_inodes=4096,mode=0700"
OWN_SHM = "size=8m,nr_inodes=1024,mode=1777"
CAPABILITIES = 41
CAPABILITY_VERSION = 0x20080522
PR_SET_SECCOMP, PR_CAPBSET_DROP, SECCOMP_MODE_FILTER = 22, 24, 2

# System V objects and POSIX message queues; what would make or enter namespaces and mounts; and what would change pid 1,
# which is of the same user: the processors and the rank for disks that later samples inherit from it.
_LASTING = {
    "x86_64": (29, 30, 31, 67, 64, 65, 66, 220, 68, 69, 70, 71, 240, 241, 242, 243, 244, 245),
    "aarch64": (194, 196, 195, 197, 190, 193, 191, 192, 186, 189, 188, 187, 180, 181, 182, 183, 184, 185),
}
_NAMESPACES = {
    "x86_64": (272, 308, 165, 166, 155, 161, 170, 171, 428, 429, 430, 431, 432, 433, 442),
    "aarch64": (97, 268, 40, 39, 41, 51, 161, 162, 428, 429, 430, 431, 432, 433, 442),
}
_OF_OTHERS = {"x86_64": (203, 251), "aarch64": (122, 30)}
_CLONE, _CLONE3 = {"x86_64": 56, "aarch64": 220}, 435
_ARCHITECTURE = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
_X32 = 0x40000000
_LOAD, _EQUAL, _AT_LEAST, _ANY_BIT, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
_ALLOW, _EPERM, _ENOSYS = 0x7FFF0000, 0x00050001, 0x00050026

LIBC = ctypes.CDLL(None, use_errno=True)
LIBC.syscall.restype = ctypes.c_long
LIBC.prctl.argtypes = [ctypes.c_int] + [ctypes.c_ulong] * 4
LIBC.mount.argtypes = [ctypes.c_char_p, ctypes.c_char_p, ctypes.c_char_p, ctypes.c_ulong, ctypes.c_char_p]


class Confinement:
    """What the sample's process does to itself: `enter` right after the fork, `seal` right before the program."""

    def __init__(self, enter: Callable[[], None], filter_: bytes) -> None:
        self.enter = enter
        # The kernel reads the program from memory that must stay where it is.
        self._program = ctypes.create_string_buffer(filter_, len(filter_))
        self._filter = ctypes.create_string_buffer(
            struct.pack("HxxxxxxQ", len(filter_) // 8, ctypes.addressof(self._program))
        )

    def seal(self) -> None:
        """Put the filter over this process and all it will start. Raises OSError."""
        _hold(
            LIBC.prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, ctypes.addressof(self._filter), 0, 0), "seccomp"
        )


def confinement(mode: str) -> Confinement:
    """Return the confinement of a mode, its rules made ready once. Raises OSError where the kernel has it not."""
    machine = os.uname().machine
    if machine not in _ARCHITECTURE:
        raise OSError(f"no system call numbers are known for {machine}")
    denied = _NAMESPACES[machine] + _OF_OTHERS[machine]
    if mode == "zygote":
        rules = _ruleset()
        return Confinement(lambda: _restrict(rules), system_call_filter(machine, denied + _LASTING[machine]))
    return Confinement(_own_namespaces, system_call_filter(machine, denied))


def landlock_abi() -> int:
    """Return the kernel's Landlock ABI, 0 where it has none."""
    return max(0, int(LIBC.syscall(CREATE_RULESET, None, 0, 1)))


def system_call_filter(machine: str, denied: tuple[int, ...]) -> bytes:
    """Return a seccomp program that answers EPERM to these calls and to `clone` with a new namespace."""
    # After the prologue: one test for each call, four lines for clone and clone3, then the three answers.
    answers = 4 + len(denied) + 5
    lines = [
        (_LOAD, 0, 0, 4),
        (_EQUAL, 0, answers + 1 - 2, _ARCHITECTURE[machine]),
        (_LOAD, 0, 0, 0),
        (_AT_LEAST, answers + 1 - 4, 0, _X32),
    ]
    for number in denied:
        lines.append((_EQUAL, answers + 1 - len(lines) - 1, 0, number))
    lines.append((_EQUAL, answers + 2 - len(lines) - 1, 0, _CLONE3))
    lines.append((_EQUAL, 0, answers - len(lines) - 1, _CLONE[machine]))
    lines.append((_LOAD, 0, 0, 16))
    lines.append((_ANY_BIT, answers + 1 - len(lines) - 1, 0, NEW_ANY))
    lines.append((_RETURN, 0, 0, _ALLOW))
    lines += [(_RETURN, 0, 0, _ALLOW), (_RETURN, 0, 0, _EPERM), (_RETURN, 0, 0, _ENOSYS)]
    return b"".join(struct.pack("HBBI", *line) for line in lines)


def _ruleset() -> int:
    """Return a descriptor of the Landlock rules. Raises OSError."""
    abi = landlock_abi()
    if abi < LANDLOCK_ABI:
        raise OSError(f"Landlock has ABI {abi} here, and {LANDLOCK_ABI} is needed (Linux 6.12)")
    asked = struct.pack("QQQ", EVERY_FILE_RIGHT, EVERY_TCP_RIGHT, EVERY_SCOPE)
    rules = _hold(LIBC.syscall(CREATE_RULESET, asked, len(asked), 0), "the Landlock ruleset")
    for name in os.listdir("/"):
        if name not in KEPT_BACK:
            _allow(rules, f"/{name}", READ_FILE | READ_DIR | EXECUTE)
    for place in SCRATCH:
        _allow(rules, place, EVERY_FILE_RIGHT)
    for name, rights in DEVICES.items():
        _allow(rules, f"/dev/{name}", rights)
    _allow(rules, PROCESSORS, READ_FILE | READ_DIR)
    return rules


def _allow(rules: int, path: str, rights: int) -> None:
    """Add a rule for what is beneath a path; one that is not there needs none."""
    with suppress(FileNotFoundError):
        place = os.open(path, os.O_PATH)
        if not os.path.isdir(path):
            rights &= EXECUTE | WRITE_FILE | READ_FILE | TRUNCATE
        _hold(LIBC.syscall(ADD_RULE, rules, 1, struct.pack("=Qi", rights, place), 0), f"the rule for {path}")
        os.close(place)


def _restrict(rules: int) -> None:
    _hold(LIBC.syscall(RESTRICT_SELF, rules, 0), "Landlock")


def _own_namespaces() -> None:
    """Move this process into user, mount and IPC namespaces of its own, with empty places to write. Raises OSError."""
    user, group = os.getuid(), os.getgid()
    _hold(LIBC.unshare(NEWUSER | NEWNS | NEWIPC), "the namespaces")
    for name, text in (
        ("setgroups", "deny"),
        ("uid_map", f"{user} {user} 1"),
        ("gid_map", f"{group} {group} 1"),
    ):
        with open(f"/proc/self/{name}", "w") as file:
            file.write(text)
    _mount(None, "/", None, RECURSIVE | PRIVATE)
    inert = NOSUID | NODEV | NOEXEC
    for place in SCRATCH:
        _mount("tmpfs", place, "tmpfs", inert, OWN_SCRATCH)
    for place in ("/dev/shm", "/dev/mqueue"):  # noqa: S108 - of the box
        if os.path.isdir(place):
            _mount("tmpfs", place, "tmpfs", inert, OWN_SHM)
    for place in ("/sys/fs/cgroup", "/proc"):
        # Closed, not empty: who wants in meets PermissionError, by which the host knows that confinement was the reason.
        _mount("tmpfs", place, "tmpfs", inert | READONLY, "nr_inodes=2,mode=0000")
    for capability in range(CAPABILITIES):
        LIBC.prctl(PR_CAPBSET_DROP, capability, 0, 0, 0)
    _hold(LIBC.capset(struct.pack("Ii", CAPABILITY_VERSION, 0), bytes(24)), "giving up capabilities")


def _mount(source: str | None, target: str, kind: str | None, flags: int, options: str = "") -> None:
    _hold(
        LIBC.mount(
            source.encode() if source else None,
            target.encode(),
            kind.encode() if kind else None,
            flags,
            options.encode() or None,
        ),
        f"the mount on {target}",
    )


def _hold(result: int, what: str) -> int:
    """Return what a call gave. Raises OSError where it failed: a sample never runs with less than all of it."""
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{what}: {os.strerror(number)}")
    return int(result)
