"""A person has one execution running and one waiting; newer replaces older; nobody's many runs delay another's one."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest
from django.db import IntegrityError, connections, transaction
from django.db.models.functions import Now

from config import work
from runner import claims, execution, reconcile, waking
from runner.bulk import enqueue_many
from runner.claims import REPLACED
from runner.models import Environment, Execution
from runner.queueing import enqueue, try_again
from tests.runner.fakes import PASSED, a_job, built_environment, sandboxed


@pytest.fixture
def woken(monkeypatch):
    """The ids in the messages that would have gone to the broker, in order."""
    ids: list[int] = []
    monkeypatch.setattr(waking.current_app, "send_task", lambda name, args, **how: ids.append(args[0]))
    return ids


def ask(environment: Environment, asker: str, *, replaceable: bool = True) -> Execution:
    return enqueue(
        a_job(), environment=environment, queue="interactive", asker=asker, replaceable=replaceable
    )


def states(asker: str) -> list[str]:
    return list(Execution.objects.filter(asker=asker).order_by("pk").values_list("state", flat=True))


def test_a_newer_run_replaces_the_one_that_waits_and_leaves_the_one_that_runs(either_database, woken):
    environment = built_environment()
    running = ask(environment, "ann")
    assert claims.take(running.pk)
    waiting, other = ask(environment, "ann"), ask(environment, "ben")
    newer = ask(environment, "ann")
    assert states("ann") == ["running", "unjudged", "queued"]
    assert states("ben") == ["queued"]
    waiting.refresh_from_db()
    assert waiting.reason == REPLACED
    assert woken == [running.pk, waiting.pk, other.pk, newer.pk]


def test_what_is_for_the_record_replaces_and_is_not_replaced(either_database, woken):
    environment = built_environment()
    run = ask(environment, "ann")
    record = ask(environment, "ann", replaceable=False)
    ask(environment, "ann")
    assert states("ann") == ["unjudged", "queued", "queued"]
    assert Execution.objects.get(pk=record.pk).state == "queued"
    assert Execution.objects.get(pk=run.pk).reason == REPLACED


def test_a_second_one_is_not_claimed_while_the_first_runs_and_is_woken_when_it_ends(
    either_database, woken, monkeypatch
):
    environment = built_environment()
    first, second = ask(environment, "ann", replaceable=False), ask(environment, "ann")

    def meanwhile(on_started, on_row):
        assert claims.take(second.pk) is None
        woken.clear()
        return PASSED

    with sandboxed(monkeypatch, meanwhile):
        assert execution.execute(first.pk)
    assert woken == [second.pk]
    assert claims.take(second.pk)


def test_the_database_itself_refuses_a_second_running_and_a_second_waiting(either_database, woken):
    environment = built_environment()
    first, second = ask(environment, "ann", replaceable=False), ask(environment, "ann")
    with pytest.raises(IntegrityError), transaction.atomic():
        Execution.objects.filter(pk__in=[first.pk, second.pk]).update(state="running", claim="x")
    with pytest.raises(IntegrityError), transaction.atomic():
        Execution.objects.filter(pk=first.pk).update(replaceable=True)
    with pytest.raises(IntegrityError), transaction.atomic():
        Execution.objects.filter(pk=second.pk).update(asker=None)


def test_of_runs_asked_for_at_once_one_waits(either_database, monkeypatch):
    monkeypatch.setattr(waking.current_app, "send_task", lambda *_, **__: None)
    environment, together = built_environment(), threading.Barrier(6)

    def at_once(_number: int) -> Execution:
        try:
            together.wait()
            return ask(environment, "ann")
        finally:
            connections.close_all()

    with ThreadPoolExecutor(6) as threads:
        made = list(threads.map(at_once, range(6)))
    assert sorted(states("ann")) == ["queued"] + ["unjudged"] * 5
    assert len({run.pk for run in made}) == 6


def test_of_several_for_the_record_one_is_claimed_at_a_time(either_database, woken):
    environment, together = built_environment(), threading.Barrier(4)
    runs = [ask(environment, "ann", replaceable=False) for _ in range(4)]

    def take(pk: int) -> claims.Claim | None:
        try:
            together.wait()
            return claims.take(pk)
        finally:
            connections.close_all()

    with ThreadPoolExecutor(4) as threads:
        assert len([claim for claim in threads.map(take, [run.pk for run in runs]) if claim]) == 1
    assert sorted(states("ann")) == ["queued", "queued", "queued", "running"]


def test_one_that_must_be_tried_again_gives_way_to_a_newer_one(either_database, woken):
    environment = built_environment()
    run = ask(environment, "ann")
    claims.take(run.pk)
    newer = ask(environment, "ann")
    assert claims.give_back(Execution.objects.get(pk=run.pk), reason="The worker was lost.") is None
    run.refresh_from_db()
    assert (run.state, run.reason) == ("unjudged", REPLACED)
    assert not try_again(run), "the newer one waits in its place"
    assert Execution.objects.get(pk=newer.pk).state == "queued"


@pytest.mark.django_db
def test_work_of_ours_knows_no_share(woken):
    environment = built_environment()
    runs = [enqueue(a_job(), environment=environment, queue="bulk") for _ in range(3)]
    assert all(claims.take(run.pk) for run in runs)


def test_one_who_asks_thirty_times_is_served_no_more_often_than_one_who_asks_twice(
    transactional_db, woken, monkeypatch
):
    """Messages are taken in order, as a queue of the broker gives them; every other person's run ends in between."""
    environment = built_environment()
    for _ in range(30):
        ask(environment, "greedy")
    for asker in ("ann", "ben"):
        ask(environment, asker)
    served: list[str] = []
    with sandboxed(monkeypatch, PASSED):
        while woken and len(served) < 20:
            pk = woken.pop(0)
            if execution.execute(pk):
                served.append(Execution.objects.get(pk=pk).asker)
                if served[-1] == "greedy":
                    ask(environment, "greedy")
                elif served.count(served[-1]) < 2:
                    ask(environment, served[-1])
    assert served[:6] == ["greedy", "ann", "ben", "greedy", "ann", "ben"]


