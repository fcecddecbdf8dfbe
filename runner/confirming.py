"""CONFIRM: what is run beside a job so that its PASSED can be believed: the job inside, and one of its canaries; pure.

A canary is the job with one expectation made wrong. Whatever passes it has not been judged by its tests. It runs as the
job did, in a box or a process of its own, with writable state of its own; which one is drawn when the job has PASSED, so
a program cannot know it.
"""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from runner.outcome import Judgement, Measurement, Outcome, judge
from runner.sandbox.base import Canary, Job

Runs = Callable[[Job], Measurement]


@dataclass(frozen=True)
class Confirmation:
    """What came of a canary."""

    canary: Canary
    outcome: Outcome
    milliseconds: float

    @property
    def tampered(self) -> bool:
        """Whether the changed job passed, which no honest program does."""
        return self.outcome == Outcome.PASSED

    def facts(self) -> dict[str, Any]:
        """Return what is kept with the execution, for curators; not the wrong value itself."""
        where = {"test": self.canary.test, "assertion": self.canary.assertion, "line": self.canary.line}
        return {**where, "outcome": self.outcome.value, "milliseconds": round(self.milliseconds, 1)}


def to_run_inside(job: Job, measurement: Measurement) -> Job | None:
    """Return the job to run in this one's place, None where its word counts: a value could not be compared outside."""
    return replace(job, inside=True) if measurement.opaque and not job.inside else None


def to_confirm(job: Job, judgement: Judgement) -> Canary | None:
    """Return the canary to run after the job, None where none is to be: not PASSED, nothing hidden, or none built.

    `job` is the one that was run. Canaries of what is compared outside are of use only where nothing else is there.
    """
    if job.revealed or judgement.outcome is not Outcome.PASSED or not job.canaries:
        return None
    within = [canary for canary in job.canaries if job.inside or not canary.outside]
    return secrets.choice(within or job.canaries)


def with_canary(job: Job, canary: Canary) -> Job:
    """Return the job with that one expectation made wrong."""
    text = job.block if canary.part == "block" else job.tests
    changed = text[: canary.start] + canary.text + text[canary.end :]
    plain = replace(job, canaries=())
    return replace(plain, block=changed) if canary.part == "block" else replace(plain, tests=changed)


def confirmed(job: Job, canary: Canary, run: Runs) -> Confirmation:
    """Run a canary of the job and return what came of it.

    Raises what `run` raises: a canary that could not be run, for a reason of ours, flags nothing and confirms nothing, so
    the execution is to be tried again as a whole.
    """
    began = time.monotonic()
    outcome = judge(run(with_canary(job, canary)), job.expected).outcome
    return Confirmation(canary, outcome, (time.monotonic() - began) * 1000)
