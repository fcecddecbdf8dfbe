"""ATTEMPT: what stands below the editor: the visible tests, what runs came to, all runs; as their author may read it."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import NamedTuple

from annotation.attempts import Progress, settle, submissions_among
from annotation.beats import active_seconds
from annotation.models import Attempt, Run
from annotation.runs import unpacked
from annotation.workspace import Expectation, ShownTests, shown_tests
from examples.assembly import Origin
from examples.jobs import limits_of
from examples.languages.python.answers import Mark
from examples.tracebacks import error_lines, map_traceback
from runner.models import Execution, TestRow
from runner.outcome import Outcome
from runner.queueing import REPLACED, ahead_of

PLACE = re.compile(r"\(solution\.\w+, line (\d+)\)$")
# What the history shows of a run: of many runs neither code nor output is fetched.
IN_HISTORY = (
    "number",
    "kind",
    "created_at",
    "attempt",
    "execution__state",
    "execution__sequence",
    "execution__outcome",
    "execution__tampered",
    "execution__reason",
    "execution__queue",
    "execution__started_at",
)
# How many runs the history shows at once: the newest. Each costs half a millisecond of every drawing.
HISTORY_RUNS = 8
# A run that has waited no longer than this has found a box all but free: nobody asks for its place.
NO_QUEUE = timedelta(seconds=0.5)
EDITORS = {"function": "solution", "module": "helpers"}


@dataclass(frozen=True)
class ResultRow:
    """A visible assertion with what came of it; `values` are the compared values, left then right."""

    expectation: Expectation
    outcome: str
    message: str = ""
    values: tuple[str, ...] = ()
    milliseconds: float | None = None


class Way(NamedTuple):
    """How far an open run has come: seconds since it began, None while it waits; how many wait before it; its limit."""

    seconds: float | None
    ahead: int
    limit_seconds: float


@dataclass(frozen=True)
class Result:
    """What a run came to, as its author may read it.

    rows      the visible assertions, in order; none for a scratch run or a submission
    passed    how many tests of a submission passed, of `tests`; None where that is unknown
    errors    error texts with the lines of the editor in them
    marks     places in the editor
    way       how far it has come while it is open
    """

    run: Run
    rows: tuple[ResultRow, ...] = ()
    tests: int = 0
    passed: int | None = None
    errors: tuple[str, ...] = ()
    marks: tuple[Mark, ...] = ()
    stdout: str = ""
    stderr: str = ""
    way: Way | None = None

    @property
    def size(self) -> int:
        """Return how many lines were received, both regions together."""
        return len(self.run.function.splitlines()) + len(self.run.module.splitlines())

    @property
    def characters(self) -> int:
        """Return how many characters were received, both regions together."""
        return len(self.run.function) + len(self.run.module)

    @property
    def replaced(self) -> bool:
        """Return whether the person asked for a newer run before this one began: nobody failed."""
        return _is_replaced(self.run)

    @property
    def summary(self) -> str:
        """Return how many rows came to what: "2 passed, 1 failed, 1 not run"."""
        words = {"PASSED": "passed", "FAILED": "failed", "": "not run", "NOT_RUN": "not run"}
        named = [words.get(row.outcome, "failed") for row in self.rows]
        return ", ".join(
            f"{named.count(word)} {word}" for word in ("passed", "failed", "not run") if word in named
        )


def result_of(run: Run) -> Result:
    """Return what the author of a run may read of it.

    Of a submission only outcome and counts: its rows, messages and output may quote hidden tests.
    """
    execution = run.execution
    if run.kind == Run.Kind.SUBMISSION:
        return _of_submission(run, execution)
    origins = unpacked(run.lines)
    rows = _visible_rows(run, execution) if run.kind == Run.Kind.VISIBLE else ()
    texts = [execution.load_error, execution.stderr]
    marks = [mark for text in texts for mark in error_lines(text, origins)]
    marks += [mark for row in rows for mark in _said_in(row.message, origins)]
    return Result(
        run=run,
        rows=tuple(replace(row, message=map_traceback(row.message, origins)) for row in rows),
        errors=(map_traceback(execution.load_error, origins),) if execution.load_error else (),
        marks=tuple(dict.fromkeys(marks)),
        stdout=execution.stdout,
        stderr=map_traceback(execution.stderr, origins),
    )


def _said_in(message: str, origins: tuple[Origin, ...]) -> list[Mark]:
    """Return the place in the answer that a row's message names: `NameError: … (solution.py, line 12)`."""
    named = PLACE.search(message)
    if not named or not origins:
        return []
    origin = origins[min(int(named[1]), len(origins)) - 1]
    return (
        []
        if origin.region == "context"
        else [Mark(origin.region, origin.line, message[: named.start()].strip())]
    )


