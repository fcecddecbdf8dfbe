"""OUTCOME: what happened (a Measurement) becomes what it means (an Outcome); pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum

NO_ASSERTION = "The test holds no assertion, so it shows nothing."


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
    number when it was killed; exactly one of them is set unless we ended it ourselves. `opaque` says that a value could
    not be compared outside the program's process: the job is to be run again with `inside` (confirming.py).
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
    opaque: bool = False


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
    tests = tuple(_test(measurement, test) for test in expected)
    return Judgement(_whole(measurement, tests), tests)


def cause_of_end(measurement: Measurement) -> Outcome | None:
    """Return the outcome that follows from how the process ended, None when it ended by itself after loading.

    Our own reasons for a kill come before the signal it was made with; a program that signals itself is SIGNAL.
    """
    if measurement.out_of_memory:
        return Outcome.MEMORY
    if measurement.output_exceeded:
        return Outcome.OUTPUT_LIMIT
    if measurement.cpu_exceeded:
        return Outcome.TIMEOUT_CPU
    if measurement.wall_exceeded:
        return Outcome.TIMEOUT_WALL
    if measurement.signal is not None:
        return Outcome.SIGNAL
    return None if measurement.loaded else Outcome.LOAD_ERROR


def _whole(measurement: Measurement, tests: Sequence[Row]) -> Outcome:
    """Return the outcome of the execution, given the verdict on each expected test."""
    cause = cause_of_end(measurement)
    if cause is not None:
        return cause
    outcomes = {row.outcome for row in tests}
    if Outcome.EARLY_EXIT in outcomes:
        return Outcome.EARLY_EXIT
    if tests:
        return Outcome.PASSED if outcomes == {Outcome.PASSED} else Outcome.FAILED
    return Outcome.PASSED if measurement.exit_status == 0 else Outcome.FAILED


def _test(measurement: Measurement, test: str) -> Row:
    """Return the verdict on one test function: its own row, which any failure inside it outweighs.

    An assertion that was not reached counts as one: `try: f(); assert False` is passed by not reaching it.
    """
    rows = [row for row in measurement.rows if row.test == test]
    endings = [row for row in rows if row.assertion is None]
    if not measurement.loaded or not endings:
        return Row(test, None, Outcome.NOT_RUN)
    worst = next((row for row in endings if row.outcome is not Outcome.PASSED), None)
    if worst is not None:
        return worst
    assertions = [row for row in rows if row.assertion is not None]
    failed = next((row for row in assertions if row.outcome not in (Outcome.PASSED, Outcome.NOT_RUN)), None)
    if failed is not None:
        return replace(failed, assertion=None, outcome=Outcome.FAILED)
    if not assertions:
        return replace(endings[0], outcome=Outcome.FAILED, message=NO_ASSERTION)
    return endings[0]
