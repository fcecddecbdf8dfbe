"""REPLAY: everything that is recorded of an attempt as lines in the order of time, its intervals and its figures."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import groupby

from django.db.models import Count

from annotation import clock
from annotation.beats import log_of
from annotation.clock import Interval, Kind
from annotation.models import Attempt, Paste, Run
from annotation.replay.bar import WORDS, Sign
from annotation.replay.closing import closing_lines
from annotation.replay.lines import Line
from annotation.replay.steps import Source, Step, steps_of, title_of
from config.parts.signs import sign_of
from config.parts.values import clock as in_clock
from config.parts.values import took
from runner.models import TestRow

# A stretch of at least so many seconds in which nobody worked gets a line of its own; the bar shows all.
LONG_STRETCH = 60
SIGNS = {"ok": "✓", "bad": "✗", "warn": "!", "flag": "⚑"}
KINDS = (Kind.READING, Kind.ACTIVE, Kind.IDLE, Kind.WAITING, Kind.PAUSED, Kind.OUTAGE)
SHOWN_OF_RUNS = (
    "attempt",
    "kind",
    "number",
    "created_at",
    "sha256",
    "execution__state",
    "execution__outcome",
    "execution__tampered",
    "execution__reason",
    "execution__wall_seconds",
    "execution__created_at",
    "execution__finished_at",
)


@dataclass(frozen=True)
class Timeline:
    """An attempt in the order of time.

    steps       where the code is known; lines, what happened
    intervals   under the protocol's idle limit; `by_limit` the totals under each limit the study looks at
    seconds     from the start to the end, or to the last sign of life
    """

    attempt: Attempt
    steps: tuple[Step, ...]
    lines: tuple[Line, ...]
    runs: tuple[Run, ...]
    pastes: tuple[Paste, ...]
    intervals: tuple[Interval, ...]
    by_limit: Mapping[int, Mapping[Kind, float]]
    seconds: float

    @property
    def totals(self) -> Mapping[Kind, float]:
        """The seconds of each kind under the protocol's idle limit."""
        return clock.totals(self.intervals)

    @property
    def active(self) -> float:
        """The seconds that count against the limit."""
        return clock.active_seconds(self.intervals)

    @property
    def kinds(self) -> list[str]:
        """The kinds of time in the order of the table."""
        return [str(kind) for kind in KINDS]

    @property
    def table(self) -> list[tuple[int, bool, list[float], float]]:
        """Each idle limit: whether it is the protocol's, the seconds of each kind, and those that count."""
        own = self.attempt.protocol.idle_limit_seconds
        return [
            (
                limit,
                limit == own,
                [totals[kind] for kind in KINDS],
                totals[Kind.ACTIVE] + totals[Kind.READING],
            )
            for limit, totals in self.by_limit.items()
        ]

    @property
    def signs(self) -> list[Sign]:
        """What stands below the bar: how each run ended."""
        return [
            Sign(self._since(run.created_at), SIGNS.get(sign_of(run.execution, curates=True).kind, "·"))
            for run in self.runs
        ]

    @property
    def figures(self) -> list[tuple[str, str, str]]:
        """What the attempt amounts to: name, figure, and what more there is to say."""
        kinds = Counter(run.kind for run in self.runs)
        drafts = [step for step in self.steps if step.source == Source.DRAFT]
        return [
            (
                "active",
                in_clock(self.active),
                f"of {in_clock(self.attempt.protocol.active_limit_seconds)} allowed",
            ),
            ("on the wall", in_clock(self.seconds), f"{in_clock(self.seconds - self.active)} not counted"),
            (
                "revisions",
                str(len(drafts)),
                f"first after {in_clock(drafts[0].seconds)}" if drafts else "none saved",
            ),
            (
                "runs",
                str(kinds[Run.Kind.VISIBLE] + kinds[Run.Kind.SCRATCH]),
                f"{kinds[Run.Kind.SCRATCH]} scratch; first after {in_clock(self._since(self.runs[0].created_at))}"
                if self.runs
                else "none",
            ),
            ("submissions", str(kinds[Run.Kind.SUBMISSION]), f"of {self.attempt.protocol.submissions}"),
            *self._pasted(),
        ]

    def _pasted(self) -> list[tuple[str, str, str]]:
        """The figure of pastes; none where the protocol records none, so that nothing is not read as no paste."""
        if not self.attempt.protocol.records_pastes:
            return []
        foreign = sum(each.characters for each in self.pastes if each.origin == Paste.Origin.ELSEWHERE)
        return [("pastes", str(len(self.pastes)), f"{foreign:,} characters from elsewhere")]

    @property
    def label(self) -> str:
        """The bar in words."""
        told = [f"{WORDS[kind]} {in_clock(seconds)}" for kind, seconds in self.totals.items() if seconds >= 1]
        return f"Timeline of {in_clock(self.seconds)}: {', '.join(told) or 'nothing recorded'}. {len(self.runs)} runs."

    def _since(self, at: datetime) -> float:
        return max(0.0, (at - self.attempt.started_at).total_seconds())


