"""EXECUTE with faults that no engine has on demand; the same path in real containers is in test_worker_killed.py."""

from __future__ import annotations

import threading
import time
from dataclasses import replace

import pytest

from runner import claims
from runner.execution import execute
from runner.models import Execution, TestRow
from runner.outcome import Outcome, Row, judge
from runner.recording import Recorder
from runner.sandbox.base import Canary, SandboxUnavailable
from tests.runner.fakes import PASSED, TIMED_OUT, a_job, queued, sandboxed

pytestmark = pytest.mark.django_db


def fresh(execution: Execution) -> Execution:
    return Execution.objects.get(pk=execution.pk)


def test_an_execution_ends_with_outcome_rows_and_measurement(monkeypatch):
    run = queued()
    with sandboxed(monkeypatch, PASSED):
        assert execute(run.pk)
    run = fresh(run)
    assert (run.state, run.outcome, run.claim, run.tries) == ("finished", "PASSED", "", 1)
    assert [(row.number, row.test, row.assertion, row.outcome) for row in run.rows.all()] == [
        (1, "test_one", 1, "PASSED"),
        (2, "test_one", None, "PASSED"),
    ]
    assert run.cpu_seconds == 0.01
    assert run.facts["mode"] == "fake"
    assert run.facts["image"] == "sha256:0"
    assert run.created_at <= run.leased_at <= run.started_at <= run.first_row_at <= run.finished_at


def test_second_claim_does_nothing(monkeypatch):
    run = queued()
    first = claims.take(run.pk)
    assert first
    assert claims.take(run.pk) is None
    with sandboxed(monkeypatch, PASSED) as fake:
        assert not execute(run.pk)
    assert fake.names == []
    assert fresh(run).claim == first.token


def test_a_finished_execution_is_not_executed_again(monkeypatch):
    run = queued()
    with sandboxed(monkeypatch, PASSED) as fake:
        execute(run.pk)
        assert not execute(run.pk)
    assert len(fake.names) == 1


def test_the_container_is_named_for_the_claim_and_the_execution(monkeypatch):
    run = queued()
    tokens = []
    monkeypatch.setattr(
        "runner.execution.judge", lambda *given: tokens.append(fresh(run).claim) or judge(*given)
    )
    with sandboxed(monkeypatch, PASSED) as fake:
        execute(run.pk)
    assert fake.names == [f"benchwright-{tokens[0]}-{run.pk}"]
    assert tokens[0].startswith(claims.BOOT)


def test_a_late_outcome_of_a_stale_claim_is_discarded(monkeypatch):
    run = queued()

    def lose_the_lease(*given):
        claims.give_back(fresh(run), reason="The worker was lost.")
        return judge(*given)

    monkeypatch.setattr("runner.execution.judge", lose_the_lease)
    with sandboxed(monkeypatch, PASSED):
        assert execute(run.pk)
    found = fresh(run)
    assert (found.state, found.outcome, found.reason) == ("queued", "", "The worker was lost.")
    assert not found.rows.exists()


def test_a_lost_claim_while_rows_arrive_removes_the_container(monkeypatch, settings):
    run = queued()

    ended = threading.Event()

    def report_for_ever(on_started, on_row):
        on_started()
        try:
            while True:
                on_row(PASSED.rows[0])
                time.sleep(0.01)
        finally:
            ended.set()

    def steal_then_write(recorder):
        Execution.objects.filter(pk=run.pk).update(claim="somebody else's")
        write(recorder)

    write = Recorder.write
    monkeypatch.setattr(Recorder, "write", steal_then_write)
    with sandboxed(monkeypatch, report_for_ever) as fake:
        execute(run.pk)
    found = fresh(run)
    assert (found.state, found.claim) == ("running", "somebody else's")
    assert not found.rows.exists()
    assert fake.names[-1] == f"removed {fake.names[0]}"
    assert ended.wait(10), "the run itself must end too"


def test_an_unavailable_sandbox_puts_it_back_and_after_the_last_try_it_is_unjudged(monkeypatch, settings):
    run = queued()
    with sandboxed(monkeypatch, SandboxUnavailable("No engine can be reached.")):
        for tries in (1, 2, 3):
            assert execute(run.pk)
            found = fresh(run)
            assert (found.tries, found.reason, found.claim) == (tries, "No engine can be reached.", "")
            assert found.state == ("unjudged" if tries == settings.RUNNER_MAX_TRIES else "queued")
            if found.retry_at:
                assert not execute(run.pk), "a later try must wait"
            Execution.objects.filter(pk=run.pk).update(retry_at=None)
        assert not execute(run.pk)


def test_rows_of_a_failed_try_are_removed(monkeypatch):
    run = queued()

    def break_after_a_row(on_started, on_row):
        on_started()
        on_row(Row("test_one", 1, Outcome.FAILED))
        time.sleep(0.2)
        raise SandboxUnavailable("The box ended before its job did.")

    with sandboxed(monkeypatch, break_after_a_row, PASSED):
        execute(run.pk)
        assert not TestRow.objects.exists()
        Execution.objects.filter(pk=run.pk).update(retry_at=None)
        execute(run.pk)
    assert fresh(run).outcome == "PASSED"
    assert fresh(run).rows.count() == 2


def test_an_error_of_ours_is_never_an_outcome(monkeypatch):
    run = queued()
    with sandboxed(monkeypatch, KeyError("oops")):
        execute(run.pk)
    assert fresh(run).state == "queued"
    assert "KeyError" in fresh(run).reason


