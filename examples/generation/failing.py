"""REPAIR: what an execution of tests on the reference says, as a model and a curator read it."""

from __future__ import annotations

import re

from examples.checking.base import last_line
from runner.models import Execution, TestRow
from runner.outcome import Outcome

ADDRESS = re.compile(r"\b0x[0-9a-fA-F]{6,}\b")
PROGRAM_FAULT = re.compile(r"(?:NameError|ImportError|ModuleNotFoundError)\b.*\(solution\.py, line \d+\)")
LONGEST, MOST = 2000, 5


def failures(execution: Execution) -> list[TestRow]:
    """Return the assertions and tests that failed, an assertion rather than the test it stands in."""
    failed = list(execution.rows.exclude(outcome__in=[Outcome.PASSED, Outcome.NOT_RUN]).order_by("number"))
    within = {row.test for row in failed if row.assertion is not None}
    return [row for row in failed if row.assertion is not None or row.test not in within]


def describe_failure(execution: Execution, tests: str) -> str:
    """Return what failed, each with its line of the tests and the values on both sides; the same in every process."""
    if execution.load_error:
        return steady(execution.load_error.strip()[-LONGEST:])
    told = [_row(row, tests) for row in failures(execution)[:MOST]]
    if not told:
        told = [f"The run ended with {execution.outcome}.", last_line(execution.stderr)]
    return steady("\n\n".join(part for part in told if part)[:LONGEST])


def first_failure(execution: Execution, tests: str) -> str:
    """Return in one line what failed first."""
    said = " ".join(describe_failure(execution, tests).split())
    return f"{execution.outcome}: {said}"[:500]


def program_at_fault(execution: Execution) -> bool:
    """Return whether the program, not a test, lacks something: it did not load, or a name in it is not defined."""
    if execution.load_error:
        return True
    return any(PROGRAM_FAULT.search(row.message) for row in failures(execution))


def steady(text: str) -> str:
    """Return the text without addresses of objects, which differ in every process: a prompt must not."""
    return ADDRESS.sub("0x…", text)


def _row(row: TestRow, tests: str) -> str:
    lines = tests.splitlines()
    said = f"{row.test}"
    if row.line and row.line <= len(lines):
        said += f", line {row.line}: {lines[row.line - 1].strip()}"
    if row.values:
        said += f"\n  left: {row.values[0]}\n  right: {row.values[-1]}"
    if row.message and row.message != "AssertionError":
        said += f"\n  {last_line(row.message)}"
    return said
