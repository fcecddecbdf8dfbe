"""TIME: beats and pauses as rows, and the log of an attempt that the clock reads."""

from __future__ import annotations

from datetime import datetime, timedelta

from django.db import IntegrityError, transaction

from annotation import clock
from annotation.leases import LEASE, hold, lease_of
from annotation.models import Attempt, Beat, Pause
from runner.models import Execution

# A page sends four in a minute, and one more whenever it is left or looked at again: what is beyond tells nothing new.
BEATS_PER_MINUTE, BEATS = 20, 20_000


def beat(attempt: Attempt, *, tab: str, visible: bool, ms_since_input: int | None, now: datetime) -> bool:
    """Store a sign of life and return whether the slot is still the annotator's.

    The lease moves only while somebody is there: a page left open overnight gives its slot back. Of one minute, and of
    one attempt, only so many are stored.
    """
    row = Beat(attempt=attempt, at=now, tab=tab, visible=visible, ms_since_input=ms_since_input)
    there = visible and (ms_since_input is None or ms_since_input < LEASE.total_seconds() * 1000)
    moves = there and not is_paused(attempt)
    with transaction.atomic():
        if not _too_many(attempt, now):
            row.save(force_insert=True)
        if moves:
            return hold(attempt, until=now + lease_of(attempt, paused=False))
    return attempt.slot.annotator_id == attempt.annotator_id


def _too_many(attempt: Attempt, now: datetime) -> bool:
    within = attempt.beats.filter(at__gt=now - timedelta(minutes=1), at__lte=now)
    return within.count() >= BEATS_PER_MINUTE or attempt.beats.count() >= BEATS


def is_paused(attempt: Attempt) -> bool:
    """Whether the annotator has stopped the clock."""
    return Pause.objects.filter(attempt=attempt, ended_at=None).exists()


def pause(attempt: Attempt, *, now: datetime) -> None:
    """Stop the clock; the slot is kept for a day. A second pause in a row does nothing."""
    try:
        with transaction.atomic():
            Pause.objects.create(attempt=attempt, started_at=now)
    except IntegrityError:
        return
    hold(attempt, until=now + lease_of(attempt, paused=True))


def resume(attempt: Attempt, *, now: datetime) -> bool:
    """Let the clock go on, and return whether the slot is still the annotator's."""
    Pause.objects.filter(attempt=attempt, ended_at=None).update(ended_at=now)
    return hold(attempt, until=now + lease_of(attempt, paused=False))


def log_of(attempt: Attempt) -> clock.AttemptLog:
    """Return everything the clock may look at, in three queries."""
    executions = Execution.objects.filter(run__attempt=attempt).only("state", "created_at", "finished_at")
    return clock.AttemptLog(
        started_at=attempt.started_at,
        ended_at=attempt.ended_at,
        beats=[clock.Beat(row.at, row.tab, row.visible, row.ms_since_input) for row in attempt.beats.all()],
        pauses=[clock.Pause(row.started_at, row.ended_at) for row in attempt.pauses.all()],
        waits=[
            clock.Wait(each.created_at, None if each.is_open else each.finished_at or each.created_at)
            for each in executions
        ],
    )


def active_seconds(attempt: Attempt) -> float:
    """Return the seconds that count against the protocol's limit, up to the last sign of life."""
    intervals = clock.derive_intervals(log_of(attempt), idle_limit=attempt.protocol.idle_limit_seconds)
    return clock.active_seconds(intervals)
