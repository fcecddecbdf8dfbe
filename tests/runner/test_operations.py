"""The operations page: what waits, who works, what failed, how long it takes; for those who curate, in few queries."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.db.models.functions import Now
from django.urls import reverse
from django.utils import timezone

from runner import claims
from runner.models import Environment, Execution, Worker
from runner.operations import operations
from runner.queueing import enqueue
from tests.runner.fakes import a_job, built_environment

pytestmark = pytest.mark.django_db
PAGE_QUERIES = (
    11  # session, account, banner; environments, workers, unjudged twice, queues, faults, times twice
)


@pytest.fixture
def environment() -> Environment:
    return built_environment()


@pytest.fixture
def worker() -> Worker:
    facts = {"host": "one", "waiting": {"sha256:0": 3}, "images": {"sha256:0": 5}, "modes": {"single": "yes"}}
    return Worker.objects.create(name="one-1", boot="b", queues=["interactive", "bulk"], facts=facts)


def finished(environment: Environment, *, ago: timedelta, seconds: float, queue: str = "interactive") -> None:
    execution = enqueue(a_job(), environment=environment, queue=queue)
    end = timezone.now() - ago
    Execution.objects.filter(pk=execution.pk).update(
        state="finished",
        outcome="PASSED",
        created_at=end - timedelta(seconds=seconds),
        leased_at=end - timedelta(seconds=seconds * 0.75),
        started_at=end - timedelta(seconds=seconds / 2),
        finished_at=end,
    )


def fail(environment: Environment, reason: str, tries: int = 1) -> Execution:
    execution = enqueue(a_job(), environment=environment, queue="interactive")
    Execution.objects.filter(pk=execution.pk).update(tries=tries - 1)
    claims.take(execution.pk)
    execution.refresh_from_db()
    claims.give_back(execution, reason=reason)
    execution.refresh_from_db()
    claims.note_fault(execution, reason, last=not execution.is_open)
    return execution


def test_queues_say_how_many_wait_run_and_for_how_long(environment):
    first, second = (enqueue(a_job(), environment=environment, queue="interactive") for _ in range(2))
    Execution.objects.filter(pk=second.pk).update(created_at=Now() - timedelta(minutes=2))
    claims.take(first.pk)
    interactive, bulk = operations().queues
    assert (interactive.name, interactive.waiting, interactive.running) == ("interactive", 1, 1)
    assert 119 < (interactive.oldest_seconds or 0) < 150
    assert (bulk.name, bulk.waiting, bulk.running, bulk.oldest_seconds) == ("bulk", 0, 0, None)


def test_what_waits_for_a_later_try_is_counted_apart(environment):
    fail(environment, "The engine hangs.")
    assert operations().queues[0].later == 1


def test_workers_say_what_they_have_and_silent_ones_are_told_apart(environment, worker):
    Worker.objects.create(name="two-1", boot="c", seen_at=Now() - timedelta(minutes=2), facts={"host": "two"})
    Worker.objects.create(name="zero-1", boot="d", engine_error="no engine", facts={"host": "zero"})
    Worker.objects.create(name="zwei-1", boot="e", facts={"host": "zwei", "images": {}, "broker": False})
    one, two, zero, zwei = operations().workers
    assert (one.silent, one.trouble, [(w.environment, w.boxes) for w in one.pool]) == (
        False,
        "",
        [("plain", 3)],
    )
    assert (two.silent, zero.trouble) == (True, "no engine")
    assert "away" in zwei.trouble
    assert operations().alive == 1
    [image] = operations().images
    assert (image.hosts, image.lacking) == (("one",), ("zwei",))


def test_failures_are_grouped_by_reason_and_forgotten_after_a_day(environment):
    for _ in range(2):
        fail(environment, "The engine hangs.")
    lost = fail(environment, "The worker was lost.", tries=3)
    now = operations()
    assert {(fault.reason, fault.times, fault.unjudged) for fault in now.faults} == {
        ("The engine hangs.", 2, 0),
        ("The worker was lost.", 1, 1),
    }
    assert [execution.pk for execution in now.unjudged] == [lost.pk]
    later = operations(timezone.now() + timedelta(days=2))
    assert (later.faults, later.unjudged, later.unjudged_count) == ((), (), 0)


def test_what_a_newer_run_replaced_is_no_failure(environment):
    for _ in range(2):
        enqueue(a_job(), environment=environment, queue="interactive", asker="ann", replaceable=True)
    assert (operations().unjudged, operations().unjudged_count) == ((), 0)


def test_times_are_percentiles_of_each_stage_by_hour_and_day(environment):
    for seconds in range(1, 21):
        finished(environment, ago=timedelta(minutes=5), seconds=seconds)
    finished(environment, ago=timedelta(hours=3), seconds=1000)
    finished(environment, ago=timedelta(days=2), seconds=5000)
    interactive, bulk = operations().times
    whole = interactive.stages[-1]
    assert (interactive.hour, interactive.day, bulk.day) == (20, 21, 0)
    assert (whole.hour_p50, whole.hour_p95) == pytest.approx((10, 19))
    assert (whole.day_p50, whole.day_p95) == pytest.approx((11, 20))
    assert interactive.stages[0].hour_p50 == pytest.approx(2.5)
    assert interactive.stages[2].hour_p50 is None, "nothing had a row"
    assert bulk.stages[0].day_p95 is None


def test_the_page_asks_as_often_for_many_as_for_few(
    client, curator, environment, worker, django_assert_num_queries
):
    client.force_login(curator)
    with django_assert_num_queries(PAGE_QUERIES):
        empty = client.get(reverse("operations")).content.decode()
    assert "No engine, worker or database failed" in empty
    for number in range(30):
        fail(environment, f"Reason {number}.", tries=3)
        finished(environment, ago=timedelta(minutes=1), seconds=1, queue="bulk")
    with django_assert_num_queries(PAGE_QUERIES):
        page = client.get(reverse("operations")).content.decode()
    assert "The newest 20 of 30." in page


def test_htmx_gets_the_live_part_alone(client, curator):
    client.force_login(curator)
    part = client.get(reverse("operations"), headers={"HX-Request": "true"}).content.decode()
    assert part.startswith('<div class="stack loose" id="operations"')
    assert "No worker has answered for ten minutes" in part
    assert "No image is built yet" in part


def test_a_reason_is_shown_as_text(client, curator, environment, worker):
    fail(environment, "<script>alert(1)</script>")
    client.force_login(curator)
    assert "<script>alert" not in client.get(reverse("operations")).content.decode()


def test_monitors_read_the_same_by_the_api(client, curator, ann, environment, worker):
    fail(environment, "The engine hangs.", tries=3)
    client.force_login(curator)
    said = client.get("/api/v1/operations/").json()
    assert [queue["name"] for queue in said["queues"]] == ["interactive", "bulk"]
    assert said["workers"][0]["modes"] == {"single": "yes"}
    assert said["images"][0]["hosts"] == ["one"]
    assert (said["unjudged"], said["faults"][0]["unjudged"]) == (1, 1)
    assert said["times"][0]["stages"][0]["hour_p50"] is None
    client.force_login(ann)
    assert client.get("/api/v1/operations/").status_code == 404
