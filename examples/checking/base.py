"""What checks read (Observed) and what they say (Finding)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from examples.models import Check, Version
from runner.models import Execution

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
    """Return what a check keeps of an execution: outcome, seed, seconds of CPU and wall, first message."""
    row = execution.rows.exclude(outcome__in=["PASSED", "NOT_RUN"]).order_by("number").first()
    return {
        "execution": execution.pk,
        "outcome": execution.outcome or execution.state,
        "seed": execution.job_data["seed"],
        "cpu_seconds": execution.cpu_seconds,
        "wall_seconds": execution.wall_seconds,
        "message": (row.message if row else execution.load_error)[:500],
    }
