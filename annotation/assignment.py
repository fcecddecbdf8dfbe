"""ASSIGN: the next example for an annotator: seeded and balanced order, taken by one conditional UPDATE."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from functools import lru_cache
from threading import Lock

from django.db import IntegrityError, transaction

from annotation.attempts import settle
from annotation.leases import LEASE, hold, lease_of, release_attempts
from annotation.models import Attempt, Protocol, Slot, SlotQuerySet, Study, StudyPerson, User
from annotation.plan import arm_at, plan

FIRST_LOOK = 16

_planning = Lock()


class Reason(StrEnum):
    """Why there is nothing to take."""

    NOT_OPEN = "not open"
    NOT_TAKING_PART = "not taking part"
    ALL_DONE = "all done"
    YOURS_DONE = "yours done"
    HELD = "held"


@dataclass(frozen=True)
class NothingToTake:
    """Why there is nothing to take; where others hold what is left, how many slots and when the first lease ends."""

    reason: Reason
    held: int = 0
    until: datetime | None = None


def take_slot(study: Study, person: User, now: datetime) -> Attempt | NothingToTake:
    """Return the annotator's open attempt of the study, a new one where none is open, or why there is none.

    A slot is free when nobody holds it or its lease is over. Whoever lost a slot and gets the version again goes on
    with the earlier attempt and its drafts. Two people never get one slot, nobody gets a version twice: the UPDATE
    and the constraints of `Slot` decide, so SQLite and Postgres behave alike.
    """
    if study.state != Study.State.OPEN:
        return NothingToTake(Reason.NOT_OPEN)
    if not StudyPerson.objects.filter(study=study, person=person, active=True).exists():
        return NothingToTake(Reason.NOT_TAKING_PART)
    tried: set[int] = set()
    while (attempt := _held_attempt(study, person, now)) is None:
        slot = _first_slot(study, person, now, but=tried)
        if slot is None:
            return why_nothing(study, person, now)
        if attempt := _take(slot, person, now):
            return attempt
        tried.add(slot.pk)
    return attempt


def why_nothing(study: Study, person: User, now: datetime) -> NothingToTake:
    """Return why an annotator of an open study can take nothing."""
    mine = Slot.objects.filter(study=study, annotator=person)
    others = Slot.objects.filter(study=study, state=Slot.State.TAKEN, lease_end__gte=now).exclude(
        version__in=mine.values("version")
    )
    ends = sorted(end for end in others.values_list("lease_end", flat=True) if end)
    if ends:
        return NothingToTake(Reason.HELD, held=len(ends), until=ends[0])
    left = Slot.objects.filter(study=study).exclude(state=Slot.State.CLOSED)
    return NothingToTake(Reason.YOURS_DONE if left.exists() else Reason.ALL_DONE)


def available_to(study: Study, person: User, now: datetime) -> int:
    """Return how many versions the annotator could take now."""
    return _open_slots(study, person, now).values("version").distinct().count()


def _held_attempt(study: Study, person: User, now: datetime) -> Attempt | None:
    """Return the live attempt on the slot the person holds, its lease renewed; None where there is none."""
    attempt = (
        Attempt.objects.open()
        .filter(annotator=person, slot__study=study, slot__annotator=person, slot__state=Slot.State.TAKEN)
        .select_related("slot__study", "protocol")
        .first()
    )
    if attempt is None:
        return None
    paused = attempt.pauses.filter(ended_at=None).exists()
    return attempt if hold(attempt, until=now + lease_of(attempt, paused=paused)) else None


def _open_slots(study: Study, person: User, now: datetime) -> SlotQuerySet:
    """Return the slots that are free or whose lease is over, of versions the person has not had."""
    had = Slot.objects.filter(study=study, annotator=person).values("version")
    return Slot.objects.filter(study=study).takeable(now).exclude(version__in=had)


def _first_slot(study: Study, person: User, now: datetime, *, but: set[int]) -> Slot | None:
    """Return the first slot in the person's order, of one version a free one before one whose lease is over."""
    had = set(Slot.objects.filter(study=study, annotator=person).values_list("version", flat=True))
    order = [version for version in order_for(study, person) if version not in had]
    rank = {version: at for at, version in enumerate(order)}
    for versions in _growing(order):
        slots = Slot.objects.filter(study=study, version__in=versions).takeable(now).exclude(pk__in=but)
        found = min(
            slots,
            key=lambda slot: (rank[slot.version_id], slot.state != Slot.State.FREE, slot.number),
            default=None,
        )
        if found is not None:
            found.study = study  # at hand, with its protocol
            return found
    return None


