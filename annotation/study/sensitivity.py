"""STUDY: what the figures of time would be under another idle limit; pure."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from annotation.study.intervals import Estimate, Rate, clustered_rate
from annotation.study.rows import AttemptRow, leave_out_unfinished
from annotation.study.times import time_to_solve


@dataclass(frozen=True, slots=True)
class UnderLimit:
    """The figures under one idle limit.

    ``counted_seconds`` is the sum over attempts with a recorded time. ``solved_in_time`` counts as solved what was solved
    within the limit on active time; under a longer idle limit more time counts, so it never rises.
    """

    idle_limit: int
    counted_seconds: float
    median: Estimate
    geometric_mean: Estimate
    solved_in_time: Rate


def under_limits(
    rows: Iterable[AttemptRow], *, idle_limits: Sequence[int], limit: float
) -> tuple[UnderLimit, ...]:
    """Return the figures under each idle limit; rows need ``counted_under`` for each of them, where time was recorded.

    Which attempts are left out stays as the protocol has it. ``limit`` is the limit on active seconds.
    """
    rows = list(rows)
    return tuple(_under(rows, idle_limit, limit) for idle_limit in idle_limits)


def _under(rows: Sequence[AttemptRow], idle_limit: int, limit: float) -> UnderLimit:
    timed = [replace(row, active_seconds=row.counted_under.get(idle_limit)) for row in rows]
    times = time_to_solve(timed, limit=limit)
    counted = leave_out_unfinished(timed).rows
    return UnderLimit(
        idle_limit=idle_limit,
        counted_seconds=sum(row.active_seconds or 0.0 for row in counted),
        median=times.median,
        geometric_mean=times.geometric_mean,
        solved_in_time=clustered_rate(
            (row.annotator, row.solved and (row.active_seconds is None or row.active_seconds <= limit))
            for row in counted
        ),
    )
