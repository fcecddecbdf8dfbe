"""STUDY: a person leaves: their rows stay under the pseudonym, and are in figures or, at their wish, not."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from django.db import transaction
from django.db.models import Exists, OuterRef, QuerySet

from annotation.leases import HELD, give_back
from annotation.models import Attempt, Slot, Study, StudyPerson, User, Withdrawal
from annotation.transitions import Actor
from examples.models import audit


@dataclass(frozen=True, slots=True)
class Withdrawn:
    """How many people withdrew from a study, and how many of them asked to be left out of its figures."""

    people: int
    left_out: int


def withdraw(member: StudyPerson, *, leave_out: bool, by: User, now: datetime, words: str = "") -> Withdrawal:
    """Let a person leave a study, and return the record of it; said twice, only a further wish is added.

    They get nothing more, what they hold goes back, and nothing is deleted. The counts before and after are logged.
    Releases are frozen and stay as they are; figures and exports of an earlier moment can be had again by `as_of`.
    """
    study = member.study
    with transaction.atomic():
        before = _counted(study)
        StudyPerson.objects.filter(pk=member.pk).update(active=False)
        for slot in Slot.objects.filter(study=study, annotator=member.person_id, state__in=HELD):
            give_back(slot, now=now, by=Actor.ANNOTATOR)
        row = Withdrawal.objects.create(
            member=member, leave_out=leave_out, words=words.strip(), recorded_by=by, at=now
        )
        audit(
            by,
            "withdraw from study",
            f"study:{study.pk}",
            annotator=member.person.pseudonym,
            leave_out=leave_out,
            closed_attempts_counted_before=before,
            closed_attempts_counted_after=_counted(study),
        )
    return row


def _counted(study: Study) -> int:
    """Return how many closed attempts of the study nobody asked to be left out."""
    closed = Attempt.objects.filter(slot__study=study, state=Attempt.State.CLOSED).counted()
    return closed.filter(~asked_to_be_left_out(study="slot__study", person="annotator")).count()


def asked_to_be_left_out(*, study: str, person: str, as_of: datetime | None = None) -> Exists:
    """Return whether a row's person asked to be left out of the row's study by then, for the named columns."""
    asked = Withdrawal.objects.filter(
        leave_out=True, member__study=OuterRef(study), member__person=OuterRef(person)
    )
    return Exists(asked.filter(at__lte=as_of) if as_of else asked)


def withdrawn_of(study: Study, *, as_of: datetime | None = None) -> Withdrawn:
    """Return how many withdrew by then, in one query."""
    rows: QuerySet[Withdrawal] = Withdrawal.objects.filter(member__study=study)
    if as_of:
        rows = rows.filter(at__lte=as_of)
    wishes: dict[int, bool] = {}
    for member, leave_out in rows.values_list("member", "leave_out"):
        wishes[member] = wishes.get(member, False) or leave_out
    return Withdrawn(len(wishes), sum(wishes.values()))
