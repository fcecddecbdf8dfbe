"""What a crash leaves untrue is made true again: stale claims, lost messages, dead workers."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.db.models.functions import Now

from runner import boxes, claims, reconcile, workers
from runner.models import Execution, TestRow, Worker
from runner.sandbox.base import SandboxUnavailable
from tests.runner.fakes import queued


@pytest.fixture
def woken(monkeypatch):
    """Whom the reconciler wakes; no container is touched."""
    ids = []
    monkeypatch.setattr(reconcile, "wake", lambda pk, **how: ids.append(pk) or True)
    monkeypatch.setattr(boxes, "remove", lambda name: None)
    return ids


def taken(**columns) -> Execution:
    run = queued()
    assert claims.take(run.pk)
    Execution.objects.filter(pk=run.pk).update(**columns)
    return Execution.objects.get(pk=run.pk)


def test_a_claim_whose_lease_is_over_goes_back_to_the_queue_without_its_rows(either_database, woken):
    run = taken(lease_end=Now() - timedelta(seconds=1))
    TestRow.objects.create(execution=run, number=1, test="test_one", outcome="PASSED")
    assert reconcile.requeue_stale() == 1
    run.refresh_from_db()
    assert (run.state, run.claim, run.tries) == ("queued", "", 1)
    assert run.retry_at is not None
    assert not run.rows.exists()
    assert woken == [run.pk]


def test_a_claim_under_its_lease_is_left_alone(either_database, woken):
    taken()
    assert reconcile.requeue_stale() == 0


def test_a_renewed_lease_is_longer(either_database):
    run = taken(lease_end=Now() - timedelta(seconds=1))
    claims.Claim(run.pk, run.claim).renew()
    assert not Execution.objects.stale().exists()
    with pytest.raises(claims.ClaimLost):
        claims.Claim(run.pk, "another").renew()


@pytest.mark.django_db
def test_the_third_lost_worker_leaves_it_unjudged(woken):
    run = taken(lease_end=Now() - timedelta(seconds=1), tries=3)
    reconcile.requeue_stale()
    run.refresh_from_db()
    assert (run.state, run.reason) == ("unjudged", reconcile.LOST)
    assert woken == []


@pytest.mark.django_db
def test_claims_of_a_process_known_to_be_dead_wait_for_no_lease(woken):
    run = taken()
    assert reconcile.requeue_boot("somebody else") == 0
    assert reconcile.requeue_boot("") == 0
    assert reconcile.requeue_boot(claims.BOOT) == 1
    assert woken == [run.pk]


@pytest.mark.parametrize(("in_the_queue", "expected"), [(0, 2), (1, 1), (5, 0), (None, 0)])
def test_forgotten_executions_are_woken_but_never_more_than_messages_are_missing(
    either_database, woken, monkeypatch, in_the_queue, expected
):
    first = queued(created_at=Now() - timedelta(minutes=1))
    for _ in range(2):
        Execution(environment=first.environment, queue="interactive", job_data=first.job_data).save()
    old = Execution.objects.exclude(pk=first.pk).first()
    Execution.objects.filter(pk=old.pk).update(created_at=Now() - timedelta(minutes=1))
    monkeypatch.setattr(reconcile, "waiting_messages", lambda queue: in_the_queue)
    assert reconcile.wake_forgotten() == expected
    assert woken == [first.pk, old.pk][:expected]


@pytest.mark.django_db
def test_one_that_waits_for_a_later_try_is_not_forgotten(woken, monkeypatch):
    queued(created_at=Now() - timedelta(minutes=1), retry_at=Now() + timedelta(minutes=1))
    monkeypatch.setattr(reconcile, "waiting_messages", lambda queue: 0)
    assert reconcile.wake_forgotten() == 0


@pytest.mark.django_db
def test_a_second_worker_takes_another_name_and_a_successor_knows_whom_it_follows(settings, tmp_path):
    settings.DATA_DIR = tmp_path
    Worker.objects.create(name=f"{workers.platform.node()[:90]}-1", boot="the dead one")
    first, second = workers.sign_on(["interactive"]), workers.sign_on(["bulk"])
    assert first.former_boot == "the dead one"
    assert second.former_boot == ""
    assert {first.worker.name[-2:], second.worker.name[-2:]} == {"-1", "-2"}
    first.lock.close()
    assert workers.sign_on(["interactive"]).worker.name == first.worker.name


@pytest.mark.django_db
def test_a_worker_says_what_is_wrong_with_its_engine(settings, tmp_path, monkeypatch):
    settings.DATA_DIR = tmp_path
    post = workers.sign_on(["interactive"])

    class NoEngine:
        def boxes(self):
            raise SandboxUnavailable("Listing boxes: no engine can be reached.")

    monkeypatch.setattr(boxes, "engine", NoEngine)
    reconcile.beat(post)
    assert workers.engine_trouble() == "Listing boxes: no engine can be reached."
    assert "Listing boxes" not in workers.engine_trouble(in_detail=False)
    workers.beat(post.worker, engine_error="", facts={})
    assert workers.engine_trouble() == ""
    workers.sign_off(post.worker)
    assert "No worker has answered" in workers.engine_trouble()


@pytest.mark.django_db
def test_rows_of_workers_long_gone_are_removed():
    Worker.objects.create(name="gone", boot="a", seen_at=Now() - timedelta(hours=1))
    Worker.objects.create(name="here", boot="b")
    assert workers.forget_silent() == 1
    assert Worker.objects.get().name == "here"
