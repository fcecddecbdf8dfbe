"""FAIRNESS: the report over a study's versions: what was found, what is undefined, and its rows for files."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from annotation.fairness.findings import TITLES, Answered, Finding, Flaw, answers
from annotation.fairness.gathering import subjects
from annotation.fairness.matrix import matrix
from annotation.fairness.rows import Subject
from annotation.models import Study
from config.cells import csv_line
from examples.models import Version


@dataclass(frozen=True, slots=True)
class Found:
    """A finding of a version."""

    subject: Subject
    finding: Finding

    @property
    def title(self) -> str:
        """The flaw in words."""
        return TITLES[self.finding.flaw]


@dataclass(frozen=True, slots=True)
class VersionReport:
    """A version with the answer to every question."""

    subject: Subject
    answers: tuple[Answered, ...]

    @property
    def undefined(self) -> list[Answered]:
        """The questions that have no answer yet."""
        return [each for each in self.answers if each.undefined]

    @property
    def flaws(self) -> list[Answered]:
        """The questions that found something."""
        return [each for each in self.answers if each.findings]


@dataclass(frozen=True, slots=True)
class Summary:
    """A flaw over all versions: in how many it was found, in how many it could be, of how many."""

    flaw: Flaw
    found: int
    defined: int
    total: int

    @property
    def title(self) -> str:
        """The flaw in words."""
        return TITLES[self.flaw]


@dataclass(frozen=True, slots=True)
class Report:
    """Fairness over the versions of a study."""

    versions: tuple[VersionReport, ...]

    @property
    def found(self) -> list[Found]:
        """Every finding, by flaw, then by version."""
        rows = [
            Found(each.subject, finding)
            for each in self.versions
            for answered in each.answers
            for finding in answered.findings
        ]
        return sorted(rows, key=lambda row: (list(Flaw).index(row.finding.flaw), row.subject.version_id))

    @property
    def summary(self) -> list[Summary]:
        """A line for each flaw."""
        lines = []
        for at, flaw in enumerate(Flaw):
            answered = [each.answers[at] for each in self.versions]
            lines.append(
                Summary(
                    flaw,
                    sum(bool(each.findings) for each in answered),
                    sum(not each.undefined for each in answered),
                    len(answered),
                )
            )
        return lines

    @property
    def missing(self) -> int:
        """How many solutions were never executed with their values kept."""
        return sum(each.subject.missing for each in self.versions)

    @property
    def open(self) -> int:
        """How many executions are still to come."""
        return sum(each.subject.open for each in self.versions)

    @property
    def unjudged(self) -> int:
        """How many executions could not be judged, by our fault."""
        return sum(each.subject.unjudged for each in self.versions)


def report(study: Study, *, names: Mapping[str, str] | None = None) -> Report:
    """Return the report over the versions of a study, on everything that is known of them, from whatever study.

    `names` are what people are called instead of their pseudonyms; whoever is not among them is X01, X02, ….
    """
    versions = Version.objects.filter(slots__study=study).distinct()
    found = subjects(versions)
    if names is not None:
        found = renamed(found, names)
    return Report(tuple(VersionReport(each, tuple(answers(each))) for each in found))


def renamed(found: Sequence[Subject], names: Mapping[str, str]) -> list[Subject]:
    """Return the subjects with people under other names, everywhere the same."""
    people = {one: 0 for each in found for solution in each.solutions for one in solution.people}
    people |= {grade.pseudonym: 0 for each in found for grade in each.grades}
    strangers = sorted(people.keys() - names.keys())
    called = {**names, **{one: f"X{number:02d}" for number, one in enumerate(strangers, 1)}}
    return [
        replace(
            each,
            solutions=tuple(
                replace(one, people=tuple(called[person] for person in one.people)) for one in each.solutions
            ),
            grades=tuple(replace(one, pseudonym=called[one.pseudonym]) for one in each.grades),
        )
        for each in found
    ]


FINDINGS = (
    "version",
    "example",
    "flaw",
    "n",
    "of",
    "sentence",
    "undefined",
    "solutions",
    "people",
    "executions",
    "evidence",
)
MATRIX = (
    "version",
    "example",
    "solution",
    "people",
    "word",
    "accepted",
    "test",
    "outcome",
    "outcomes",
    "executions",
    "line",
    "values",
)


def finding_rows(found: Report) -> Iterator[dict[str, Any]]:
    """Yield a row for each finding, and one for each question that found nothing or is undefined."""
    for each in found.versions:
        for answered in each.answers:
            for finding in answered.findings or (None,):
                yield {
                    "version": each.subject.version_id,
                    "example": each.subject.label,
                    "flaw": str(answered.flaw),
                    "n": answered.n,
                    "of": answered.of,
                    "sentence": finding.sentence if finding else "",
                    "undefined": answered.undefined,
                    "solutions": list(finding.solutions) if finding else [],
                    "people": list(finding.people) if finding else [],
                    "executions": list(finding.executions) if finding else [],
                    "evidence": finding.evidence if finding else {},
                }


def matrix_rows(found: Report) -> Iterator[dict[str, Any]]:
    """Yield a row for each solution under each test of each version."""
    for each in found.versions:
        table = matrix(each.subject)
        for row in table.rows:
            for test, cell in zip(table.tests, row.cells, strict=True):
                yield {
                    "version": each.subject.version_id,
                    "example": each.subject.label,
                    "solution": row.solution.sha256 or "reference",
                    "people": list(row.solution.people),
                    "word": str(row.solution.word),
                    "accepted": row.solution.accepted,
                    "test": test,
                    "outcome": cell.outcome,
                    "outcomes": list(cell.outcomes),
                    "executions": [ran.execution for ran in row.solution.ran],
                    "line": cell.failure.line if cell.failure else None,
                    "values": list(cell.failure.values) if cell.failure else [],
                }


ROWS: dict[str, tuple[tuple[str, ...], Callable[[Report], Iterable[dict[str, Any]]]]] = {
    "findings": (FINDINGS, finding_rows),
    "matrix": (MATRIX, matrix_rows),
}


def as_csv(columns: tuple[str, ...], rows: Iterable[dict[str, Any]]) -> Iterator[bytes]:
    """Yield rows as CSV; what is a list or an object is JSON in its cell."""
    yield csv_line(columns).encode()
    for row in rows:
        yield csv_line(_cell(row[name]) for name in columns).encode()


def as_jsonl(rows: Iterable[dict[str, Any]]) -> Iterator[bytes]:
    """Yield rows as JSON Lines."""
    for row in rows:
        yield (json.dumps(row, ensure_ascii=False) + "\n").encode()


def _cell(value: Any) -> Any:
    return json.dumps(value, ensure_ascii=False) if isinstance(value, list | dict) else value
