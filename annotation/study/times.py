"""STUDY: time to solve, with giving up as an event that competes with solving; pure.

Kaplan-Meier with give-ups censored is wrong: it pretends that they would have gone on to solve. So the curve
is the cumulative incidence of solving among all who started (Aalen and Johansen 1978, Scand. J. Statist. 5,
141-150). Censored are only attempts ended by our fault and those still open. Shares are exact fractions until
they are handed out, because a median read off 0.5000000000000001 is another median.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
from itertools import pairwise
from math import exp, fsum, log

from annotation.study.intervals import Estimate, Interval, Rate, clustered_rate, wilson_interval
from annotation.study.rows import AttemptRow, leave_out_protocol

NO_TIME = "no time recorded"
NONE_TIMED = "no attempt has a recorded time"
HALF = Fraction(1, 2)


class End(StrEnum):
    """How an attempt ended, as the curve sees it."""

    SOLVED = "solved"
    UNSOLVED = "unsolved"
    CENSORED = "censored"


@dataclass(frozen=True, slots=True)
class Duration:
    """The active seconds of one attempt and how it ended."""

    seconds: float
    end: End


@dataclass(frozen=True, slots=True)
class CurvePoint:
    """The curve from ``seconds`` on, up to the next point: shares of all who started.

    ``at_risk`` attempts were still going on just before. ``band`` is Wilson's 95 % interval of ``solved``,
    pointwise; None once an attempt was censored, as the share is then no longer a count of all.
    """

    seconds: float
    at_risk: int
    solved: float
    unsolved: float
    band: Interval | None


@dataclass(frozen=True, slots=True)
class TimeToSolve:
    """Time to solve of a study, in active seconds.

    ``share_solved`` belongs beside the geometric mean, which knows only the solved and therefore flatters; it
    is over attempts that were not censored. ``restricted_mean`` counts the unsolved as ``limit``.
    """

    started: int
    solved: int
    unsolved: int
    censored: int
    exclusions: Mapping[str, int]
    limit: float
    median: Estimate
    restricted_mean: Estimate
    geometric_mean: Estimate
    share_solved: Rate
    curve: tuple[CurvePoint, ...]


def time_to_solve(rows: Iterable[AttemptRow], *, limit: float) -> TimeToSolve:
    """Return the time figures over every attempt started; ``limit`` is the limit on active seconds."""
    counted = leave_out_protocol(rows)
    timed = [(row, row.active_seconds) for row in counted.rows if row.active_seconds is not None]
    durations = [Duration(seconds, _end(row)) for row, seconds in timed]
    untimed = {NO_TIME: len(counted.rows) - len(timed)} if len(timed) < len(counted.rows) else {}
    ends = Counter(duration.end for duration in durations)
    return TimeToSolve(
        started=len(durations),
        solved=ends[End.SOLVED],
        unsolved=ends[End.UNSOLVED],
        censored=ends[End.CENSORED],
        exclusions=dict(sorted({**counted.exclusions, **untimed}.items())),
        limit=limit,
        median=median(durations),
        restricted_mean=restricted_mean(durations, limit=limit),
        geometric_mean=geometric_mean(durations),
        share_solved=clustered_rate(
            (row.annotator, row.solved) for row, _ in timed if _end(row) is not End.CENSORED
        ),
        curve=curve(durations),
    )


def median(durations: Sequence[Duration]) -> Estimate:
    """Return the smallest t by which half of all who started had solved, or that it was not reached."""
    for step in _steps(durations):
        if step.solved >= HALF:
            return Estimate(step.seconds, len(durations))
    return Estimate(
        None, len(durations), "not reached: fewer than half had solved" if durations else NONE_TIMED
    )


def restricted_mean(durations: Sequence[Duration], *, limit: float) -> Estimate:
    """Return the mean seconds to solve where the unsolved count as ``limit``: the area above the curve.

    Undefined where the last attempts were censored before the limit, since the curve ends there.
    """
    steps = [step for step in _steps(durations) if step.seconds < limit]
    number = len(durations)
    if not number:
        return Estimate(None, 0, NONE_TIMED)
    if max(duration.seconds for duration in durations) < limit and steps[-1].solved + steps[-1].unsolved < 1:
        return Estimate(None, number, "the last attempts were interrupted or open before the limit")
    edges = [0.0, *(step.seconds for step in steps), limit]
    heights = [Fraction(1), *(1 - step.solved for step in steps)]
    areas = (
        float(height) * (until - begin)
        for height, (begin, until) in zip(heights, pairwise(edges), strict=True)
    )
    return Estimate(fsum(areas), number)


def geometric_mean(durations: Sequence[Duration]) -> Estimate:
    """Return exp of the mean log seconds of the solved; times are about log-normal (METR, arXiv 2503.14499).

    Undefined where none was solved, or where a time is 0 s, which no share of others could outweigh.
    """
    solved = [duration.seconds for duration in durations if duration.end is End.SOLVED]
    if not solved:
        return Estimate(None, 0, "none was solved")
    if min(solved) <= 0:
        return Estimate(None, len(solved), "a solved attempt has a time of zero")
    return Estimate(exp(fsum(map(log, solved)) / len(solved)), len(solved))


def curve(durations: Sequence[Duration]) -> tuple[CurvePoint, ...]:
    """Return the points of a step plot, first the one at 0 s; empty without attempts."""
    if not durations:
        return ()
    number = len(durations)
    points = [CurvePoint(0.0, number, 0.0, 0.0, wilson_interval(0, number))]
    for step in _steps(durations):
        band = None if step.censored else wilson_interval(int(step.solved * number), number)
        points.append(CurvePoint(step.seconds, step.at_risk, float(step.solved), float(step.unsolved), band))
    return tuple(points)


@dataclass(frozen=True, slots=True)
class _Step:
    """The exact curve at one moment; ``censored`` counts those censored before it."""

    seconds: float
    at_risk: int
    solved: Fraction
    unsolved: Fraction
    censored: int


def _steps(durations: Sequence[Duration]) -> Iterator[_Step]:
    """Yield the curve at each distinct time.

    F_j(t) = sum over s <= t of S(s-) * d_j(s) / n(s) with S = 1 - sum of F_j. At one time, events come before
    censoring.
    """
    ends: dict[float, Counter[End]] = {}
    for duration in durations:
        ends.setdefault(duration.seconds, Counter())[duration.end] += 1
    at_risk, censored, solved, unsolved = len(durations), 0, Fraction(0), Fraction(0)
    for seconds in sorted(ends):
        going_on = (1 - solved - unsolved) / at_risk
        solved += going_on * ends[seconds][End.SOLVED]
        unsolved += going_on * ends[seconds][End.UNSOLVED]
        yield _Step(seconds, at_risk, solved, unsolved, censored)
        at_risk -= ends[seconds].total()
        censored += ends[seconds][End.CENSORED]


def _end(row: AttemptRow) -> End:
    if row.solved:
        return End.SOLVED
    return End.CENSORED if row.interrupted or not row.closed else End.UNSOLVED
