"""ADJUDICATE: the queue: versions on which people, or people and executions, disagree; and submissions that were flagged."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from django.db.models import Q, QuerySet

from annotation.adjudication import Flagged, conflict, flagged, worked_on
from annotation.evidence import BLAMING, SEVERE, complaints, standings, undecided, unsolved_versions
from annotation.models import SecondReading, User, Verdict
from annotation.readings import Standing
from examples.models import Version

APART = 2


class Kind(StrEnum):
    """Why a version is in the queue; one may be there for several reasons."""

    PEOPLE = "people"
    EXECUTION = "execution"
    TESTS = "tests"
    INSTRUCTION = "instruction"
    UNSOLVED = "unsolved"
    SECOND = "second"
    FLAGGED = "flagged"


TITLES = {
    Kind.PEOPLE: "people disagree",
    Kind.EXECUTION: "against the execution",
    Kind.TESTS: "tests disputed",
    Kind.INSTRUCTION: "instruction disputed",
    Kind.UNSOLVED: "nobody solved it",
    Kind.SECOND: "second reader",
    Kind.FLAGGED: "could not be confirmed",
}
MEANINGS = {
    Kind.PEOPLE: "one says solved and another blames the example, or their grades are two or more apart",
    Kind.EXECUTION: "somebody blames the example although it was executed to an outcome, or says solved where nothing passed",
    Kind.TESTS: "somebody rates the tests 2 or 3 of 3, or closed with “tests wrong or over-strict”",
    Kind.INSTRUCTION: "somebody rates the instruction 2 or 3 of 3, or closed with “under-specified”",
    Kind.UNSOLVED: "all its places are closed and nobody independent solved it",
    Kind.SECOND: "a second reader was asked for, and two people have not decided the same yet",
    Kind.FLAGGED: "a submission passed its tests, and one with a wrong expectation too",
}


@dataclass(frozen=True, slots=True)
class Said:
    """A verdict, as far as a case is made of it."""

    outcome: str
    solved: bool
    instruction_quality: int
    test_quality: int


@dataclass(frozen=True, slots=True)
class Case:
    """A version that waits for a decision: why, what was said, since when; `refusal` says why the reader may not decide."""

    version: Version
    kinds: tuple[Kind, ...]
    verdicts: tuple[Verdict, ...]
    since: datetime
    standing: Standing | None
    refusal: str

    @property
    def titles(self) -> list[str]:
        """The kinds in words."""
        return [TITLES[kind] for kind in self.kinds]


@dataclass(frozen=True, slots=True)
class Queue:
    """Everything that waits for a curator, longest waiting first."""

    cases: tuple[Case, ...]
    flagged: tuple[Flagged, ...]

    def count(self, kind: Kind) -> int:
        """Return how many are there for that reason."""
        if kind is Kind.FLAGGED:
            return len(self.flagged)
        return sum(kind in case.kinds for case in self.cases)

    def of(self, kind: Kind | None) -> Queue:
        """Return those of a kind, all for None."""
        if kind is None:
            return self
        cases = tuple(case for case in self.cases if kind in case.kinds)
        return Queue(cases, self.flagged if kind is Kind.FLAGGED else ())

    @property
    def total(self) -> int:
        """How many wait."""
        return len(self.cases) + len(self.flagged)


def kinds_of(verdicts: Sequence[Said], *, unsolved: bool = False, second: bool = False) -> tuple[Kind, ...]:
    """Return why a version with these verdicts waits for a decision; pure."""
    blamed = [each for each in verdicts if each.outcome in BLAMING]
    boast = any(each.outcome == Verdict.Outcome.SOLVED and not each.solved for each in verdicts)
    apart = any(
        max(grades) - min(grades) >= APART
        for grades in (
            [each.instruction_quality for each in verdicts],
            [each.test_quality for each in verdicts],
        )
        if grades
    )
    parted = bool(blamed) and any(each.outcome == Verdict.Outcome.SOLVED for each in verdicts)
    strict = any(
        each.test_quality >= SEVERE or each.outcome == Verdict.Outcome.TESTS_WRONG for each in verdicts
    )
    vague = any(
        each.instruction_quality >= SEVERE or each.outcome == Verdict.Outcome.UNDERSPECIFIED
        for each in verdicts
    )
    found = {
        Kind.PEOPLE: apart or parted,
        Kind.EXECUTION: bool(blamed) or boast,
        Kind.TESTS: strict,
        Kind.INSTRUCTION: vague,
        Kind.UNSOLVED: unsolved,
        Kind.SECOND: second,
    }
    return tuple(kind for kind, is_so in found.items() if is_so)


def queue(person: User) -> Queue:
    """Return what waits for a curator, in a fixed number of queries."""
    concerned = set(_open().values_list("attempt__slot__version", flat=True))
    unsolved = set(unsolved_versions().values_list("pk", flat=True))
    second = {each.version_id: each for each in SecondReading.objects.order_by("pk")}
    readings = standings(list(second)) if second else {}
    waiting = {pk for pk, each in readings.items() if each.is_open}
    verdicts: dict[int, list[Verdict]] = defaultdict(list)
    for verdict in _verdicts().filter(attempt__slot__version__in=concerned | unsolved | waiting):
        verdicts[verdict.attempt.slot.version_id].append(verdict)
    versions = {said[0].attempt.slot.version_id: said[0].attempt.slot.version for said in verdicts.values()}
    bare = waiting - versions.keys()
    if bare:  # a second reader was asked for where nobody gave a verdict
        versions |= Version.objects.select_related("example__dataset").in_bulk(bare)
    worked = worked_on(person)
    cases = []
    for pk, version in versions.items():
        said = verdicts.get(pk, [])
        open_ones = [_said(each) for each in said] if pk in concerned else []
        kinds = kinds_of(open_ones, unsolved=pk in unsolved, second=pk in waiting)
        since = min((each.created_at for each in said), default=None) or second[pk].asked_at
        reading = readings.get(pk) if pk in waiting else None
        refusal = conflict(version, person, worked)
        cases.append(Case(version, kinds, tuple(said), since, reading, refusal))
    return Queue(tuple(sorted(cases, key=lambda case: case.since)), tuple(flagged(person)))


def case_of(version: Version, person: User) -> Case:
    """Return the case of one version, whether or not it waits; `kinds` is empty where nothing is open."""
    said = list(_verdicts().filter(attempt__slot__version=version))
    reading = standings([version.pk]).get(version.pk)
    is_open = _open().filter(attempt__slot__version=version).exists()
    unsolved = unsolved_versions().filter(pk=version.pk).exists()
    kinds = kinds_of(
        [_said(each) for each in said] if is_open else [],
        unsolved=unsolved,
        second=bool(reading and reading.is_open),
    )
    since = min((each.created_at for each in said), default=version.created_at)
    return Case(version, kinds, tuple(said), since, reading, conflict(version, person, worked_on(person)))


def _open() -> QuerySet[Verdict]:
    """Return the verdicts that make a case: complaints, and "solved" where nothing passed, undecided since."""
    return undecided().filter(complaints() | Q(outcome=Verdict.Outcome.SOLVED, solved=False))


def _verdicts() -> QuerySet[Verdict]:
    return Verdict.objects.select_related(
        "attempt__annotator",
        "attempt__slot__version__example__dataset",
        "attempt__slot__study",
        "attempt__reveal__judgement",
    ).order_by("created_at", "pk")


def _said(verdict: Verdict) -> Said:
    return Said(verdict.outcome, verdict.solved, verdict.instruction_quality, verdict.test_quality)
