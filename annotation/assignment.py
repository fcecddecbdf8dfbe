"""ASSIGN: the next example for an annotator: seeded and balanced order, taken by one conditional UPDATE."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from functools import lru_cache
from threading import Lock

from django.db import IntegrityError, transaction
from django.db.models import Max, Q, QuerySet

from annotation.attempts import Refused, settle
from annotation.leases import HELD, LEASE, OWN_FROM, hold, lease_of, release_attempts
from annotation.leaving import take_up
from annotation.models import Attempt, BrokenReport, Protocol, Slot, SlotQuerySet, Study, StudyPerson, User
from annotation.onboarding.gold import due_of
from annotation.onboarding.steps import Step, next_gold, next_step
from annotation.onboarding.warm_up import warm_up_version
from annotation.plan import arm_at, plan
from annotation.revealing import known_to
from annotation.transitions import Actor, move

FIRST_LOOK = 16

_planning = Lock()


class Reason(StrEnum):
    """Why there is nothing to take."""

    NOT_OPEN = "not open"
    NOT_TAKING_PART = "not taking part"
    STEP_DUE = "step due"
    NOT_QUALIFIED = "not qualified"
    CAP = "cap"
    ALL_DONE = "all done"
    YOURS_DONE = "yours done"
    HELD = "held"
    PAUSED = "paused"


@dataclass(frozen=True)
class NothingToTake:
    """Why there is nothing to take.

    held    slots that others hold, with `until`, when the first lease of them ends
    paused  versions that wait for a curator, because they were reported broken
    step    what the person has to do first
    cap     how many examples the person is given at most, where that is reached
    """

    reason: Reason
    held: int = 0
    until: datetime | None = None
    paused: int = 0
    step: Step | None = None
    cap: int = 0


def take_slot(study: Study, person: User, now: datetime) -> Attempt | NothingToTake:
    """Return the annotator's open attempt of the study, a new one where none is open, or why there is none.

    Before the work come the steps that the protocol asks for; warm-up and gold examples are slots of the person's own.
    A slot of the study is free when nobody holds it or its lease is over. Whoever lost a slot and gets the version again
    goes on with the earlier attempt and its drafts; what was deferred comes back when nothing new is left. Two people
    never get one slot, nobody gets a version twice: the UPDATE and the constraints of `Slot` decide, so SQLite and
    Postgres behave alike.
    """
    if study.state != Study.State.OPEN:
        return NothingToTake(Reason.NOT_OPEN)
    member = StudyPerson.objects.filter(study=study, person=person, active=True).first()
    if member is None:
        return NothingToTake(Reason.NOT_TAKING_PART)
    member.study, member.person = study, person  # at hand, with the protocol
    tried: set[int] = set()
    while (attempt := _held_attempt(study, person, now)) is None:
        found = _next(member, now, tried)
        if found is not None:
            return found
    return attempt


def _next(member: StudyPerson, now: datetime, tried: set[int]) -> Attempt | NothingToTake | None:
    """Return the next attempt or why there is none; None to look again, because somebody was faster."""
    study, person = member.study, member.person
    step = next_step(member)
    if step == Step.NOT_QUALIFIED:
        return NothingToTake(Reason.NOT_QUALIFIED)
    if step == Step.WARM_UP:
        return _take_own(study, person, warm_up_version().pk, Slot.Kind.WARM_UP, now)
    if step == Step.QUALIFICATION:
        version = due_of(member)
        if version is None:
            return NothingToTake(Reason.STEP_DUE, step=step)
        return _take_own(study, person, version, Slot.Kind.QUALIFICATION, now)
    if step != Step.WORK:
        return NothingToTake(Reason.STEP_DUE, step=step)
    if gold := next_gold(member):
        return _take_own(study, person, gold, Slot.Kind.GOLD, now)
    if not cap_reached(member):
        slot = _first_slot(study, person, now, but=tried)
        if slot is not None:
            tried.add(slot.pk)
            return _take(slot, person, now)
    if deferred := _deferred_attempt(study, person, now):
        return deferred
    nothing = why_nothing(member, now)
    if nothing.reason == Reason.YOURS_DONE and _came_free(study, person, now):
        tried.clear()
        return None
    return nothing


def _came_free(study: Study, person: User, now: datetime) -> bool:
    """Return whether a slot that was held when we looked for one has been given back since."""
    slot = _first_slot(study, person, now, but=set())
    return slot is not None and slot.state == Slot.State.FREE


def why_nothing(member: StudyPerson, now: datetime) -> NothingToTake:
    """Return why an annotator of an open study, who has done every step, can take nothing."""
    study, person = member.study, member.person
    if cap_reached(member):
        return NothingToTake(Reason.CAP, cap=member.cap or 0)
    places = Slot.objects.filter(study=study).of_the_study()
    others = _for_them(places, study, person)
    held = others.filter(state__in=HELD, lease_end__gte=now, paused=False)
    ends = sorted(end for end in held.values_list("lease_end", flat=True) if end)
    waiting = BrokenReport.objects.filter(study=study, replaced_by=None).exclude(
        decision__in=[BrokenReport.Decision.GO_ON, BrokenReport.Decision.TAKE_OUT]
    )
    mine = Q(annotator=person, state=Slot.State.KEPT)
    stopped = places.filter(mine | Q(pk__in=others.values("pk")), paused=True)
    stopped = stopped.filter(version__in=waiting.values("version")).exclude(state=Slot.State.CLOSED)
    paused = stopped.values("version").distinct().count()
    if ends:
        return NothingToTake(Reason.HELD, held=len(ends), until=ends[0], paused=paused)
    if paused:
        return NothingToTake(Reason.PAUSED, paused=paused)
    left = places.filter(paused=False).exclude(state=Slot.State.CLOSED)
    return NothingToTake(Reason.YOURS_DONE if left.exists() else Reason.ALL_DONE)


def available_to(study: Study, person: User, now: datetime) -> int:
    """Return how many versions the annotator could take now."""
    return _open_slots(study, person, now).values("version").distinct().count()


def cap_reached(member: StudyPerson) -> bool:
    """Return whether the person has begun as many examples of the study as they are given at most."""
    if member.cap is None:
        return False
    begun = Attempt.objects.filter(slot__study=member.study_id, annotator=member.person_id).counted()
    return begun.exclude(state__in=[Attempt.State.DECLINED, Attempt.State.REPORTED]).count() >= member.cap


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


def _for_them(slots: SlotQuerySet, study: Study, person: User) -> SlotQuerySet:
    """Return those slots whose versions the person has not, has not had, has not declined, and whose reference is new to them."""
    had = Slot.objects.filter(study=study, annotator=person).values("version")
    declined = Attempt.objects.filter(
        annotator=person, slot__study=study, state=Attempt.State.DECLINED
    ).values("slot__version")
    known = known_to(person).values("pk")
    return slots.exclude(version__in=had).exclude(version__in=declined).exclude(version__in=known)


def _open_slots(study: Study, person: User, now: datetime) -> SlotQuerySet:
    """Return the slots that are free or whose lease is over, of versions that are still for the person."""
    return _for_them(Slot.objects.filter(study=study).takeable(now), study, person)


def _first_slot(study: Study, person: User, now: datetime, *, but: set[int]) -> Slot | None:
    """Return the first slot in the person's order, of one version a free one before one whose lease is over.

    What the person began and lost comes before what is new.
    """
    had = set(Slot.objects.filter(study=study, annotator=person).values_list("version", flat=True))
    left = dict(
        Attempt.objects.filter(annotator=person, slot__study=study)
        .exclude(state=Attempt.State.CLOSED)
        .values_list("slot__version", "state")
    )
    had.update(version for version, state in left.items() if state == Attempt.State.DECLINED)
    had.update(known_to(person).values_list("pk", flat=True))
    plan_of_theirs = [version for version in order_for(study, person) if version not in had]
    order = sorted(plan_of_theirs, key=lambda version: version not in left)
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


def _lost(study: Study, person: User) -> QuerySet[Attempt]:
    """Return the person's attempts that go on where they were left when they get the version again."""
    states = [Attempt.State.RELEASED, Attempt.State.REPORTED]
    return Attempt.objects.filter(annotator=person, slot__study=study, state__in=states)


