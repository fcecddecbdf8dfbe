"""Taking an execution: many try at once, one has it; on both databases."""

from __future__ import annotations

import threading
import time
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime

import pytest
from django.db import connections

from runner import claims
from runner.models import Execution
from tests.runner.fakes import queued

WORKERS = 12


def test_of_many_who_try_at_once_one_has_the_claim(either_database):
    run = queued()
    together = threading.Barrier(WORKERS)

    def take(_number: int) -> claims.Claim | None:
        try:
            together.wait()
            return claims.take(run.pk)
        finally:
            connections.close_all()

    with ThreadPoolExecutor(WORKERS) as threads:
        got = [claim for claim in threads.map(take, range(WORKERS)) if claim]
    assert len(got) == 1
    run.refresh_from_db()
    assert (run.claim, run.tries, run.state) == (got[0].token, 1, "running")


def test_who_lost_the_claim_writes_nothing(either_database):
    run = queued()
    former = claims.take(run.pk)
    assert former
    claims.give_back(Execution.objects.get(pk=run.pk), reason="The worker was lost.", counted=False)
    latter = claims.take(run.pk)
    assert latter
    with pytest.raises(claims.ClaimLost):
        former.change(state="finished", outcome="PASSED", claim="")
    with pytest.raises(claims.ClaimLost):
        former.renew()
    run.refresh_from_db()
    assert (run.state, run.claim) == ("running", latter.token)


def test_a_claim_that_was_lost_gives_nothing_back(either_database):
    run = queued()
    claims.take(run.pk)
    stale = Execution.objects.get(pk=run.pk)
    Execution.objects.filter(pk=run.pk).update(claim="somebody else's")
    with pytest.raises(claims.ClaimLost):
        claims.give_back(stale, reason="late")
    run.refresh_from_db()
    assert (run.state, run.reason) == ("running", "")


def test_what_a_batch_has_claimed_is_kept_until_it_ends(transactional_db, settings):
    settings.RUNNER_LEASE_SECONDS = 0.06
    run = queued(queue="bulk", scope="a study")
    [taken] = claims.take_many([run.pk])

    def lease() -> datetime:
        return Execution.objects.get(pk=run.pk).lease_end

    first = lease()
    with claims.kept(taken.claim):
        end = time.monotonic() + 20
        while lease() == first and time.monotonic() < end:
            time.sleep(0.02)
        assert lease() > first
    for keeper in [thread for thread in threading.enumerate() if thread.name == "lease"]:
        keeper.join(20)
    last = lease()
    time.sleep(0.1)
    assert lease() == last