def _of_submission(run: Run, execution: Execution) -> Result:
    expected = run.attempt.slot.version.expected
    if execution.state != Execution.State.FINISHED or execution.tampered:
        return Result(run=run, tests=len(expected))
    done = execution.rows.filter(assertion=None, outcome=Outcome.PASSED, test__in=expected)
    passed = done.values("test").distinct().count()
    return Result(run=run, tests=len(expected), passed=passed)


def _visible_rows(run: Run, execution: Execution) -> list[ResultRow]:
    """Return each visible assertion with the rows that fell on its lines; a loop's many rows count as one."""
    stored = list(execution.rows.all())
    return [_row(each, stored, execution) for each in shown_tests(run.attempt.slot.version).expectations]


def _row(expectation: Expectation, stored: list[TestRow], execution: Execution) -> ResultRow:
    within = [
        row
        for row in stored
        if row.test == expectation.test
        and row.line is not None
        and expectation.first <= row.line <= expectation.last
    ]
    failed = next((row for row in within if row.outcome != Outcome.PASSED), None)
    if failed is not None:
        return ResultRow(
            expectation, failed.outcome, failed.message, tuple(failed.values), failed.milliseconds
        )
    if any(row.assertion is not None for row in within):
        return ResultRow(expectation, Outcome.PASSED, milliseconds=within[-1].milliseconds)
    return ResultRow(expectation, "" if execution.is_open else Outcome.NOT_RUN)


class Entry(NamedTuple):
    """A run in the history, and the word on its link."""

    run: Run
    word: str


class RegionMarks(NamedTuple):
    """The places to be marked in one of the two editors, named by its id."""

    editor: str
    marks: tuple[Mark, ...]


@dataclass(frozen=True)
class Panel:
    """What stands below the editor: the visible tests, the last run or the one asked for, and all runs.

    `tests` is None in a study that shows none. `visible` is the last run of the visible tests (or the one asked for), None before the first.
    """

    attempt: Attempt
    tests: ShownTests | None
    runs: tuple[Run, ...]
    shown: Result | None
    visible: Result | None
    progress: Progress
    running: bool
    complete: bool = False

    @property
    def said(self) -> str:
        """Return in a sentence how the run shown stands, for those who hear the page; "" before the first."""
        if self.shown is None:
            return ""
        run, execution = self.shown.run, self.shown.run.execution
        named = f"{run.get_kind_display().capitalize()}, run {run.number}"
        if execution.is_open:
            return f"{named}: {'waiting' if execution.state == Execution.State.QUEUED else 'running'}."
        if execution.state == Execution.State.UNJUDGED:
            return (
                f"{named}: {'replaced by a newer one' if self.shown.replaced else 'unjudged, our failure'}."
            )
        if execution.tampered:
            return f"{named}: could not be confirmed."
        outcome = execution.get_outcome_display().lower().replace("_", " ")
        if self.shown.rows:
            plain = execution.outcome in (Outcome.PASSED, Outcome.FAILED)
            return (
                f"{named}: {self.shown.summary}." if plain else f"{named}: {outcome}, {self.shown.summary}."
            )
        counts = (
            "" if self.shown.passed is None else f", {self.shown.passed} of {self.shown.tests} tests passed"
        )
        return f"{named}: {outcome}{counts}."

    @property
    def cpu_limit(self) -> float:
        """Return the CPU limit of every run, in seconds."""
        return limits_of(self.attempt.slot.version).cpu_seconds

    @property
    def stamp(self) -> int:
        """Return a number that grows with every run and every change of one, so that a page knows the older of two panels."""
        return sum(run.execution.sequence + 1 for run in self.runs)

    @property
    def history(self) -> tuple[Entry, ...]:
        """Return the newest runs and the one shown, each with the word that stands on its link ("" for the outcome's own)."""
        newest = self.runs if self.complete else self.runs[-HISTORY_RUNS:]
        shown = [self.shown.run] if self.shown and self.shown.run not in newest else []
        return tuple(Entry(run, _word(run)) for run in (*shown, *newest))

    @property
    def give_up_in(self) -> float:
        """Return the active seconds until giving up is offered, 0 where it is; true of a panel that is `timed`."""
        return max(self.attempt.protocol.give_up_after_seconds - self.progress.active_seconds, 0.0)

    @property
    def newest(self) -> int:
        """Return the number of the newest run, 0 before the first."""
        return self.runs[-1].number if self.runs else 0

    @property
    def before(self) -> int:
        """Return the number of the run before the newest, 0 where there is none: what changed is asked of these two."""
        return self.runs[-2].number if len(self.runs) > 1 else 0

    @property
    def earlier(self) -> int:
        """Return how many runs the history leaves out."""
        return len(self.runs) - len(self.history)

    @property
    def regions(self) -> tuple[RegionMarks, ...]:
        """Return the places to be marked in each editor; none while nothing has run."""
        marks = self.shown.marks if self.shown else ()
        return tuple(
            RegionMarks(editor, tuple(mark for mark in marks if mark.region == region))
            for region, editor in EDITORS.items()
        )

    @property
    def ready(self) -> bool:
        """Whether all visible tests have passed in the last run of them: submitting is the next thing to do."""
        return bool(self.visible and self.visible.run.execution.passed)

    @property
    def rows(self) -> tuple[ResultRow, ...]:
        """Return the rows of the visible tests, untouched ones before the first run."""
        if self.visible:
            return self.visible.rows
        return tuple(ResultRow(each, "") for each in self.tests.expectations) if self.tests else ()


