"""What untrusted code may try against its own verdict, in real boxes: one exact outcome each, and flagged or not."""

from __future__ import annotations

import time
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import NamedTuple

import pytest

from runner.confirming import confirmed, to_run_inside
from runner.environments.building import BuiltImage
from runner.languages import canary_plan
from runner.outcome import Measurement, Outcome, judge
from runner.sandbox.base import Job, Limits
from runner.sandbox.pool import Pool
from tests.runner.tampering import CASES, HONEST, UNITTEST, Case

pytestmark = pytest.mark.docker

LIMITS = Limits(cpu_seconds=0.6, wall_seconds=60)


class Result(NamedTuple):
    """What came of a submission."""

    outcome: Outcome
    tampered: bool


def job_of(case: Case) -> Job:
    """Return the job of a submission: its tests are hidden, and it carries the canaries that its tests allow."""
    expected = ("TestF.test_f",) if case.tests == UNITTEST else ("test_f",)
    job = Job(case.program + HONEST, case.tests, expected, LIMITS)
    plan = canary_plan(job)
    kept = tuple(canary for canary in plan.candidates if not canary.outside)
    return Job(job.program, job.tests, job.expected, LIMITS, canaries=kept)


def run(pool: Pool, image: str, job: Job) -> Result:
    """Run a job as an execution does: inside where a value is opaque, then a canary."""

    def once(job: Job) -> Measurement:
        name = f"claim-{time.monotonic_ns()}"
        return pool.run(job, image=image, name=name, on_started=lambda: None, on_row=lambda row: None)

    measurement = once(job)
    inside = to_run_inside(job, measurement)
    if inside is not None:
        job, measurement = inside, once(inside)
    judgement = judge(measurement, job.expected)
    confirmation = confirmed(job, judgement, once)
    return Result(judgement.outcome, confirmation is not None and confirmation.tampered)


@pytest.fixture(scope="module")
def results(
    request: pytest.FixtureRequest, pool: Pool, plain: BuiltImage
) -> Iterator[dict[Case, Future[Result]]]:
    """Run the chosen cases, four at a time."""
    chosen = [item.callspec.params.get("case") for item in request.session.items if hasattr(item, "callspec")]
    cases = [case for case in chosen if isinstance(case, Case)]
    with ThreadPoolExecutor(4) as threads:
        yield {case: threads.submit(run, pool, plain.digest, job_of(case)) for case in cases}


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_a_tampering_submission_comes_to_its_one_outcome(
    case: Case, results: dict[Case, Future[Result]]
) -> None:
    assert results[case].result() == (case.outcome, case.tampered)


def test_only_what_the_process_itself_compares_can_be_forged_and_then_it_is_flagged() -> None:
    forged = [case for case in CASES if case.forged]
    assert all(case.tampered and case.outcome is Outcome.PASSED for case in forged)
    assert all(
        case.name.startswith("honest") for case in CASES if case.outcome is Outcome.PASSED and not case.forged
    )