def test_interactive_work_has_threads_of_its_own_whatever_else_is_taken(settings):
    settings.RUNNER_INTERACTIVE_THREADS, settings.RUNNER_BULK_THREADS, settings.LLM_CONCURRENCY = 3, 2, 5
    lanes = [
        ([queue.name for queue in app.conf.task_queues], threads)
        for app, threads in work._lanes(["interactive", "bulk", "generation"])
    ]
    assert lanes == [(["interactive"], 3), (["generation"], 5), (["bulk", "samples"], 2)]
    [(alone, threads)] = work._lanes(["bulk"])
    assert ([queue.name for queue in alone.conf.task_queues], threads) == (["bulk", "samples"], 2)


def test_samples_of_an_evaluation_wait_in_a_queue_of_their_own_beside_imports_and_checks(
    transactional_db, monkeypatch
):
    queues: list[str] = []
    monkeypatch.setattr(
        waking.current_app, "send_task", lambda name, queue, **how: queues.append(queue) or None
    )
    environment = built_environment()
    enqueue_many([a_job()] * 3, environment=environment, scope="a study")
    enqueue(a_job(), environment=environment, queue="bulk")
    assert queues == ["samples", "bulk"]
    asked: dict[str, int] = {"interactive": 0, "bulk": 1, "samples": 0}
    queues.clear()
    Execution.objects.update(created_at=Now() - timedelta(minutes=1))
    monkeypatch.setattr(reconcile, "waiting_messages", asked.__getitem__)
    assert reconcile.wake_forgotten() == 1
    assert queues == ["samples"], "the one of bulk lies in its queue"
