"""What holds on this host: tried in boxes, shown by `manage.py doctor`."""

from __future__ import annotations

import ctypes
import os
import platform
import secrets
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from django.conf import settings
from django.db import DatabaseError

from runner import boxes, modes
from runner.claims import BOOT
from runner.environments.recipe import Recipe, recipes
from runner.models import Environment
from runner.modes import MODES
from runner.outcome import judge
from runner.probes import PROBES, Probe
from runner.sandbox.base import Sandbox, SandboxUnavailable
from runner.sandbox.containers import ColdSandbox
from runner.sandbox.engine import Engine, plainly

LANDLOCK_CREATE_RULESET = 444
LANDLOCK_VERSION_ONLY = 1
NOT_TRIED = "not tried: no engine, or no image"
NO_ENGINE = (
    "Install an engine and start it (Debian: apt-get install docker.io), let this account reach its socket "
    "(group docker), or set DOCKER_HOST to where one listens. Until then pages work and runs wait."
)
FALLS_BACK = (
    "Samples run in the next mode that holds, which is slower. zygote needs Linux 6.12, zygote-userns needs user "
    "namespaces that AppArmor or sysctl do not forbid; or set RUNNER_BULK_MODE to a mode that holds."
)
NO_IMAGE = "Run: python manage.py build_environments"


@dataclass(frozen=True)
class Finding:
    """One claim: whether it holds, what was seen, and what to do where it does not."""

    claim: str
    holds: bool
    seen: str
    remedy: str = ""


@dataclass
class Report:
    """Everything the doctor found."""

    host: dict[str, str] = field(default_factory=dict)
    modes: dict[str, str] = field(default_factory=dict)
    images: dict[str, str] = field(default_factory=dict)
    findings: list[Finding] = field(default_factory=list)

    @property
    def holds(self) -> bool:
        """Whether every claim holds."""
        return all(finding.holds for finding in self.findings)

    def as_json(self) -> dict[str, Any]:
        """Return the report as plain JSON values."""
        return {**asdict(self), "holds": self.holds}


def diagnose(engine: Engine | None = None) -> Report:
    """Try everything and return what was found; an engine that is absent is a finding, not an error."""
    engine = engine or boxes.engine()
    report = Report(host=host_facts(), modes=dict.fromkeys(MODES, NOT_TRIED))
    try:
        report.host |= engine_facts(engine)
    except SandboxUnavailable as error:
        report.findings.append(Finding("a Docker engine answers", False, str(error), NO_ENGINE))
        return report
    report.findings.append(Finding("a Docker engine answers", True, report.host["engine"]))
    report.images = {name: image_of(engine, recipe) for name, recipe in recipes().items()}
    for name, image in report.images.items():
        if not image and not recipes()[name].usual:
            continue
        report.findings.append(
            Finding(f"the image {name} is built", bool(image), image or "absent", NO_IMAGE)
        )
    if plain := report.images[boxes.PLAIN]:
        sandbox = ColdSandbox(engine)
        report.findings += [tried(probe, sandbox, plain) for probe in PROBES]
        report.modes, bulk = modes_here(engine, plain)
        report.findings.append(bulk)
    return report


def tried(probe: Probe, sandbox: Sandbox, image: str) -> Finding:
    """Run a probe and return what it showed."""
    name = f"benchwright-{BOOT}{secrets.token_hex(10)}"
    try:
        measured = sandbox.run(
            probe.job, image=image, name=name, on_started=lambda: None, on_row=lambda _row: None
        )
    except SandboxUnavailable as error:
        return Finding(probe.claim, False, str(error), probe.remedy)
    judged = judge(measured, probe.job.expected)
    said = next((row.message for row in judged.tests if row.message), "") or measured.load_error
    seen = f"{judged.outcome} after {measured.wall_seconds:.2f} s, {measured.memory_bytes / 1e6:.0f} MB"
    holds = judged.outcome == probe.expected
    return Finding(probe.claim, holds, seen if holds else f"{seen}. {said}".rstrip(". "), probe.remedy)


def image_of(engine: Engine, recipe: Recipe) -> str:
    """Return the digest of a recipe's image on this host, "" when it is absent or not stored."""
    try:
        stored = Environment.objects.filter(name=recipe.name).values_list("image_digest", flat=True).first()
    except DatabaseError:
        stored = ""
    try:
        return engine.image_id(stored or recipe.tag)
    except SandboxUnavailable:
        return ""


def engine_facts(engine: Engine) -> dict[str, str]:
    """Return the engine's version and what it says of its host. Raises SandboxUnavailable."""
    facts = dict(engine.facts)
    with plainly("Asking the engine about its host"):
        info: dict[str, Any] = engine.api.info()
    security = [
        str(option).split(",")[0].removeprefix("name=") for option in info.get("SecurityOptions") or []
    ]
    return facts | {
        "kernel": str(info.get("KernelVersion", facts.get("kernel", ""))),
        "cgroup": f"v{info.get('CgroupVersion', '1')} ({info.get('CgroupDriver', 'unknown')})",
        "storage": str(info.get("Driver", "unknown")),
        "seccomp": "yes" if "seccomp" in security else "no",
        "apparmor": "yes" if "apparmor" in security else "no",
        "runtimes": ", ".join(sorted(info.get("Runtimes") or {})),
        "runtime": settings.RUNNER_DOCKER_RUNTIME or str(info.get("DefaultRuntime", "")),
        "cores": str(info.get("NCPU", os.cpu_count())),
        "memory": f"{int(info.get('MemTotal', 0)) / 2**30:.1f} GiB",
    }


def host_facts() -> dict[str, str]:
    """Return what this process sees of its own kernel; a remote engine has another."""
    version = landlock_abi()
    return {
        "host": platform.node(),
        "kernel": platform.release(),
        "cgroup": "v2" if Path("/sys/fs/cgroup/cgroup.controllers").exists() else "v1",
        "landlock": f"ABI {version}" if version else "no",
    }


def landlock_abi() -> int:
    """Return the kernel's Landlock ABI, 0 where it has none (man 2 landlock_create_ruleset)."""
    version = ctypes.CDLL(None, use_errno=True).syscall(
        LANDLOCK_CREATE_RULESET, None, 0, LANDLOCK_VERSION_ONLY
    )
    return max(0, int(version))


def modes_here(engine: Engine, image: str) -> tuple[dict[str, str], Finding]:
    """Try the ways to keep bulk samples apart; return what each showed, and whether what the setting asks for holds.

    With `auto` everything holds, since a mode that does not gives way to the next one.
    """
    shown = {mode: modes.tried(engine, mode, image) for mode in modes.MODES}
    wanted = settings.RUNNER_BULK_MODE
    used = modes.first_that_holds(shown, wanted)
    claim = f"bulk samples run in mode {used}" + ("" if used == wanted else f" (RUNNER_BULK_MODE={wanted})")
    return shown, Finding(claim, wanted in (modes.AUTO, used), shown.get(wanted, used), FALLS_BACK)
