"""EXECUTE through real containers, on both databases."""

from __future__ import annotations

import threading
import time
from dataclasses import replace

import pytest
from django.utils import timezone

from runner import boxes
from runner.execution import execute
from runner.languages import canary_plan
from runner.models import Environment, Execution
from runner.queueing import enqueue, execute_now
from runner.sandbox.base import Limits
from tests.runner.fakes import a_job

pytestmark = pytest.mark.docker

SLOW = "import time\ndef test_one():\n    assert one() == 1\n    time.sleep(1)\n    assert one() < 2\n"


@pytest.fixture
def environment(plain):
    return Environment.objects.create(name="plain", image_digest=plain.digest, built_at=timezone.now())


def test_a_job_is_executed_and_stored(either_database, environment, cold, monkeypatch):
    monkeypatch.setattr(boxes, "sandbox", lambda: cold)
    execution = execute_now(a_job(), environment=environment)
    assert (execution.state, execution.outcome) == ("finished", "PASSED")
    assert [(row.test, row.assertion, row.outcome) for row in execution.rows.all()] == [
        ("test_one", 1, "PASSED"),
        ("test_one", None, "PASSED"),
    ]
    assert execution.memory_bytes > 0
    assert execution.facts["mode"] == "single"
    assert execution.facts["image"] == environment.image_digest


def test_a_wrong_answer_fails(either_database, environment, pool, monkeypatch):
    monkeypatch.setattr(boxes, "sandbox", lambda: pool)
    execution = execute_now(a_job(program="def one():\n    return 2\n"), environment=environment)
    assert (execution.state, execution.outcome) == ("finished", "FAILED")


FORGED = """
import sys
def reporter():
    frame = sys._getframe()
    while type(frame.f_locals.get("reporter")).__name__ != "Reporter":
        frame = frame.f_back
    return frame.f_locals["reporter"]
def one():
    reporter().say(test="test_one", assertion=1, outcome="PASSED", line=1, message="", values=[], ms=1)
    reporter().say(test="test_one", assertion=None, outcome="PASSED", line=1, message="", values=[], ms=1)
    import os
    os._exit(0)
"""
COMPARED_INSIDE = "import datetime\ndef test_one():\n    assert one() == datetime.date(2020, 1, 2)\n"


def with_canaries(**changes):
    job = a_job(tests=COMPARED_INSIDE, **changes)
    return replace(job, canaries=canary_plan(job).candidates)


def test_a_forged_pass_is_flagged_and_an_honest_one_is_not(either_database, environment, pool, monkeypatch):
    monkeypatch.setattr(boxes, "sandbox", lambda: pool)
    forged = execute_now(with_canaries(program=FORGED), environment=environment, queue="interactive")
    assert (forged.outcome, forged.tampered, forged.passed) == ("PASSED", True, False)
    assert forged.facts["canary"]["outcome"] == "PASSED"
    assert forged.facts["canary"]["line"] == 3
    right = "import datetime\ndef one():\n    return datetime.date(2020, 1, 2)\n"
    honest = execute_now(with_canaries(program=right), environment=environment, queue="interactive")
    assert (honest.outcome, honest.tampered, honest.passed) == ("PASSED", False, True)
    assert honest.facts["canary"]["outcome"] == "FAILED"
    assert [row.test for row in honest.rows.all()] == ["test_one", "test_one"]


def test_what_is_compared_outside_needs_no_canary(either_database, environment, pool, monkeypatch):
    monkeypatch.setattr(boxes, "sandbox", lambda: pool)
    assert not canary_plan(a_job()).needed
    execution = execute_now(a_job(), environment=environment)
    assert execution.passed
    assert "canary" not in execution.facts


def test_a_value_with_its_own_equality_is_compared_inside(either_database, environment, pool, monkeypatch):
    monkeypatch.setattr(boxes, "sandbox", lambda: pool)
    own = "class One:\n    def __eq__(self, other): return {}\ndef one(): return One()\n"
    honest = execute_now(a_job(program=own.format("other == 1")), environment=environment)
    assert (honest.outcome, honest.facts["compared"]) == ("PASSED", "inside")
    anything = execute_now(a_job(program=own.format("True")), environment=environment)
    assert (anything.outcome, anything.facts["compared"]) == ("FAILED", "inside")


def test_rows_stand_in_the_database_while_the_test_runs(either_database, environment, pool, monkeypatch):
    monkeypatch.setattr(boxes, "sandbox", lambda: pool)
    execution = enqueue(a_job(tests=SLOW), environment=environment, queue="interactive")
    running = threading.Thread(target=run_and_close, args=[execution.pk])
    running.start()
    seen = set()
    while running.is_alive():
        execution.refresh_from_db()
        seen.add((execution.state, execution.rows.count()))
        time.sleep(0.02)
    running.join()
    execution.refresh_from_db()
    assert ("running", 1) in seen
    assert execution.outcome == "PASSED"
    assert execution.rows.count() == 3
    assert execution.started_at < execution.first_row_at < execution.finished_at


def test_a_run_whose_claim_is_lost_is_ended_in_the_engine(
    either_database, environment, cold, engine, monkeypatch, settings
):
    settings.RUNNER_LEASE_SECONDS = 1
    monkeypatch.setattr(boxes, "sandbox", lambda: cold)
    job = a_job(
        tests="import time\ndef test_one():\n    time.sleep(60)\n    assert one()\n",
        limits=Limits.for_cpu(30),
    )
    execution = enqueue(job, environment=environment, queue="interactive")
    running = threading.Thread(target=run_and_close, args=[execution.pk])
    running.start()
    while not execution.started_at:
        time.sleep(0.05)
        execution.refresh_from_db()
    Execution.objects.filter(pk=execution.pk).update(claim="somebody else's")
    running.join(30)
    assert not running.is_alive()
    execution.refresh_from_db()
    assert (execution.state, execution.claim) == ("running", "somebody else's")
    end = time.monotonic() + 30
    while engine.boxes(cold.keeper) and time.monotonic() < end:
        time.sleep(0.1)
    assert engine.boxes(cold.keeper) == []


def test_output_of_every_kind_is_stored(either_database, environment, pool, monkeypatch):
    monkeypatch.setattr(boxes, "sandbox", lambda: pool)
    said = r"import sys; sys.stdout.write('a\0b'); sys.stdout.flush(); sys.stdout.buffer.write(b'\xff\xed\xa0\x80')"
    job = a_job(program="def one():\n    return 1\n", tests="", expected=(), block=said, revealed=True)
    execution = execute_now(job, environment=environment)
    assert execution.state == "finished", execution.reason
    assert execution.stdout[0] == "a"
    assert execution.stdout[2] == "b"
    assert "\x00" not in execution.stdout


def run_and_close(execution_id: int) -> None:
    """Execute in this thread and give its database connection back."""
    from django.db import connections

    try:
        execute(execution_id)
    finally:
        connections.close_all()
