"""CHECK: execute a version's reference and its empty body, keep what every check finds, conclude."""

from __future__ import annotations

import secrets
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta

from django.db import transaction
from django.db.models import Q
from django.utils import timezone

from examples.alternatives import ask_alternatives
from examples.checking import (
    canaries,
    empty_body,
    environment,
    licence,
    network,
    reference,
    stable,
    tests_ran,
)
from examples.checking.base import Finding, Observed, State
from examples.jobs import LONGEST, check_job, cpu_limit, empty_program, reference_program
from examples.models import Check, Version
from runner.models import Execution
from runner.queueing import execute_now
from runner.sandbox.base import Job, Limits

SEEDS = (1, 2, 3, 4, 5)
LEASE = timedelta(minutes=10)
CHECKS: dict[str, Callable[[Observed], Finding]] = {
    "reference": reference.find,
    "empty_body": empty_body.find,
    "tests_ran": tests_ran.find,
    "stable": stable.find,
    "network": network.find,
    "environment": environment.find,
    "licence": licence.find,
}
TITLES = {
    "reference": "Reference passes",
    "empty_body": "Empty body fails",
    "tests_ran": "A test ran",
    "stable": "Same every time",
    "network": "No network needed",
    "environment": "Environment pinned",
    "licence": "Licence known",
}


class CheckLost(Exception):
    """The claim is gone, so what this worker found is discarded."""


def check_version(version_id: int, *, seeds: tuple[int, ...] = SEEDS) -> Version.CheckState | None:
    """Check a version and return its new state, or None when another worker has it or it needs no check.

    Executes in this process, so it belongs into a worker. Safe to call twice: the version is claimed first, and
    findings are kept only under that claim.
    """
    claim = secrets.token_hex(8)
    if not _claim(version_id, claim):
        return None
    version = Version.objects.select_related("example__dataset", "environment").get(pk=version_id)
    try:
        state = _conclude(version, claim, *_observe(version, claim, seeds))
    except CheckLost:
        return None
    ask_alternatives(
        version
    )  # a worker that dies before this leaves them to the gate, which says "check it again"
    return state


def request_checks(versions: list[int]) -> int:
    """Mark versions to be checked (again) and return how many were marked; those being checked now are left alone."""
    return (
        Version.objects.filter(pk__in=versions)
        .exclude(check_state=Version.CheckState.RUNNING)
        .update(check_state=Version.CheckState.PENDING, check_claim="", check_lease_end=None)
    )


def waiting(*, at_most: int) -> list[int]:
    """Return versions that wait for a check, and those whose worker is gone, oldest first."""
    lost = Q(check_state=Version.CheckState.RUNNING, check_lease_end__lt=timezone.now())
    pending = Q(check_state=Version.CheckState.PENDING, environment__built_at__isnull=False)
    return list(Version.objects.filter(pending | lost).order_by("pk").values_list("pk", flat=True)[:at_most])


def repeat_reference(version: Version, *, times: int, hold: Callable[[], None]) -> Check:
    """Execute the reference `times` more, each cold under a new seed, and return the `stable` check it amounts to.

    `hold` is called after each execution and once more with what is kept, and raises CheckLost where another has taken
    the request meanwhile: then nothing is kept.

    A curator asks for this where five repeats may have missed a flake: a reference that fails with probability p
    is missed by n repeats with probability (1 - p)^n.
    """
    former = list(Execution.objects.filter(checks__version=version, checks__name="stable").order_by("pk"))
    first = max([*SEEDS, *(run.job_data["seed"] for run in former)]) + 1
    limits = Limits.for_cpu(version.cpu_limit_seconds or LONGEST)
    runs = former
    for seed in range(first, first + times):
        runs.append(_run(version, reference_program(version), seed, limits))
        hold()
    observed = Observed(version, runs, runs[0])
    with transaction.atomic():
        hold()
        check = _keep(version, "stable", stable.find(observed))
        _keep(version, "reference", reference.find(observed))
        _set_state(version)
    return check


