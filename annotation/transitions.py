"""ATTEMPT: its states: which may follow which, and who may bring that about. Reading never changes a state."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum
from typing import Any

from django.db.models import F, Value
from django.db.models.functions import Coalesce

from annotation.models import Attempt, AttemptQuerySet

OPEN, SUBMITTED, CLOSED = Attempt.State.OPEN, Attempt.State.SUBMITTED, Attempt.State.CLOSED
DEFERRED, DECLINED = Attempt.State.DEFERRED, Attempt.State.DECLINED
REPORTED, RELEASED = Attempt.State.REPORTED, Attempt.State.RELEASED


class Actor(StrEnum):
    """Who brings a change of state about."""

    ANNOTATOR = "annotator"
    CURATOR = "curator"
    LEASE = "lease"  # it was over, and somebody else took the slot
    WORK = "work"  # it has ended: passed, submissions used, out of time


ALLOWED: dict[tuple[Attempt.State, Attempt.State], frozenset[Actor]] = {
    (OPEN, SUBMITTED): frozenset({Actor.ANNOTATOR, Actor.WORK}),  # gives up; or the work has ended
    (OPEN, DEFERRED): frozenset({Actor.ANNOTATOR}),
    (OPEN, DECLINED): frozenset({Actor.ANNOTATOR}),
    (OPEN, REPORTED): frozenset({Actor.ANNOTATOR}),
    (OPEN, RELEASED): frozenset({Actor.CURATOR, Actor.LEASE, Actor.ANNOTATOR}),  # the person withdraws
    (DEFERRED, OPEN): frozenset({Actor.ANNOTATOR}),
    (DEFERRED, DECLINED): frozenset({Actor.ANNOTATOR}),
    (DEFERRED, RELEASED): frozenset({Actor.CURATOR, Actor.LEASE, Actor.ANNOTATOR}),
    (SUBMITTED, CLOSED): frozenset({Actor.ANNOTATOR}),
    (CLOSED, SUBMITTED): frozenset({Actor.CURATOR}),  # re-opens the verdict, never the work on the code
    (SUBMITTED, RELEASED): frozenset({Actor.CURATOR, Actor.LEASE, Actor.ANNOTATOR}),
    (RELEASED, OPEN): frozenset({Actor.ANNOTATOR}),  # takes the version again, or submits after all
    (REPORTED, OPEN): frozenset({Actor.ANNOTATOR}),  # a curator found it whole, and it is taken again
}


def sources(to: Attempt.State, by: Actor) -> list[Attempt.State]:
    """Return the states from which that actor may lead an attempt to `to`."""
    return [before for (before, after), actors in ALLOWED.items() if after == to and by in actors]


def move(attempts: AttemptQuerySet, *, to: Attempt.State, by: Actor, now: datetime, **more: Any) -> int:
    """Lead those of the attempts to `to` that may go there, by one UPDATE, and return how many.

    What ends the work on the code stamps `ended_at`, unless it has ended before; what opens it again takes that away.
    """
    ended = None if to == OPEN else Coalesce(F("ended_at"), Value(now))
    change = {"state": to, "ended_at": ended} | more
    return attempts.filter(state__in=sources(to, by)).update(**change)
