"""CONFIRM: what is run beside a job so that its PASSED can be believed: the job inside, and one of its canaries; pure.

A canary is the job with one expectation made wrong. Whatever passes it has not been judged by its tests. It runs as the
job did, in a box or a process of its own, with writable state of its own. Which one is drawn when the job has PASSED, so a
program cannot know it; where tests compare in several ways, one of each kind is.
"""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable, Collection
from dataclasses import dataclass, replace
from typing import Any

from runner.outcome import Judgement, Measurement, Outcome, judge
from runner.sandbox.base import Canary, Job

Runs = Callable[[Job], Measurement]


@dataclass(frozen=True)
class Confirmation:
    """What came of a canary; where several were run, of the last, which decided."""

    canary: Canary
    outcome: Outcome
    milliseconds: float

    @property
    def tampered(self) -> bool:
        """Whether the changed job passed, which no honest program does."""
        return self.outcome == Outcome.PASSED

    def facts(self) -> dict[str, Any]:
        """Return what is kept with the execution, for curators; not the wrong value itself."""
        canary = self.canary
        where = {"test": canary.test, "assertion": canary.assertion, "line": canary.line, "kind": canary.kind}
        return {**where, "outcome": self.outcome.value, "milliseconds": round(self.milliseconds, 1)}


def to_run_inside(job: Job, measurement: Measurement) -> Job | None:
    """Return the job to run in this one's place, None where its word counts: a value could not be compared outside."""
    return replace(job, inside=True) if measurement.opaque and not job.inside else None


def to_confirm(job: Job, judgement: Judgement, done: Collection[Canary] = ()) -> Canary | None:
    """Return the canary to run next after the job, of a kind that none of the `done` ones is; None when there is none.

    `job` is the one that was run. None where it has not PASSED, hides nothing, or has no canary. Canaries of what is
    compared outside are of use only where there is no other.
    """
    if job.revealed or judgement.outcome is not Outcome.PASSED:
        return None
    within = [canary for canary in job.canaries if job.inside or not canary.outside]
    kinds = {canary.kind for canary in done}
    left = [canary for canary in within or job.canaries if canary.kind not in kinds]
    return secrets.choice(left) if left else None


def with_canary(job: Job, canary: Canary) -> Job:
    """Return the job with that one expectation made wrong."""
    text = job.block if canary.part == "block" else job.tests
    changed = text[: canary.start] + canary.text + text[canary.end :]
    plain = replace(job, canaries=())
    return replace(plain, block=changed) if canary.part == "block" else replace(plain, tests=changed)


def confirmed(job: Job, judgement: Judgement, run: Runs) -> Confirmation | None:
    """Run canaries of the job, one of each kind, until one passes; return what came of the last, None without any.

    Raises what `run` raises: a canary that could not be run, for a reason of ours, flags nothing and confirms nothing, so
    the execution is to be tried again as a whole.
    """
    began, done, last = time.monotonic(), list[Canary](), None
    while (canary := to_confirm(job, judgement, done)) is not None:
        outcome = judge(run(with_canary(job, canary)), job.expected).outcome
        last = Confirmation(canary, outcome, (time.monotonic() - began) * 1000)
        if last.tampered:
            break
        done.append(canary)
    return last
