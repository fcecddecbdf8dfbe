"""ADJUDICATE: a case as its page shows it: what was asked, written, executed, said and decided, side by side."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from annotation.carrying import carries
from annotation.cases import Case, case_of
from annotation.fairness.findings import Answered, answers
from annotation.fairness.gathering import rans, subjects
from annotation.fairness.matrix import Cell, Matrix, matrix
from annotation.fairness.rows import Ran, Solution, Subject
from annotation.fixing import draft_of
from annotation.flips import Flip, Line, lines, tally
from annotation.models import Adjudication, Assessment, Attempt, Fix, SecondReading, Trial, User
from annotation.solutions import ALTERNATIVE, Recorded, recorded
from examples.editing import edit_of
from examples.models import Alternative, Version
from examples.showing import ContextShown, TestsShown, shown_context, shown_tests, whole_reference

REFERENCE = "reference"


@dataclass(frozen=True, slots=True)
class Sheet:
    """One solution beside others: its code, who wrote it, what came of it under each test."""

    name: str
    solution: Solution
    source: str
    origins: Sequence[str]
    cells: tuple[Cell, ...]
    attempts: Sequence[int]

    @property
    def shown(self) -> Ran | None:
        """The execution that says most of it."""
        return self.solution.best


@dataclass(frozen=True, slots=True)
class CasePage:
    """Everything on the page of a case."""

    case: Case
    version: Version
    context: ContextShown
    tests: TestsShown
    reference: str
    subject: Subject
    matrix: Matrix
    answers: list[Answered]
    sheets: list[Sheet]
    left: Sheet
    right: Sheet | None
    attempts: list[Attempt]
    decisions: list[Adjudication]
    second_readings: list[SecondReading]
    assessments: list[Assessment]
    alternatives: list[Alternative]
    fixes: list[Fix]

    @property
    def sides(self) -> list[tuple[str, Sheet]]:
        """The two solutions that are compared, each with the name of its side; one where there is no other."""
        return [("a", self.left), *([("b", self.right)] if self.right else [])]

    @property
    def findings(self) -> list[Answered]:
        """The questions that found something."""
        return [each for each in self.answers if each.findings]

    @property
    def undefined(self) -> list[Answered]:
        """The questions that have no answer yet."""
        return [each for each in self.answers if each.undefined]


def case_page(version: Version, person: User, *, left: str = "", right: str = "") -> CasePage:
    """Return the page of a version's case; `left` and `right` name the two solutions to be compared ("" chooses)."""
    subject = subjects(Version.objects.filter(pk=version.pk))[0]
    table = matrix(subject)
    sheets = _sheets(version, table)
    by_name = {each.name: each for each in sheets}
    first = by_name.get(left, sheets[0])
    second = by_name.get(right) or next((each for each in _telling(sheets) if each is not first), None)
    attempts = Attempt.objects.filter(slot__version=version).select_related("annotator", "slot__study")
    return CasePage(
        case=case_of(version, person),
        version=version,
        context=shown_context(version),
        tests=shown_tests(version),
        reference=edit_of(version).reference,
        subject=subject,
        matrix=table,
        answers=answers(subject),
        sheets=sheets,
        left=first,
        right=second,
        attempts=list(attempts.order_by("pk")),
        decisions=list(version.adjudications.select_related("decided_by").order_by("-pk")),
        second_readings=list(version.second_readings.select_related("asked_by").order_by("-pk")),
        assessments=list(version.assessments.select_related("made_by").order_by("-pk")),
        alternatives=list(
            Alternative.objects.filter(example=version.example_id).select_related(
                "accepted_by", "withdrawn_by", "version"
            )
        ),
        fixes=list(version.fixes.select_related("made_by", "made").order_by("-pk")),
    )


