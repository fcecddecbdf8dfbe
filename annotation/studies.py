"""STUDY: its versions, people and slots, and its states; what is decided here is written to the audit table."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from django.db import transaction
from django.db.models import QuerySet

from annotation.leases import give_back
from annotation.models import Attempt, Slot, Study, StudyPerson, User
from config.access import Role
from examples.models import Example, Version, audit

BATCH = 500
WARM_UP = "warm-up"  # the dataset of `annotation.onboarding.warm_up`: in every study, and in no figure of any


class StudyRefused(Exception):
    """This is not possible in the study's state; the message says why and what helps."""


@dataclass(frozen=True)
class Choice:
    """Versions fit for a study, and how many were refused, by reason."""

    versions: tuple[int, ...]
    refused: dict[str, int]


def choose(examples: QuerySet[Example]) -> Choice:
    """Return the current versions of the examples whose checks passed, and why the others are refused."""
    fit: list[int] = []
    refused: Counter[str] = Counter()
    rows = examples.order_by("pk").values_list(
        "current", "current__check_state", "current__failed_checks", "status", "dataset__name"
    )
    for version, state, failed, status, dataset in rows.iterator(chunk_size=2000):
        reason = _why_refused(version, state, failed, status)
        if dataset == WARM_UP:
            reason = "is the warm-up"
        if reason:
            refused[reason] += 1
        else:
            fit.append(version)
    return Choice(tuple(fit), dict(sorted(refused.items())))


def _why_refused(version: int | None, state: str | None, failed: str | None, status: str) -> str:
    if version is None:
        return "has no version"
    if status == Example.Status.RETIRED:
        return "is retired"
    if state == Version.CheckState.PASSED:
        return ""
    if state == Version.CheckState.FAILED:
        return f"failed: {(failed or 'a check').replace(',', ', ')}"
    if state == Version.CheckState.UNJUDGED:
        return "checks are unjudged (our failure; ask for them again)"
    return "checks have not finished"


def add_versions(study: Study, choice: Choice, *, by: User) -> int:
    """Add the chosen versions, and return how many were new. In an open study they get their k slots at once."""
    refuse_if_closed(study)
    numbers = range(1, 2) if study.state == Study.State.DRAFT else range(1, study.protocol.solvers + 1)
    known = set(study.slots.values_list("version", flat=True))
    known.update(study.gold_items.values_list("version", flat=True))
    new = [version for version in choice.versions if version not in known]
    with transaction.atomic():
        Slot.objects.bulk_create(
            [Slot(study=study, version_id=version, number=number) for version in new for number in numbers],
            batch_size=BATCH,
        )
        audit(by, "add versions", f"study:{study.pk}", versions=len(new), refused=choice.refused)
    return len(new)


def remove_versions(study: Study, versions: Iterable[int], *, by: User) -> int:
    """Take versions out of a draft, and return how many. Raises StudyRefused once the study has been opened."""
    if study.state != Study.State.DRAFT:
        raise StudyRefused("The protocol is frozen: versions leave a study only while it is a draft.")
    chosen = study.slots.filter(version__in=list(versions))
    count = chosen.values("version").distinct().count()
    with transaction.atomic():
        chosen.delete()
        audit(by, "remove versions", f"study:{study.pk}", versions=count)
    return count


def add_people(study: Study, people: Iterable[User], *, by: User) -> int:
    """Add annotators, or let those in again who were taken out; return how many now take part who did not before."""
    refuse_if_closed(study)
    added = 0
    for person in people:
        if person.role != Role.ANNOTATOR:
            raise StudyRefused(f"{person.pseudonym} is no annotator.")
        row, made = StudyPerson.objects.get_or_create(study=study, person=person)
        if not made and not row.active:
            made = bool(StudyPerson.objects.filter(pk=row.pk).update(active=True))
        added += made
    if added:
        audit(by, "add people", f"study:{study.pk}", people=added)
    return added


def take_out(study: Study, person: User, *, by: User) -> None:
    """Let a person take nothing new in this study; what they have done, and what is open, stays theirs."""
    if StudyPerson.objects.filter(study=study, person=person).update(active=False):
        audit(by, "take out person", f"study:{study.pk}", annotator=person.pseudonym)


def open_study(study: Study, *, by: User, now: datetime) -> None:
    """Open a draft or a paused study: from then on its annotators can take slots. Raises StudyRefused where one is missing."""
    if study.state not in (Study.State.DRAFT, Study.State.PAUSED):
        raise StudyRefused(f"A study that is {study.get_state_display()} cannot be opened.")
    if not study.slots.exists():
        raise StudyRefused("Choose at least one version first.")
    if not study.people.filter(active=True).exists():
        raise StudyRefused("Add at least one annotator first.")
    with transaction.atomic():
        study.protocols.filter(number=1, frozen_at=None).update(frozen_at=now)
        fill_slots(study)
        _move(study, Study.State.OPEN, by=by, opened_at=study.opened_at or now)


def pause_study(study: Study, *, by: User) -> None:
    """Give out nothing new; who has an example open may finish it."""
    if study.state != Study.State.OPEN:
        raise StudyRefused("Only an open study can be paused.")
    _move(study, Study.State.PAUSED, by=by)


def close_study(study: Study, *, by: User, now: datetime) -> int:
    """End the study for good, and return how many open attempts were ended by that. Verdicts due can still be given."""
    if study.state not in (Study.State.OPEN, Study.State.PAUSED):
        raise StudyRefused("Only an open or paused study can be closed.")
    unfinished = [Attempt.State.OPEN, Attempt.State.DEFERRED]
    open_ones = Attempt.objects.filter(slot__study=study, state__in=unfinished).select_related("slot")
    with transaction.atomic():
        _move(study, Study.State.CLOSED, by=by, closed_at=now)
        return sum(give_back(attempt.slot, now=now) for attempt in open_ones)


def fill_slots(study: Study) -> int:
    """Insert the slots that are missing for k per version, and return how many; run twice it inserts nothing."""
    places = Slot.objects.filter(study=study).of_the_study()
    have = set(places.values_list("version", "number"))
    versions = {version for version, _ in have}
    paused = set(places.filter(paused=True).values_list("version", flat=True))
    missing = [
        Slot(study=study, version_id=version, number=number, paused=version in paused)
        for version in sorted(versions)
        for number in range(1, study.protocol.solvers + 1)
        if (version, number) not in have
    ]
    Slot.objects.bulk_create(missing, batch_size=BATCH)
    return len(missing)


def release_slot(slot: Slot, *, by: User, now: datetime) -> bool:
    """Give a taken slot back on a curator's decision; drafts stay with the person. False where it was not taken."""
    held_by = slot.annotator.pseudonym if slot.annotator else ""
    if not give_back(slot, now=now):
        return False
    audit(by, "release slot", f"slot:{slot.pk}", held_by=held_by)
    return True


def _move(study: Study, state: Study.State, *, by: User, **times: datetime | None) -> None:
    """Change the state once; raises StudyRefused where somebody else has changed it meanwhile."""
    before = study.state
    if not Study.objects.filter(pk=study.pk, state=before).update(state=state, **times):
        raise StudyRefused("Somebody has changed the study meanwhile; look at it again.")
    study.refresh_from_db()
    audit(by, f"study {state}", f"study:{study.pk}", before=before)


def refuse_if_closed(study: Study) -> None:
    """Raise StudyRefused where the study is closed."""
    if study.state == Study.State.CLOSED:
        raise StudyRefused("The study is closed; make a new one.")
