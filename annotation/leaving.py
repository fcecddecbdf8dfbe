"""ASSIGN: an annotator sets an attempt aside: defers it, declines it, or reports it broken; each means something else."""

from __future__ import annotations

from datetime import datetime

from django.db import IntegrityError, transaction

from annotation.attempts import AttemptOver, Refused, settle, submissions_of
from annotation.leases import KEPT_FOR, LEASE, free
from annotation.models import Attempt, BrokenReport, Parting, Slot, Study
from annotation.transitions import Actor, move

KEPT_AT_ONCE = 3


def defer(attempt: Attempt, *, reason: str, now: datetime) -> datetime:
    """Set the attempt aside for later, and return until when its place is kept.

    The draft stays; the person can take another example meanwhile. After that time the place may go to somebody else;
    as long as it has not, it can still be taken up again. Raises Refused where too many are kept already.
    """
    with transaction.atomic():
        slot = _held(attempt, now)
        kept = Slot.objects.filter(study=slot.study_id, annotator=attempt.annotator_id, state=Slot.State.KEPT)
        if kept.filter(lease_end__gte=now).count() >= KEPT_AT_ONCE:
            raise Refused(f"{KEPT_AT_ONCE} are kept for you already. Take one of them up first.")
        until = now + KEPT_FOR
        _leave(attempt, Attempt.State.DEFERRED, now)
        Slot.objects.filter(pk=slot.pk).update(state=Slot.State.KEPT, lease_end=until)
        Parting.objects.create(
            attempt=attempt, act=Parting.Act.DEFER, reason=reason.strip(), kept_until=until, at=now
        )
    return until


def decline(attempt: Attempt, *, reason: str, now: datetime) -> None:
    """Refuse the example for good: its place goes back, and this person never gets it again. Raises Refused without a reason."""
    if not reason.strip():
        raise Refused("Say why it is not for you; curators read it.")
    with transaction.atomic():
        slot = _held(attempt, now, deferred=True)
        _leave(attempt, Attempt.State.DECLINED, now)
        free(slot)
        Parting.objects.create(attempt=attempt, act=Parting.Act.DECLINE, reason=reason.strip(), at=now)


def report_broken(attempt: Attempt, *, what: str, evidence: str, now: datetime) -> BrokenReport:
    """Report the version to the curators, with evidence; nobody new gets it in this study until they have decided.

    The place goes back; who works on the version just now may finish. Raises Refused without evidence.
    """
    if not evidence.strip():
        raise Refused("Say what you saw and what you expected, so that a curator can look.")
    if what not in BrokenReport.What.values:
        raise Refused("Choose what is broken.")
    with transaction.atomic():
        slot = _held(attempt, now)
        _leave(attempt, Attempt.State.REPORTED, now)
        free(slot)
        places = Slot.objects.filter(study=slot.study_id, version=slot.version_id).of_the_study()
        places.update(paused=True)
        return BrokenReport.objects.create(
            attempt=attempt,
            study_id=slot.study_id,
            version_id=slot.version_id,
            what=what,
            evidence=evidence.strip(),
            run=attempt.runs.order_by("-number").first(),
            at=now,
        )


def take_up(attempt: Attempt, *, now: datetime) -> None:
    """Go on with a deferred attempt where it was left. Raises Refused, which says what stands against it."""
    study = attempt.slot.study
    if study.state != Study.State.OPEN:
        raise Refused("Nothing can be taken up while the study is not open; your draft is kept.")
    if not study.people.filter(person=attempt.annotator_id, active=True).exists():
        raise Refused("You do not take part in this study any more.")
    mine = Slot.objects.filter(pk=attempt.slot_id, annotator=attempt.annotator_id, state=Slot.State.KEPT)
    if mine.filter(paused=True).exists():
        raise Refused("It is paused until a curator has looked at it; your draft is kept.")
    try:
        with transaction.atomic():
            taken = mine.filter(paused=False).update(
                state=Slot.State.TAKEN, taken_at=now, lease_end=now + LEASE
            )
            moved = _move(attempt, Attempt.State.OPEN, now) if taken else 0
            if not moved:
                raise AttemptOver(
                    "Its place has gone to somebody else; your draft is kept, and it comes first when one is free."
                )
    except IntegrityError as conflict:  # slot_one_open_per_person
        raise Refused("Another example of this study is open: finish it or set it aside first.") from conflict
    attempt.refresh_from_db(fields=["state", "ended_at"])
    settle(attempt, now=now)


def _held(attempt: Attempt, now: datetime, *, deferred: bool = False) -> Slot:
    """Return the slot of an attempt that may be left, both rows locked. Raises Refused, AttemptOver."""
    if settle(attempt, now=now):
        raise AttemptOver("The work on this example has ended: say how it went.")
    locked = Attempt.objects.select_for_update().get(
        pk=attempt.pk
    )  # a submission is taken under the same lock
    allowed = [Attempt.State.OPEN, *([Attempt.State.DEFERRED] if deferred else [])]
    if locked.state not in allowed:
        raise AttemptOver("You have left this example already; what you wrote is kept.")
    if submissions_of(attempt).waiting:
        raise Refused("Your submission is being judged; wait for its outcome.")
    slot = Slot.objects.filter(pk=locked.slot_id, annotator=attempt.annotator_id).first()
    if slot is None:
        raise AttemptOver("Your place has gone to somebody else; what you wrote is kept.")
    return slot


def _leave(attempt: Attempt, to: Attempt.State, now: datetime) -> None:
    """End the work for now: the attempt's state, and a pause that was open."""
    if not _move(attempt, to, now):
        raise AttemptOver("You have left this example already; what you wrote is kept.")
    attempt.pauses.filter(ended_at=None).update(ended_at=now)
    attempt.refresh_from_db(fields=["state", "ended_at"])


def _move(attempt: Attempt, to: Attempt.State, now: datetime) -> int:
    return move(Attempt.objects.filter(pk=attempt.pk), to=to, by=Actor.ANNOTATOR, now=now)