def _sheets(version: Version, table: Matrix) -> list[Sheet]:
    """Return a sheet for each row of the matrix: the reference as the whole function, the rest as it was written."""
    written = {each.sha256: each for each in recorded(version)}
    tried = {trial.sha256: trial for trial in Trial.objects.filter(version=version).order_by("pk")}
    sheets = []
    for row in table.rows:
        one = written.get(row.solution.sha256)
        if one is None and (trial := tried.get(row.solution.sha256)) and row.solution.sha256:
            one = Recorded(trial.sha256, trial.function, trial.module)
        if row.solution.is_reference:
            name, source = REFERENCE, whole_reference(version)
        else:
            name, source = row.solution.name, one.source if one else ""
        sheets.append(
            Sheet(
                name,
                row.solution,
                source,
                one.origins if one else (),
                row.cells,
                one.attempts if one else (),
            )
        )
    return sheets


def _telling(sheets: Sequence[Sheet]) -> list[Sheet]:
    """Return the sheets, first what failed and is not known to be wrong: that is what a case is mostly about."""
    return sorted(sheets, key=lambda each: (each.solution.passed is not False, each.solution.word == "wrong"))


@dataclass(frozen=True, slots=True)
class FixLine:
    """A solution under a fix: who wrote it, its line of outcomes."""

    name: str
    people: Sequence[str]
    origins: Sequence[str]
    line: Line


@dataclass(frozen=True, slots=True)
class FixPage:
    """A fix as its page shows it: what it changes, who flips, and what can be done with it."""

    fix: Fix
    draft: Version
    lines: list[FixLine]
    open: int
    unjudged: int
    missing: int
    same_task: bool

    @property
    def done(self) -> int:
        """How many executions against the fix have ended."""
        return sum(each.line.after is not None and each.line.flip is not Flip.OPEN for each in self.lines)

    @property
    def total(self) -> int:
        """How many programs there are: the reference and the solutions."""
        return len(self.lines)

    @property
    def tally(self) -> dict[Flip, int]:
        """How many solutions each flip has; the reference is no solution."""
        return tally(each.line for each in self.lines if each.line.sha256)

    @property
    def flips(self) -> int:
        """How many solutions pass or fail now that did not before."""
        return self.tally[Flip.PASSES] + self.tally[Flip.FAILS]

    @property
    def rejected(self) -> list[FixLine]:
        """The accepted alternatives that it rejects: no release may hold it while that is so."""
        return [
            each
            for each in self.lines
            if ALTERNATIVE in each.origins
            and each.line.after is not None
            and each.line.after.judged
            and not each.line.after.passed
        ]

    @property
    def reference(self) -> Line:
        """The reference's line."""
        return self.lines[0].line

    @property
    def ready(self) -> bool:
        """Whether everything was executed and the reference passes, so that it may be accepted."""
        after = self.reference.after
        return not self.open and not self.missing and after is not None and after.passed

    @property
    def seen(self) -> str:
        """How far it is, in short; the page says it when it asks again."""
        return f"{self.fix.pk}-{self.done}-{self.open}-{self.fix.state}"


def fix_page(fix: Fix) -> FixPage:
    """Return the page of a fix, in a number of queries that does not grow with the solutions."""
    base = fix.base
    subject = subjects(Version.objects.filter(pk=base.pk))[0]
    trials = {
        trial.sha256: trial
        for trial in fix.trials.filter(number=1).defer("execution__job_data").order_by("pk")
    }
    written = {each.sha256: each for each in recorded(base)}
    done = rans(trial.execution_id for trial in trials.values())
    after = {sha256: done[trial.execution_id] for sha256, trial in trials.items()}
    before = {each.sha256: each.ran for each in subject.solutions}
    draft = draft_of(fix)
    hashes = ["", *dict.fromkeys([*written, *(each for each in trials if each)])]
    made = lines(hashes, before, after, old=base.expected, new=draft.expected)
    runs = [*after.values(), *(ran for each in hashes for ran in before.get(each, ()))]
    return FixPage(
        fix=fix,
        draft=draft,
        lines=[
            FixLine(
                line.sha256[:8] or REFERENCE,
                written[line.sha256].people if line.sha256 in written else (),
                written[line.sha256].origins if line.sha256 in written else (),
                line,
            )
            for line in made
        ],
        open=sum(ran.state in ("queued", "running") for ran in runs),
        unjudged=sum(ran.state == "unjudged" for ran in after.values()),
        missing=sum(each not in trials for each in hashes),
        same_task=carries(fix, draft),
    )