def _is_replaced(run: Run) -> bool:
    return run.execution.state == Execution.State.UNJUDGED and run.execution.reason == REPLACED


def _word(run: Run) -> str:
    return "replaced" if _is_replaced(run) else ""


def panel_of(
    attempt: Attempt,
    *,
    now: datetime,
    number: int | None = None,
    timed: bool = False,
    complete: bool = False,
) -> Panel:
    """Return the panel of an attempt, settling it first; `number` is the run asked for, `complete` asks for all runs.

    Only where it is `timed` are active seconds counted and their limit looked at (else they are 0 in `progress`): they
    take three queries of six, the page's beats do the same every 15 s, and the outcome of a run waits for this panel.
    """
    runs = list(attempt.runs.select_related("execution").only(*IN_HISTORY).order_by("number"))
    rules = attempt.protocol
    progress = Progress(
        submissions_among(runs, allowed=rules.submissions),
        active_seconds(attempt) if timed else 0.0,
        rules.active_limit_seconds,
    )
    settle(attempt, now=now, progress=progress)
    shown = next((run for run in runs if run.number == number), runs[-1] if runs else None)
    tests = [run for run in runs if run.kind == Run.Kind.VISIBLE]
    visible = shown if shown in tests else tests[-1] if tests else None
    result = _on_its_way(result_of(_whole(shown, attempt)), now) if shown else None
    return Panel(
        attempt=attempt,
        tests=shown_tests(attempt.slot.version) if rules.shows_visible_tests else None,
        runs=tuple(runs),
        shown=result,
        visible=result
        if visible is shown
        else _on_its_way(result_of(_whole(visible, attempt)), now)
        if visible
        else None,
        progress=progress,
        running=any(run.execution.is_open for run in runs),
        complete=complete,
    )


def _whole(run: Run, attempt: Attempt) -> Run:
    """Return a run of the history with all that it holds."""
    whole = Run.objects.select_related("execution").get(pk=run.pk)
    whole.attempt = attempt
    return whole


def _on_its_way(result: Result, now: datetime) -> Result:
    """Return the result with how far an open run has come; of one that has ended as it is."""
    execution = result.run.execution
    if not execution.is_open:
        return result
    begun = execution.started_at if execution.state == Execution.State.RUNNING else None
    waits = begun is None and now - result.run.created_at > NO_QUEUE
    limit = limits_of(result.run.attempt.slot.version).wall_seconds
    seconds = max((now - begun).total_seconds(), 0.0) if begun else None
    return replace(result, way=Way(seconds, ahead_of(execution) if waits else 0, limit))