def _growing(order: Sequence[int]) -> Iterator[Sequence[int]]:
    """Yield the order in pieces, each four times as long as the one before: most people find a slot in the first."""
    start, length = 0, FIRST_LOOK
    while start < len(order):
        yield order[start : start + length]
        start, length = start + length, 4 * length


def order_for(study: Study, person: User) -> tuple[int, ...]:
    """Return the study's versions in the order in which the person is offered them."""
    places = Slot.objects.filter(study=study).of_the_study()
    versions = places.order_by("version").values_list("version", flat=True).distinct()
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
    lapsed = slot.state != Slot.State.FREE
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
    """Return the attempt of the person on this version that ended when its slot went back."""
    return _lost(slot.study, person).filter(slot__version=slot.version_id).first()


def _deferred_attempt(study: Study, person: User, now: datetime) -> Attempt | None:
    """Return what the person deferred first, taken up again; None where nothing of it can be had."""
    deferred = Attempt.objects.filter(
        annotator=person, slot__study=study, slot__annotator=person, state=Attempt.State.DEFERRED
    )
    for attempt in deferred.select_related("slot__study", "protocol").order_by("ended_at", "pk"):
        try:
            take_up(attempt, now=now)
        except Refused:
            continue
        return attempt
    return None


def _take_own(
    study: Study, person: User, version: int, kind: Slot.Kind, now: datetime
) -> Attempt | NothingToTake | None:
    """Return the attempt on a slot that is the person's alone, made or taken again; None to look again."""
    mine = Attempt.objects.filter(annotator=person, slot__study=study, slot__version=version)
    earlier = mine.select_related("slot__study", "protocol").first()
    if earlier is not None and earlier.state == Attempt.State.DEFERRED:
        try:
            take_up(earlier, now=now)
        except Refused:
            return NothingToTake(Reason.PAUSED, paused=1)
        return earlier
    if earlier is not None and earlier.state not in (Attempt.State.RELEASED, Attempt.State.REPORTED):
        return NothingToTake(Reason.YOURS_DONE)
    held = {"state": Slot.State.TAKEN, "annotator": person, "taken_at": now, "lease_end": now + LEASE}
    try:
        with transaction.atomic():
            if earlier is not None:
                if not Slot.objects.filter(pk=earlier.slot_id, state=Slot.State.FREE).update(**held):
                    return None
                slot = earlier.slot
            else:
                last = Slot.objects.filter(study=study, version=version).aggregate(last=Max("number"))["last"]
                number = max(last or 0, OWN_FROM) + 1
                slot = Slot.objects.create(study=study, version_id=version, number=number, kind=kind, **held)
            return _begin(slot, person, now, earlier)
    except IntegrityError:  # the same person in another tab, or another person at the same number
        return None


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
    move(Attempt.objects.filter(pk=earlier.pk), to=Attempt.State.OPEN, by=Actor.ANNOTATOR, now=now, slot=slot)
    earlier.slot, earlier.state, earlier.ended_at = slot, Attempt.State.OPEN, None
    return earlier
