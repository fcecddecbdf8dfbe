"""CURATE: what the list says of each example: signs of its checks, solvers, size; in a fixed number of queries."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from django.db.models import Case, IntegerField, When
from django.db.models.fields.json import KT
from django.db.models.functions import Cast

from examples.checking.run import CHECKS, TITLES
from examples.models import Check, Example, Version

State = Version.CheckState
LETTERS = dict(zip(CHECKS, "RETSNPL", strict=True))


class Mark(NamedTuple):
    """A sign: class of site.css, glyph, and the word it stands for."""

    kind: str
    glyph: str
    word: str


MARKS = {
    Check.State.PASSED: Mark("ok", "pass", "passed"),
    Check.State.FAILED: Mark("bad", "fail", "failed"),
    Check.State.UNJUDGED: Mark("warn", "warn", "unjudged"),
    Check.State.RUNNING: Mark("act", "run", "running"),
}
WAITING = Mark("none", "ring", "waiting")
NOT_RUN = Mark("none", "none", "not run")
RUNNING = MARKS[Check.State.RUNNING]
SOLVED = Mark("ok", "dot", "solved")
UNSOLVED = Mark("bad", "ring", "not solved")
WORKING = Mark("act", "half", "in progress")
STATUS_MARKS = {
    Example.Status.CANDIDATE: Mark("", "ring", "candidate"),
    Example.Status.ACCEPTED: Mark("ok", "pass", "accepted"),
    Example.Status.RETIRED: Mark("none", "none", "retired"),
}


@dataclass(frozen=True)
class Row:
    """One example of the list; `assertions` is how many the reference reached, None before it ran."""

    example: Example
    version: Version | None
    checks: tuple[Mark, ...]
    told: str
    assertions: int | None
    solvers: tuple[Mark, ...]
    status: Mark

    @property
    def pattern(self) -> str:
        """The name of the drawing of its checks, one letter each; "" where a sign turns, which no drawing can."""
        return "" if RUNNING in self.checks else "".join(mark.word[0] for mark in self.checks)

    @property
    def solved(self) -> str:
        """What the signs of the solvers say, in words."""
        closed = [mark for mark in self.solvers if mark != WORKING]
        words = [f"{closed.count(SOLVED)} of {len(closed)} solved"] if closed else []
        at_work = len(self.solvers) - len(closed)
        return ", ".join([*words, f"{at_work} in progress"] if at_work else words)

    @property
    def is_open(self) -> bool:
        """Whether its checks wait or run."""
        return self.version is not None and self.version.check_state in (State.PENDING, State.RUNNING)


class _Found(NamedTuple):
    states: dict[str, str]
    assertions: int | None


def rows(ids: Sequence[int]) -> list[Row]:
    """Return the rows of these examples, in this order, in three queries."""
    shown = (
        Example.objects.filter(pk__in=ids)
        .select_related("current", "dataset")
        .only(
            "title",
            "key",
            "status",
            "dataset__name",
            "current__number",
            "current__check_state",
            "current__example",
        )
    )
    by_id = {example.pk: example for example in shown}
    versions = [example.current_id for example in by_id.values() if example.current_id]
    found, solvers = _checks(versions), _solvers(versions)
    return [_row(by_id[pk], found, solvers) for pk in ids if pk in by_id]


def patterns(shown: Iterable[Row]) -> dict[str, list[tuple[int, Mark]]]:
    """Return each distinct drawing of checks, sign by sign with its distance from the left in px, drawn once a page."""
    return {
        row.pattern: [(3 + 20 * at, mark) for at, mark in enumerate(row.checks)]
        for row in shown
        if row.pattern
    }


def _row(example: Example, found: dict[int, _Found], solvers: dict[int, list[Mark]]) -> Row:
    version = example.current
    of_version = found.get(example.current_id or 0, _Found({}, None))
    marks = marks_of(version, of_version.states)
    return Row(
        example,
        version,
        marks,
        in_words(marks),
        of_version.assertions,
        tuple(solvers.get(example.current_id or 0, ())),
        STATUS_MARKS[Example.Status(example.status)],
    )


def marks_of(version: Version | None, states: dict[str, str]) -> tuple[Mark, ...]:
    """Return a sign for each check, in the fixed order; those of a version that waits or runs are not known yet."""
    if version is not None and version.check_state in (State.PENDING, State.RUNNING):
        return (WAITING if version.check_state == State.PENDING else RUNNING,) * len(CHECKS)
    return tuple(MARKS[Check.State(states[name])] if name in states else NOT_RUN for name in CHECKS)


def in_words(marks: Iterable[Mark]) -> str:
    """Return the signs of the checks as one sentence, for those who do not see them."""
    named = list(zip(TITLES.values(), marks, strict=True))
    if len({mark.word for _, mark in named}) == 1:
        return f"all {len(named)} checks {named[0][1].word}"
    passed = sum(mark.word == "passed" for _, mark in named)
    rest = "; ".join(f"{title}: {mark.word}" for title, mark in named if mark.word != "passed")
    return f"{passed} of {len(named)} checks passed; {rest}"


def _checks(versions: Sequence[int]) -> dict[int, _Found]:
    """Return the states of the checks by version; of the evidence only how many assertions were reached."""
    reached = Case(When(name="tests_ran", then=Cast(KT("evidence__assertions"), IntegerField())))
    states: dict[int, dict[str, str]] = defaultdict(dict)
    assertions: dict[int, int] = {}
    told = (
        Check.objects.filter(version__in=versions).order_by().values_list("version", "name", "state", reached)
    )
    for version, name, state, count in told:
        states[version][name] = state
        if count is not None:
            assertions[version] = count
    return {version: _Found(found, assertions.get(version)) for version, found in states.items()}


def _solvers(versions: Sequence[int]) -> dict[int, list[Mark]]:
    """Return a sign for each taken slot of the versions, by version: solved, not solved, in progress."""
    taken = (
        Version.objects.filter(
            pk__in=versions, slots__state__in=["taken", "closed"], slots__kind__in=["study", "extra"]
        )
        .order_by("pk", "slots__study", "slots__number")
        .values_list("pk", "slots__attempts__state", "slots__attempts__verdict__solved")
    )
    found: dict[int, list[Mark]] = defaultdict(list)
    for version, state, solved in taken:
        if state in ("open", "submitted", "closed"):
            found[version].append(WORKING if solved is None else SOLVED if solved else UNSOLVED)
    return found
