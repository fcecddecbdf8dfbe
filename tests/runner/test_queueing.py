"""Asking for executions: what is saved, who is woken, what a missing broker costs."""

from __future__ import annotations

import pytest

from runner import boxes, waking
from runner.execution import execute
from runner.models import Execution
from runner.queueing import ahead_of, enqueue, execute_now, try_again
from runner.sandbox.base import SandboxUnavailable
from tests.runner.fakes import PASSED, a_job, built_environment, sandboxed

pytestmark = pytest.mark.django_db


@pytest.fixture
def sent(monkeypatch):
    """The messages that would have gone to the broker."""
    messages = []
    monkeypatch.setattr(waking.current_app, "send_task", lambda name, **how: messages.append((name, how)))
    return messages


def ask(environment, **columns):
    return enqueue(a_job(), environment=environment, queue="interactive", **columns)


def test_a_worker_of_the_queue_is_woken_once_the_row_is_committed(sent, django_capture_on_commit_callbacks):
    with django_capture_on_commit_callbacks(execute=True):
        execution = ask(built_environment())
        assert sent == []
    [(name, how)] = sent
    assert name == "runner.execute"
    assert how["args"] == [execution.pk]
    assert how["queue"] == "interactive"


def test_the_job_comes_back_as_it_was_given():
    job = a_job(program="def one():\n\treturn '\u00e9\U0001f600'\r\n", seed=3)
    execution = enqueue(job, environment=built_environment(), queue="bulk")
    assert Execution.objects.get(pk=execution.pk).job == job


def test_a_broker_that_is_down_fails_no_request(monkeypatch, django_capture_on_commit_callbacks):
    def refuse(*_, **__):
        raise ConnectionRefusedError("no broker")

    monkeypatch.setattr(waking.current_app, "send_task", refuse)
    with django_capture_on_commit_callbacks(execute=True):
        execution = ask(built_environment())
    assert Execution.objects.get(pk=execution.pk).state == "queued"


def test_a_task_of_any_app_may_be_sent_on_commit_without_a_broker(
    monkeypatch, django_capture_on_commit_callbacks
):
    from config.celery import Task
    from runner.tasks import execute

    def refuse(*_, **__):
        raise ConnectionRefusedError("no broker")

    monkeypatch.setattr(Task, "apply_async", refuse)
    with django_capture_on_commit_callbacks(execute=True):
        execute.delay_on_commit(1)
        execute.apply_async_on_commit(args=[1])


def test_executing_now_gives_the_finished_execution(monkeypatch):
    with sandboxed(monkeypatch, PASSED):
        execution = execute_now(a_job(), environment=built_environment())
    assert (execution.state, execution.outcome, execution.queue) == ("finished", "PASSED", "bulk")


def test_executing_now_tries_again_and_gives_what_stays_unjudged(monkeypatch, settings):
    settings.RUNNER_MAX_TRIES = 2
    with sandboxed(monkeypatch, SandboxUnavailable("No engine can be reached.")) as fake:
        execution = execute_now(a_job(), environment=built_environment())
    assert (execution.state, execution.reason) == ("unjudged", "No engine can be reached.")
    assert len([name for name in fake.names if not name.startswith("removed")]) == 2


def test_one_knows_how_many_wait_ahead():
    environment = built_environment()
    first, second = ask(environment), ask(environment)
    enqueue(a_job(), environment=environment, queue="bulk")
    assert [ahead_of(first), ahead_of(second)] == [0, 1]


def test_an_unjudged_execution_can_be_tried_again_with_all_its_tries(monkeypatch):
    execution = ask(built_environment())
    assert not try_again(execution), "it is queued already"
    Execution.objects.filter(pk=execution.pk).update(state="unjudged", reason="No engine.", tries=3)
    assert try_again(execution)
    assert (execution.state, execution.reason, execution.tries) == ("queued", "", 0)
    with sandboxed(monkeypatch, PASSED):
        assert execute(execution.pk)
    assert Execution.objects.get(pk=execution.pk).outcome == "PASSED"


def test_a_process_that_is_about_to_end_takes_nothing_on(monkeypatch):
    environment = built_environment()
    with sandboxed(monkeypatch, PASSED) as fake:
        fake.close()
        assert not execute(ask(environment).pk)
        with pytest.raises(boxes.Closing):
            execute_now(a_job(), environment=environment)
    assert set(Execution.objects.values_list("state", flat=True)) == {"queued"}


def test_what_runs_when_the_process_ends_goes_back_without_using_up_a_try(monkeypatch):
    execution = ask(built_environment())
    with sandboxed(monkeypatch, SandboxUnavailable("The box ended before its job did.")) as fake:
        monkeypatch.setattr(fake, "run", lambda *_, **__: fake.close() or 1 / 0)
        assert execute(execution.pk)
    execution.refresh_from_db()
    assert (execution.state, execution.tries, execution.retry_at) == ("queued", 0, None)