def timeline_of(attempt: Attempt) -> Timeline:
    """Return the timeline of an attempt, in a fixed number of queries that fetch no code."""
    runs = tuple(
        attempt.runs.select_related("execution", "ruling").only(*SHOWN_OF_RUNS, "ruling").order_by("number")
    )
    steps = steps_of(attempt, runs)
    log, pastes = log_of(attempt), tuple(attempt.pastes.order_by("at", "pk"))
    if log.ended_at and log.ended_at < log.started_at:  # by the clock of another web process
        log = replace(log, ended_at=log.started_at)
    limits = {*clock.IDLE_LIMITS, attempt.protocol.idle_limit_seconds}
    by_limit = {limit: clock.derive_intervals(log, idle_limit=limit) for limit in sorted(limits)}
    intervals = by_limit[attempt.protocol.idle_limit_seconds]
    found = [
        *_draft_lines(steps),
        *_run_lines(attempt, runs, steps),
        *_stretches(attempt, intervals),
        *_ends(attempt),
        *(_paste_line(each) for each in pastes),
        *closing_lines(attempt),
    ]
    return Timeline(
        attempt=attempt,
        steps=steps,
        lines=tuple(_folded(sorted(found, key=lambda line: line.at), attempt.started_at)),
        runs=runs,
        pastes=pastes,
        intervals=intervals,
        by_limit={limit: clock.totals(each) for limit, each in by_limit.items()},
        seconds=sum(each.seconds for each in intervals),
    )


def _draft_lines(steps: Iterable[Step]) -> Iterator[Line]:
    for step in steps:
        if step.source == Source.START:
            yield Line(step.at, "none", "ring", "Started", "the editor holds the signature", step=step)
        if step.source == Source.DRAFT:
            yield Line(step.at, "none", "save", step.title, f"{step.size:,} characters", step=step)


def _run_lines(attempt: Attempt, runs: Sequence[Run], steps: Iterable[Step]) -> Iterator[Line]:
    """Yield a line for each run with its outcome and how many assertions came to what, in one query."""
    counts: dict[int, list[str]] = defaultdict(list)
    rows = TestRow.objects.filter(execution__run__attempt=attempt, assertion__isnull=False)
    for execution, outcome, number in (
        rows.order_by("execution", "outcome").values_list("execution", "outcome").annotate(number=Count("pk"))
    ):
        counts[execution].append(f"{number} {sign_of(outcome, curates=True).word}")
    step_of = {step.row: step for step in steps if step.source == Source.RUN}
    for run in runs:
        kind, glyph, word = sign_of(run.execution, curates=True)
        told = [
            word,
            *([f"assertions: {', '.join(counts[run.execution_id])}"] if run.execution_id in counts else []),
        ]
        if run.execution.wall_seconds is not None:
            told.append(took(run.execution.wall_seconds))
        if run.execution.reason and run.execution.state == "unjudged":
            told.append(run.execution.reason)
        yield Line(run.created_at, kind, glyph, title_of(run), "; ".join(told), step=step_of[run.pk])


def _stretches(attempt: Attempt, intervals: Sequence[Interval]) -> Iterator[Line]:
    """Yield a line where the first input came, and for each long stretch without work."""
    first = next((each for each in intervals if each.kind == Kind.ACTIVE), None)
    if first and first.start > attempt.started_at:
        yield Line(first.start, "act", "half", "First input", "reading until then")
    glyphs = {Kind.PAUSED: "pause", Kind.OUTAGE: "warn", Kind.IDLE: "none"}
    for each in intervals:
        if each.kind == Kind.PAUSED or (each.kind in glyphs and each.seconds >= LONG_STRETCH):
            title = {Kind.PAUSED: "Paused", Kind.OUTAGE: "No sign of life"}.get(each.kind, "Idle")
            kind = "warn" if each.kind == Kind.OUTAGE else "none"
            yield Line(each.start, kind, glyphs[each.kind], title, f"for {in_clock(each.seconds)}")


def _paste_line(paste: Paste) -> Line:
    foreign = paste.origin == Paste.Origin.ELSEWHERE
    detail = f"from {paste.get_origin_display()} into {paste.get_editor_display()}"
    title = f"Pasted {paste.characters:,} characters"
    return Line(paste.at, "warn" if foreign else "none", "copy", title, detail)


def _ends(attempt: Attempt) -> Iterator[Line]:
    if attempt.ended_at is None:
        return
    if attempt.gave_up_reason:
        yield Line(attempt.ended_at, "none", "flag", "Gave up", attempt.gave_up_reason)
    elif attempt.state == Attempt.State.RELEASED:
        yield Line(attempt.ended_at, "warn", "left", "The place went back", "the draft stays with its author")
    else:
        yield Line(attempt.ended_at, "none", "clock", "Work on the code ended", "")


def _folded(lines: Iterable[Line], start: datetime) -> Iterator[Line]:
    """Yield the lines with their seconds since the start, revisions that follow one another as one line."""
    timed = (replace(line, seconds=max(0.0, (line.at - start).total_seconds())) for line in lines)
    for together, group in groupby(
        timed, key=lambda line: bool(line.step and line.step.source == Source.DRAFT)
    ):
        found = list(group)
        if not together or len(found) == 1:
            yield from found
            continue
        last, steps = found[-1], tuple(line.step for line in found if line.step)
        title = f"{len(found)} revisions"
        detail = (
            f"{steps[0].title.lower()} to {steps[-1].title.lower().removeprefix('revision ')}, {last.detail}"
        )
        yield replace(last, seconds=found[0].seconds, title=title, detail=detail, folded=steps)
