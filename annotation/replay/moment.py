"""REPLAY: one moment of an attempt: the code as it was, what changed since another one, and what a run came to."""

from __future__ import annotations

from dataclasses import dataclass

from annotation.models import Run
from annotation.replay.steps import Code, Source, Step, code_of, last_before
from annotation.replay.timeline import Timeline
from runner.models import TestRow

# A run may have reported thousands of rows; what comes after so many is in the file of events.
ROWS_SHOWN = 60


@dataclass(frozen=True)
class Moment:
    """The code at `step`, compared with `other`.

    last      number of the last step
    chosen    whether `other` was asked for; else it is the step before
    run       what was executed at this step, with its first rows; `left_out` counts the others
    before, after    the nearest steps with a run, for moving from run to run
    """

    step: Step
    last: int
    other: Step
    chosen: bool
    code: Code
    compared: Code
    run: Run | None
    rows: tuple[TestRow, ...]
    left_out: int
    before: Step | None
    after: Step | None
    previous: Step | None
    next: Step | None


def moment_of(timeline: Timeline, *, at: int | None, against: int | None) -> Moment:
    """Return a moment of the timeline: its last step unless `at` says another, against the one before unless said."""
    steps, attempt = timeline.steps, timeline.attempt
    step = steps[min(at if at is not None else len(steps) - 1, len(steps) - 1)]
    chosen = against is not None and against < len(steps)
    other = steps[against if chosen and against is not None else last_before(steps, step.number)]
    run = (
        Run.objects.select_related("execution").defer("execution__job_data").get(pk=step.row)
        if step.source == Source.RUN
        else None
    )
    rows = list(run.execution.rows.exclude(assertion=None)[: ROWS_SHOWN + 1]) if run else []
    left_out = (
        run.execution.rows.exclude(assertion=None).count() - ROWS_SHOWN
        if run and len(rows) > ROWS_SHOWN
        else 0
    )
    ran = [each for each in steps if each.source == Source.RUN]
    return Moment(
        step=step,
        last=len(steps) - 1,
        other=other,
        chosen=chosen,
        code=Code(run.function, run.module) if run else code_of(attempt, step),
        compared=code_of(attempt, other),
        run=run,
        rows=tuple(rows[:ROWS_SHOWN]),
        left_out=left_out,
        before=next((each for each in reversed(ran) if each.number < step.number), None),
        after=next((each for each in ran if each.number > step.number), None),
        previous=steps[step.number - 1] if step.number else None,
        next=steps[step.number + 1] if step.number + 1 < len(steps) else None,
    )
