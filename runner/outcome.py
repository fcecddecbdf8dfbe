"""OUTCOME: what happened (a Measurement) becomes what it means (an Outcome); pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import StrEnum


class Outcome(StrEnum):
    """What an execution, a test or an assertion came to. Our own faults are a state (`unjudged`), never one of these."""

    PASSED = "PASSED"
    FAILED = "FAILED"
    NOT_RUN = "NOT_RUN"
    LOAD_ERROR = "LOAD_ERROR"
    EARLY_EXIT = "EARLY_EXIT"
    TIMEOUT_CPU = "TIMEOUT_CPU"
    TIMEOUT_WALL = "TIMEOUT_WALL"
    MEMORY = "MEMORY"
    OUTPUT_LIMIT = "OUTPUT_LIMIT"
    SIGNAL = "SIGNAL"


@dataclass(frozen=True)
class Row:
    """One authentic record of a test function or of an assertion inside one, in the order it arrived.

    `assertion` is None for the test function itself, else the assertion's number within it (1-based, source order).
    `line` counts from 1 in the job's `tests` text. `message` and `values` are for the curator, and for the author
    only where the job says `revealed`.
    """

    test: str
    assertion: int | None
    outcome: Outcome
    line: int | None = None
    message: str = ""
    values: tuple[str, ...] = ()
    milliseconds: float = 0.0


@dataclass(frozen=True)
class Measurement:
    """What the supervisor, the kernel and our own clocks saw of one run; nothing in it comes from printed text.

    Times are seconds, memory is bytes. `exit_status` is the child's exit code when it exited, `signal` the signal's
    number when it was killed; exactly one of them is set unless we ended it ourselves.
    """

    loaded: bool
    rows: tuple[Row, ...]
    exit_status: int | None
    signal: int | None
    out_of_memory: bool
    cpu_exceeded: bool
    wall_exceeded: bool
    output_exceeded: bool
    cpu_seconds: float
    wall_seconds: float
    memory_bytes: int
    stdout: str = ""
    stderr: str = ""
    load_error: str = ""
    facts: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Judgement:
    """The outcome of the whole and of every expected test, in the expected order."""

    outcome: Outcome
    tests: tuple[Row, ...]


def judge(measurement: Measurement, expected: Sequence[str]) -> Judgement:
    """Return what the measurement means for the expected test ids.

    The whole is PASSED only when every expected test has an authentic PASSED row; with no expected test it is
    PASSED when the program ran to its end (a scratch run).
    """
    raise NotImplementedError
