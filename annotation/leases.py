"""ASSIGN: how long an assignment stays with its annotator without a sign of life, and how a slot goes back."""

from __future__ import annotations

from datetime import datetime, timedelta

from annotation.clock import PAUSE_LIMIT
from annotation.models import Attempt, Slot
from annotation.transitions import Actor, move

LEASE = timedelta(minutes=30)
VERDICT_LEASE = timedelta(hours=72)
PAUSE_LEASE = PAUSE_LIMIT
KEPT_FOR = timedelta(hours=24)  # a deferred place
OWN_FROM = 1000  # slots beside the k places of a version are numbered from here
HELD = [Slot.State.TAKEN, Slot.State.KEPT]


def hold(attempt: Attempt, *, until: datetime) -> bool:
    """Set the lease's end, and return whether the slot is still the annotator's; False means that somebody took it."""
    mine = Slot.objects.filter(pk=attempt.slot_id, annotator=attempt.annotator_id, state=Slot.State.TAKEN)
    return mine.update(lease_end=until) == 1


def lease_of(attempt: Attempt, *, paused: bool) -> timedelta:
    """Return how long the slot is kept from the last sign of life on: longest while only the verdict is due."""
    if attempt.state == Attempt.State.SUBMITTED:
        return VERDICT_LEASE
    return PAUSE_LEASE if paused else LEASE


def free(slot: Slot) -> bool:
    """Free a held slot, and return whether it was held as given; the attempt on it is the caller's matter."""
    held = Slot.objects.filter(pk=slot.pk, state__in=HELD, annotator=slot.annotator_id)
    return bool(held.update(state=Slot.State.FREE, annotator=None, taken_at=None, lease_end=None))


def give_back(slot: Slot, *, now: datetime, by: Actor = Actor.CURATOR) -> bool:
    """Free a held slot and end its live attempt as `released`; its drafts and runs stay with the person.

    Returns False, and changes nothing, where the slot is no longer held as given.
    """
    freed = free(slot)
    if freed:
        release_attempts(slot, now=now, by=by)
    return freed


def release_attempts(slot: Slot, *, now: datetime, but: int | None = None, by: Actor = Actor.LEASE) -> None:
    """End the live attempts on a slot that has left its annotator, those of the person `but` excepted."""
    live = Attempt.objects.filter(slot=slot).exclude(annotator=but)
    move(live, to=Attempt.State.RELEASED, by=by, now=now)