def _growing(order: Sequence[int]) -> Iterator[Sequence[int]]:
    """Yield the order in pieces, each four times as long as the one before: most people find a slot in the first."""
    start, length = 0, FIRST_LOOK
    while start < len(order):
        yield order[start : start + length]
        start, length = start + length, 4 * length


def order_for(study: Study, person: User) -> tuple[int, ...]:
    """Return the study's versions in the order in which the person is offered them."""
    versions = study.slots.order_by("version").values_list("version", flat=True).distinct()
    people = study.people.order_by("pk").values_list("person", flat=True)
    with _planning:  # at the start of a study many come at once: one plans, and the others find the plan
        return _planned(tuple(versions), tuple(people), study.protocol.solvers, study.protocol.seed)[
            person.pk
        ]


@lru_cache(maxsize=64)
def _planned(
    versions: tuple[int, ...], people: tuple[int, ...], solvers: int, seed: int
) -> dict[int, tuple[int, ...]]:
    """Return the plan, kept in the process: the same arguments always give the same plan."""
    return plan(versions, people, k=solvers, seed=seed)


def _take(slot: Slot, person: User, now: datetime) -> Attempt | None:
    """Take the slot if it is still to be had, and return the attempt on it; None when somebody was faster."""
    lapsed = slot.state == Slot.State.TAKEN
    if lapsed and _work_has_ended(slot, now):
        return None
    earlier = _earlier_attempt(slot, person)
    change = {"state": Slot.State.TAKEN, "annotator": person, "taken_at": now, "lease_end": now + LEASE}
    try:
        with (
            transaction.atomic()
        ):  # two statements where nobody held the slot: the write lock is soon free again
            if not Slot.objects.filter(pk=slot.pk).takeable(now).update(**change):
                return None
            if lapsed:
                release_attempts(slot, now=now, but=person.pk)
            attempt = _begin(slot, person, now, earlier)
    except IntegrityError:  # the same person in another tab: one open assignment, no version twice
        return None
    if earlier:
        settle(attempt, now=now)
    return attempt


def _work_has_ended(slot: Slot, now: datetime) -> bool:
    """Settle the attempt behind a lease that is over: who has submitted keeps the slot until the verdict is due."""
    attempt = Attempt.objects.filter(slot=slot, state=Attempt.State.OPEN).first()
    return attempt is not None and settle(attempt, now=now)


def _earlier_attempt(slot: Slot, person: User) -> Attempt | None:
    """Return the attempt of the person on this version that ended when its slot went to another."""
    released = Attempt.objects.filter(annotator=person, state=Attempt.State.RELEASED)
    return released.filter(slot__study=slot.study_id, slot__version=slot.version_id).first()


def arm_of(slot: Slot, protocol: Protocol) -> str:
    """Return the help that an attempt on the slot may use: drawn by seed, balanced over the places of each version."""
    if len(protocol.arms) == 1:
        return str(protocol.arms[0])
    same = Slot.objects.filter(study=slot.study_id)
    first = same.filter(version=slot.version_id).order_by("pk").values_list("pk", flat=True)[0]
    place = same.filter(number=1, pk__lt=first).count()
    return arm_at(protocol.arms, place=place, number=slot.number, seed=protocol.seed)


def _begin(slot: Slot, person: User, now: datetime, earlier: Attempt | None) -> Attempt:
    """Return a new attempt on the slot, or the earlier one, which goes on where it was left."""
    if earlier is None:
        protocol = slot.study.protocol
        arm = arm_of(slot, protocol)
        return Attempt.objects.create(slot=slot, annotator=person, protocol=protocol, arm=arm, started_at=now)
    earlier.slot, earlier.state, earlier.ended_at = slot, Attempt.State.OPEN, None
    earlier.save(update_fields=["slot", "state", "ended_at"])
    return earlier