def test_an_environment_without_an_image_says_what_to_build(monkeypatch):
    run = queued()
    run.environment.image_digest, run.environment.built_at = "", None
    run.environment.save()
    with sandboxed(monkeypatch, PASSED):
        execute(run.pk)
    assert "manage.py build_environments --name plain" in fresh(run).reason


def test_a_wall_timeout_without_cpu_is_repeated_once(monkeypatch):
    run = queued()
    with sandboxed(monkeypatch, TIMED_OUT, PASSED) as fake:
        execute(run.pk)
    assert fresh(run).outcome == "PASSED"
    assert fresh(run).facts["repeated_alone"] is True
    assert fake.names[1] == f"{fake.names[0]}-again"
    assert fresh(run).rows.count() == 2


def test_a_second_wall_timeout_stands(monkeypatch):
    run = queued()
    with sandboxed(monkeypatch, TIMED_OUT) as fake:
        execute(run.pk)
    assert fresh(run).outcome == "TIMEOUT_WALL"
    assert len(fake.names) == 2


@pytest.mark.parametrize(
    "measurement",
    [replace(TIMED_OUT, cpu_seconds=0.8), replace(TIMED_OUT, cpu_exceeded=True, wall_exceeded=False)],
    ids=["wall near the CPU limit", "CPU"],
)
def test_other_timeouts_are_not_repeated(monkeypatch, measurement):
    run = queued()
    with sandboxed(monkeypatch, measurement) as fake:
        execute(run.pk)
    assert fresh(run).outcome.startswith("TIMEOUT")
    assert len(fake.names) == 1


def test_an_expected_test_without_a_record_has_a_row_of_its_own(monkeypatch):
    run = queued()
    run.job_data["expected"] = ["test_one", "test_two"]
    run.save()
    with sandboxed(monkeypatch, PASSED):
        execute(run.pk)
    run = fresh(run)
    assert run.outcome == "FAILED"
    assert run.rows.get(test="test_two").outcome == "NOT_RUN"


def test_many_rows_are_saved_in_order_with_one_number_each(monkeypatch):
    run = queued()
    rows = (
        *(Row("test_one", n, Outcome.PASSED) for n in range(1, 1000)),
        Row("test_one", None, Outcome.PASSED),
    )
    with sandboxed(monkeypatch, replace(PASSED, rows=rows)):
        execute(run.pk)
    assert list(fresh(run).rows.values_list("number", flat=True)) == list(range(1, 1001))


def test_a_run_that_hangs_in_the_engine_is_given_up(monkeypatch, settings):
    run = queued()
    monkeypatch.setattr("runner.running.allowed_seconds", lambda limits: 0.2)
    with sandboxed(monkeypatch, lambda on_started, on_row: time.sleep(1) or PASSED) as fake:
        execute(run.pk)
    assert fresh(run).reason == "The sandbox gave no answer in time."
    assert fake.names[-1] == f"removed {fake.names[0]}"


CANARY = Canary("test_one", 1, 2, "tests", 34, 35, "7")


def with_canary():
    run = queued()
    Execution.objects.filter(pk=run.pk).update(job_data=a_job(canaries=(CANARY,)).as_json())
    return run


def test_a_canary_that_passes_flags_and_leaves_the_outcome(monkeypatch):
    run = with_canary()
    with sandboxed(monkeypatch, PASSED, PASSED) as fake:
        execute(run.pk)
    run = fresh(run)
    assert (run.outcome, run.tampered, run.passed) == ("PASSED", True, False)
    assert len(fake.names) == 2
    assert fake.names[1].endswith("-canary-1")
    assert run.rows.count() == 2


def test_a_canary_that_cannot_be_run_flags_nothing_and_confirms_nothing(monkeypatch):
    run = with_canary()
    with sandboxed(monkeypatch, PASSED, SandboxUnavailable("no engine")):
        execute(run.pk)
    run = fresh(run)
    assert (run.state, run.outcome, run.tampered) == ("queued", "", False)
    assert run.reason == "no engine"
    assert not run.rows.exists()


def test_no_canary_is_run_after_a_failure_or_where_everything_is_revealed(monkeypatch):
    failed = replace(PASSED, rows=(Row("test_one", 1, Outcome.FAILED), Row("test_one", None, Outcome.FAILED)))
    run = with_canary()
    with sandboxed(monkeypatch, failed) as fake:
        execute(run.pk)
    assert len(fake.names) == 1
    job = a_job(canaries=(CANARY,), revealed=True)
    Execution.objects.filter(pk=run.pk).update(
        state="queued", outcome="", job_data=job.as_json(), finished_at=None
    )
    with sandboxed(monkeypatch, PASSED) as fake:
        execute(run.pk)
    assert len(fake.names) == 1
    assert not fresh(run).tampered


def test_a_value_that_cannot_be_compared_outside_is_compared_inside(monkeypatch):
    run = queued()
    opaque = replace(PASSED, rows=(Row("test_one", 1, Outcome.FAILED),), opaque=True)
    with sandboxed(monkeypatch, opaque, PASSED) as fake:
        execute(run.pk)
    run = fresh(run)
    assert (run.outcome, run.facts["compared"]) == ("PASSED", "inside")
    assert fake.names[1].endswith("-inside")
    assert run.rows.count() == 2
