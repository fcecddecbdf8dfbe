"""What checks read (Observed) and what they say (Finding)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from examples.models import Check, Version
from runner.models import Execution
from runner.outcome import Outcome

State = Check.State


@dataclass(frozen=True)
class Observed:
    """The executions made of a version: the reference once per seed, the empty body once."""

    version: Version
    references: Sequence[Execution]
    empty: Execution


@dataclass(frozen=True)
class Finding:
    """What a check found: its state, one sentence, and the figures behind it."""

    state: Check.State
    sentence: str
    evidence: dict[str, Any] = field(default_factory=dict)
    executions: tuple[Execution, ...] = ()


def unjudged(executions: Sequence[Execution]) -> Finding | None:
    """Return the finding that we failed to execute, where one of the executions is unjudged; else None."""
    lost = [execution for execution in executions if execution.state == Execution.State.UNJUDGED]
    if not lost:
        return None
    return Finding(
        State.UNJUDGED,
        f"{len(lost)} of {len(executions)} executions could not be judged: {lost[0].reason}",
        executions=tuple(executions),
    )


def describe(execution: Execution) -> dict[str, Any]:
    """Return what a check keeps of an execution: outcome, seed, seconds of CPU and wall, and where it failed first."""
    return {
        "execution": execution.pk,
        "outcome": execution.outcome or execution.state,
        "seed": execution.job_data["seed"],
        "cpu_seconds": execution.cpu_seconds,
        "wall_seconds": execution.wall_seconds,
        "failure": first_failure(execution),
    }


def first_failure(execution: Execution) -> str:
    """Return where an execution failed first and what was said there, in one line; "" where nothing failed."""
    failed = execution.rows.exclude(outcome__in=[Outcome.PASSED, Outcome.NOT_RUN])
    row = failed.exclude(assertion=None).order_by("number").first() or failed.order_by("number").first()
    if row is None:
        return last_line(execution.load_error)
    said = last_line(row.message) or " against ".join(row.values)
    return f"{row.test}, line {row.line} of the tests{': ' if said else ''}{said}"[:500]


def last_line(text: str) -> str:
    """Return the last line of a traceback or message, where Python says what went wrong."""
    return (text.strip().splitlines() or [""])[-1]
