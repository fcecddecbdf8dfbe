"""ASSIGN: how long an assignment stays with its annotator without a sign of life."""

from __future__ import annotations

from datetime import datetime, timedelta

from annotation.clock import PAUSE_LIMIT
from annotation.models import Attempt, Slot

LEASE = timedelta(minutes=30)
VERDICT_LEASE = timedelta(hours=72)
PAUSE_LEASE = PAUSE_LIMIT


def hold(attempt: Attempt, *, until: datetime) -> bool:
    """Set the lease's end, and return whether the slot is still the annotator's; False means that somebody took it."""
    mine = Slot.objects.filter(pk=attempt.slot_id, annotator=attempt.annotator_id, state=Slot.State.TAKEN)
    return mine.update(lease_end=until) == 1


def lease_of(attempt: Attempt, *, paused: bool) -> timedelta:
    """Return how long the slot is kept from the last sign of life on: longest while only the verdict is due."""
    if attempt.state == Attempt.State.SUBMITTED:
        return VERDICT_LEASE
    return PAUSE_LEASE if paused else LEASE


def give_back(slot: Slot, *, now: datetime) -> bool:
    """Free a taken slot and end its live attempt as `released`; its drafts and runs stay with the person.

    Returns False, and changes nothing, where the slot is no longer held as given.
    """
    held = Slot.objects.filter(pk=slot.pk, state=Slot.State.TAKEN, annotator=slot.annotator_id)
    freed = held.update(state=Slot.State.FREE, annotator=None, taken_at=None, lease_end=None)
    if freed:
        release_attempts(slot, now=now)
    return bool(freed)


def release_attempts(slot: Slot, *, now: datetime, but: int | None = None) -> None:
    """End the live attempts on a slot that has left its annotator, those of the person `but` excepted."""
    live = Attempt.objects.filter(slot=slot).open().exclude(annotator=but)
    live.filter(state=Attempt.State.OPEN).update(state=Attempt.State.RELEASED, ended_at=now)
    live.filter(state=Attempt.State.SUBMITTED).update(state=Attempt.State.RELEASED)
