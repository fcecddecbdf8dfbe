"""ONBOARDING: gold examples: marked by curators, scored by execution; the qualification, its one retry, and later ones."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from math import ceil

from django.db import transaction
from django.db.models import QuerySet

from annotation.broken import stopped
from annotation.models import Attempt, GoldItem, Slot, Study, StudyPerson, User
from annotation.revealing import known_to
from annotation.studies import StudyRefused, fill_slots, refuse_if_closed
from examples.models import audit

Purpose = GoldItem.Purpose


@dataclass(frozen=True)
class Score:
    """A round of the qualification: `solved` of `done`, of `total` items; `retry` says that it is the second round.

    passed  every item is done and the share solved reaches the pass mark
    failed  every item of the last round there is is done, and it does not
    """

    solved: int
    done: int
    total: int
    pass_mark: float
    retry: bool
    passed: bool
    failed: bool

    @property
    def needed(self) -> int:
        """Return how many have to be solved."""
        return ceil(self.pass_mark * self.total - 1e-9)


def mark_gold(study: Study, version: int, *, purpose: str, by: User) -> GoldItem:
    """Make a version of the study a gold item: its free places go, and it is in no figure. Raises StudyRefused."""
    refuse_if_closed(study)
    if purpose not in Purpose.values:
        raise StudyRefused("Choose what the gold example is for.")
    with transaction.atomic():
        places = Slot.objects.filter(study=study, version=version).of_the_study()
        count = places.count()
        if not count:
            raise StudyRefused("This version is not in the study.")
        untouched = places.filter(state=Slot.State.FREE, attempts=None)
        if untouched.count() < count:
            raise StudyRefused("Somebody has begun this version: it counts, and can be gold no more.")
        Slot.objects.filter(pk__in=list(untouched.values_list("pk", flat=True))).delete()
        item = GoldItem.objects.create(study=study, version_id=version, purpose=purpose, marked_by=by)
        audit(by, "mark gold", f"study:{study.pk}", version=version, purpose=purpose)
    return item


def unmark_gold(item: GoldItem, *, by: User) -> None:
    """Make a gold item an ordinary version of the study again. Raises StudyRefused once somebody has begun it."""
    refuse_if_closed(item.study)
    if Slot.objects.filter(study=item.study_id, version=item.version_id).exists():
        raise StudyRefused("Somebody has begun this gold example, so it stays one.")
    with transaction.atomic():
        Slot.objects.create(study=item.study, version_id=item.version_id, number=1)
        if item.study.state != Study.State.DRAFT:
            fill_slots(item.study)
        audit(by, "unmark gold", f"study:{item.study_id}", version=item.version_id)
        item.delete()


def later_items(member: StudyPerson) -> QuerySet[GoldItem]:
    """Return the gold items that are mixed into the person's work; what they have seen the reference of measures nothing."""
    items = GoldItem.objects.filter(study=member.study_id, purpose=Purpose.LATER)
    items = items.exclude(version__in=known_to(member.person_id).values("pk"))
    return items.exclude(version__in=stopped(member.study_id)).order_by("pk")


def qualification_of(member: StudyPerson) -> Score:
    """Return how the person stands in the qualification: in the second round once the first was done and not passed."""
    found = scores_of(member.study, [member.person_id])
    return found[member.person_id]


def scores_of(study: Study, people: Iterable[int]) -> dict[int, Score]:
    """Return the same for several people, in two queries.

    An item is solved when a submission passed; one that was declined is not solved; one reported broken is left out, by
    everybody until the curators find that it is whole.
    """
    marked = GoldItem.objects.filter(study=study).exclude(purpose=Purpose.LATER)
    items = list(marked.exclude(version__in=stopped(study.pk)))
    attempts = Attempt.objects.filter(slot__study=study, slot__kind=Slot.Kind.QUALIFICATION)
    states: dict[int, dict[int, tuple[str, bool]]] = defaultdict(dict)
    for person, version, state, solved in attempts.values_list(
        "annotator", "slot__version", "state", "verdict__solved"
    ):
        states[person][version] = (state, bool(solved))
    mark = study.protocol.pass_mark or 0.0
    rounds = {
        purpose: [item.version_id for item in items if item.purpose == purpose]
        for purpose in (Purpose.QUALIFICATION, Purpose.RETRY)
    }
    return {person: _score(rounds, states[person], mark) for person in people}


def _score(rounds: dict[Purpose, list[int]], mine: dict[int, tuple[str, bool]], mark: float) -> Score:
    first = _round(rounds[Purpose.QUALIFICATION], mine, mark, retry=False)
    if not first.failed or not rounds[Purpose.RETRY]:
        return first
    return _round(rounds[Purpose.RETRY], mine, mark, retry=True)


def _round(versions: list[int], mine: dict[int, tuple[str, bool]], mark: float, *, retry: bool) -> Score:
    counted = [mine[v] for v in versions if v in mine and mine[v][0] in ("closed", "declined")]
    total = sum(v not in mine or mine[v][0] != Attempt.State.REPORTED for v in versions)
    solved, done = sum(is_solved for _, is_solved in counted), len(counted)
    over = total > 0 and done >= total
    reached = over and solved >= ceil(mark * total - 1e-9)
    return Score(solved, done, total, mark, retry, passed=reached, failed=over and not reached)


def due_of(member: StudyPerson) -> int | None:
    """Return the gold version of the qualification that is due, None where there is none."""
    score = qualification_of(member)
    purpose = Purpose.RETRY if score.retry else Purpose.QUALIFICATION
    left_behind = Attempt.objects.filter(
        annotator=member.person_id,
        slot__study=member.study_id,
        state__in=[Attempt.State.CLOSED, Attempt.State.DECLINED, Attempt.State.REPORTED],
    )
    items = GoldItem.objects.filter(study=member.study_id, purpose=purpose)
    items = items.exclude(version__in=stopped(member.study_id))
    due = items.exclude(version__in=left_behind.values("slot__version")).order_by("pk")
    return due.values_list("version", flat=True).first()


def may_see_answer(attempt: Attempt) -> bool:
    """Return whether a closed gold attempt of the qualification may show what was expected.

    Not where the version stands in another study that is not closed: there it still measures somebody.
    """
    if attempt.state != Attempt.State.CLOSED or attempt.slot.kind != Slot.Kind.QUALIFICATION:
        return False
    elsewhere = Slot.objects.filter(version=attempt.slot.version_id).of_the_study()
    return not elsewhere.exclude(study__state=Study.State.CLOSED).exists()
