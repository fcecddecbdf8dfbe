"""The hardened settings every box is created with (sandbox.md, section c)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import docker
from docker.types import LogConfig, Ulimit

from runner.languages.base import Language
from runner.sandbox.base import Limits

USER = "65534:65534"
SCRATCH_BYTES = 32 << 20
SCRATCH_INODES = 4096
SHM_BYTES = 8 << 20
OOM_SCORE = 500
LABEL = "org.benchwright"

# The whole environment of a box besides what its language adds: fixed, and without a secret.
ENVIRONMENT = {
    "PATH": "/usr/local/bin:/usr/bin:/bin",
    "LANG": "C.UTF-8",
    "TZ": "UTC",
    "HOME": "/tmp",  # noqa: S108 - inside the box
}


@dataclass(frozen=True)
class BoxSettings:
    """What may differ between two boxes."""

    image: str
    language: Language
    seed: int
    memory_bytes: int
    processes: int
    runtime: str = ""

    @classmethod
    def of(cls, image: str, language: Language, seed: int, limits: Limits, runtime: str = "") -> BoxSettings:
        """Return the settings a job with these limits needs."""
        memory = max(limits.memory_bytes, language.memory_bytes)
        return cls(image, language, seed, memory, limits.processes, runtime)


@cache
def seccomp() -> str:
    """Return our seccomp profile: Docker's default semantics without what it should not allow."""
    return (Path(__file__).parent / "seccomp.json").read_text()


def create_options(
    api: docker.APIClient, settings: BoxSettings, name: str, labels: dict[str, str]
) -> dict[str, Any]:
    """Return the arguments of `create_container` for a box."""
    environment = ENVIRONMENT | settings.language.environment(settings.seed)
    return {
        "image": settings.image,
        "command": settings.language.command(),
        "name": name,
        "user": USER,
        "hostname": "box",
        "working_dir": "/work",
        "entrypoint": [],
        "environment": environment,
        "labels": labels,
        "stdin_open": True,
        "detach": False,  # with stdin_open this sets StdinOnce: our end closed means end of file inside
        "tty": False,
        "network_disabled": True,
        "host_config": api.create_host_config(**_host_options(settings)),
    }


def _host_options(settings: BoxSettings) -> dict[str, Any]:
    scratch = f"rw,nosuid,nodev,noexec,size={SCRATCH_BYTES},nr_inodes={SCRATCH_INODES},mode=0700,uid=65534,gid=65534"
    work = scratch.replace("noexec", "exec") if settings.language.executes else scratch
    options: dict[str, Any] = {
        "network_mode": "none",
        "read_only": True,
        "tmpfs": {"/tmp": scratch, "/work": work},  # noqa: S108 - inside the box
        "cap_drop": ["ALL"],
        "security_opt": ["no-new-privileges", f"seccomp={seccomp()}"],
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
        "ulimits": [Ulimit(name="core", soft=0, hard=0), Ulimit(name="nofile", soft=256, hard=256)],
    }
    if settings.runtime:
        options["runtime"] = settings.runtime
    return options