def _claim(version_id: int, claim: str) -> bool:
    """Take the version with one conditional UPDATE; False when it is not to be had."""
    free = Q(check_state=Version.CheckState.PENDING)
    lost = Q(check_state=Version.CheckState.RUNNING, check_lease_end__lt=timezone.now())
    taken = Version.objects.filter(free | lost, pk=version_id).update(
        check_state=Version.CheckState.RUNNING, check_claim=claim, check_lease_end=timezone.now() + LEASE
    )
    return taken == 1


def _observe(version: Version, claim: str, seeds: tuple[int, ...]) -> tuple[Observed, float, Finding]:
    """Return what the executions showed, the CPU limit in seconds that follows from the reference's own, the canaries."""
    own = version.example.dataset.cpu_limit_seconds
    limits = Limits.for_cpu(own or LONGEST)
    references = []
    for seed in seeds:
        references.append(_run(version, reference_program(version), seed, limits))
        _renew(version, claim)
    limit = cpu_limit(max((run.cpu_seconds or 0 for run in references), default=0), own)
    empty = _run(version, empty_program(version), seeds[0], Limits.for_cpu(limit))
    return Observed(version, references, empty), limit, _canaries(version, claim, references, limit)


def _canaries(version: Version, claim: str, references: list[Execution], limit: float) -> Finding:
    """Return what can serve as canaries: changes of the tests that the reference fails at the changed assertion."""

    def execute(job: Job) -> Execution:
        _renew(version, claim)
        return execute_now(job, environment=version.environment)

    job = replace(check_job(version, reference_program(version)), limits=Limits.for_cpu(limit))
    return canaries.find(job, execute, reference_passed=all(run.passed for run in references))


def _run(version: Version, program: str, seed: int, limits: Limits) -> Execution:
    job = replace(check_job(version, program, seed=seed), limits=limits)
    return execute_now(job, environment=version.environment)


def _renew(version: Version, claim: str) -> None:
    kept = Version.objects.filter(pk=version.pk, check_claim=claim).update(
        check_lease_end=timezone.now() + LEASE
    )
    if not kept:
        raise CheckLost


def _conclude(
    version: Version, claim: str, observed: Observed, limit: float, found: Finding
) -> Version.CheckState:
    """Keep all findings and the version's state in one transaction, under the claim."""
    findings = {name: find(observed) for name, find in CHECKS.items()}
    with transaction.atomic():
        held = Version.objects.filter(pk=version.pk, check_claim=claim).update(
            check_claim="", check_lease_end=None
        )
        if not held:
            raise CheckLost
        for name, finding in findings.items():
            _keep(version, name, finding)
        _keep(version, canaries.NAME, found)
        version.reference_cpu_seconds = max(
            (run.cpu_seconds or 0 for run in observed.references), default=None
        )
        version.cpu_limit_seconds = limit
        version.save(update_fields=["reference_cpu_seconds", "cpu_limit_seconds"])
        return _set_state(version)


def _keep(version: Version, name: str, finding: Finding) -> Check:
    check, _ = Check.objects.update_or_create(
        version=version,
        name=name,
        defaults={
            "state": finding.state,
            "finding": finding.sentence,
            "evidence": finding.evidence,
            "checked_at": timezone.now(),
        },
    )
    check.executions.set(finding.executions)
    return check


def _set_state(version: Version) -> Version.CheckState:
    """Write and return the state that follows from the version's checks: failed before unjudged before passed."""
    states = dict(version.checks.values_list("name", "state"))
    failed = [name for name in CHECKS if states.get(name) == State.FAILED]
    if failed:
        state = Version.CheckState.FAILED
    elif all(states.get(name) == State.PASSED for name in CHECKS):
        state = Version.CheckState.PASSED
    else:
        state = Version.CheckState.UNJUDGED
    Version.objects.filter(pk=version.pk).update(
        check_state=state, failed_checks=",".join(failed), checked_at=timezone.now()
    )
    return state
