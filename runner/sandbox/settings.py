"""The hardened settings every box is created with (sandbox.md, section c)."""

from __future__ import annotations

import json
import secrets
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import docker
from docker.types import LogConfig, Ulimit

from runner.languages.base import Language
from runner.languages.pid_one import COMMAND, PidOne
from runner.sandbox.base import Limits

# An account for each box, so that what the kernel counts per user (inotify instances, pipe pages, descriptors on their
# way through sockets, queued signals) is not shared with a neighbour. systemd sets these ids aside for accounts of the
# moment, so no file is theirs (https://systemd.io/UIDS-GIDS); a remapped or rootless engine has them too.
ACCOUNTS = range(61184, 65520)
SCRATCH_BYTES = 32 << 20
SCRATCH_INODES = 4096
SHM_BYTES = 8 << 20
FILE_BYTES = 32 << 20
FILES = 256
OOM_SCORE = 500
LABEL = "org.benchwright"

# The whole environment of a box besides what its language adds: fixed, and without a secret.
ENVIRONMENT = {
    "PATH": "/usr/local/bin:/usr/bin:/bin",
    "LANG": "C.UTF-8",
    "TZ": "UTC",
    "HOME": "/tmp",  # noqa: S108 - inside the box
    "USER": "box",  # what `getpass` and the like ask first: the account has no entry in the image
}


@dataclass(frozen=True)
class BoxSettings:
    """What may differ between two boxes.

    `zygote` is what pid 1 executes where it is not the language's usual supervisor, `cpu_shares` the weight beside other
    containers (0: as usual), `namespaces` whether processes may make namespaces of their own.
    """

    image: str
    language: Language
    seed: int
    memory_bytes: int
    processes: int
    runtime: str = ""
    zygote: PidOne | None = None
    cpu_shares: int = 0
    namespaces: bool = False

    @property
    def pid_one(self) -> PidOne:
        """Return what pid 1 executes."""
        return self.zygote or self.language.pid_one()

    @classmethod
    def of(cls, image: str, language: Language, seed: int, limits: Limits, runtime: str = "") -> BoxSettings:
        """Return the settings a job with these limits needs."""
        memory = max(limits.memory_bytes, language.memory_bytes)
        return cls(image, language, seed, memory, limits.processes, runtime)


@cache
def seccomp(*, namespaces: bool = False) -> str:
    """Return our seccomp profile: Docker's default semantics without what it should not allow.

    With `namespaces` a process may make some and mount within them: for the mode `zygote-userns`, whose pid 1 takes
    these calls away again before a sample's program runs (inside/confine.py).
    """
    profile = json.loads((Path(__file__).parent / "seccomp.json").read_text())
    if not namespaces:
        return json.dumps(profile, separators=(",", ":"))
    calls = [rule for rule in profile["syscalls"] if rule["names"] != ["clone"]]
    calls.append({"names": ["clone", "unshare", "mount"], "action": "SCMP_ACT_ALLOW"})
    return json.dumps(profile | {"syscalls": calls}, separators=(",", ":"))


def create_options(
    api: docker.APIClient, settings: BoxSettings, name: str, labels: dict[str, str]
) -> dict[str, Any]:
    """Return the arguments of `create_container` for a box."""
    environment = ENVIRONMENT | settings.language.environment(settings.seed)
    account = secrets.choice(ACCOUNTS)
    return {
        "image": settings.image,
        "command": list(COMMAND),
        "name": name,
        "user": f"{account}:{account}",
        "hostname": "box",
        "working_dir": "/work",
        "entrypoint": [],
        "environment": environment,
        "labels": labels,
        "stdin_open": True,
        "detach": False,  # with stdin_open this sets StdinOnce: our end closed means end of file inside
        "tty": False,
        "network_disabled": True,
        "host_config": api.create_host_config(**_host_options(settings, account)),
    }


def _host_options(settings: BoxSettings, account: int) -> dict[str, Any]:
    inert = f"rw,nosuid,nodev,noexec,nr_inodes={SCRATCH_INODES},mode=0700,uid={account},gid={account}"
    # What lies in these places counts as the box's memory: together they must leave room to remove it again.
    size = min(SCRATCH_BYTES, settings.memory_bytes // 4)
    scratch, shm = f"{inert},size={size}", f"{inert},size={SHM_BYTES}"
    work = scratch.replace("noexec", "exec") if settings.language.executes else scratch
    options: dict[str, Any] = {
        "network_mode": "none",
        "read_only": True,
        # The engine's own /dev/shm may hold any number of files, and they are memory of no process.
        "tmpfs": {"/tmp": scratch, "/work": work, "/dev/shm": shm},  # noqa: S108 - inside the box
        "cap_drop": ["ALL"],
        "security_opt": ["no-new-privileges", f"seccomp={seccomp(namespaces=settings.namespaces)}"],
        "mem_limit": settings.memory_bytes,
        "memswap_limit": settings.memory_bytes,
        "pids_limit": settings.processes,
        "nano_cpus": 1_000_000_000,
        "oom_score_adj": OOM_SCORE,
        "shm_size": SHM_BYTES,
        "ipc_mode": "private",
        "init": False,
        "auto_remove": True,
        "log_config": LogConfig(type="none"),
        # No `cpu` here: it would be the supervisor's as well; each program's process gets its own (inside/process.py).
        "ulimits": [
            Ulimit(name=name, soft=limit, hard=limit)
            for name, limit in (("core", 0), ("nofile", FILES), ("fsize", FILE_BYTES))
        ],
    }
    if settings.cpu_shares:
        options["cpu_shares"] = settings.cpu_shares
    if settings.runtime:
        options["runtime"] = settings.runtime
    return options
