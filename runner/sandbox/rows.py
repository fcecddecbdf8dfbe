"""What may be kept of a row. Authentic does not mean honest: the program shares an interpreter with the reporter.

So a row counts only for a test that was asked for, with values of the right kind; and of hidden tests nothing is
kept through which a program could carry their text out.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from runner.languages.base import PlannedAssertion
from runner.outcome import Outcome, Row
from runner.sandbox.base import Job

TEXT_CHARS = 4000
VALUES = 16
ASSERTIONS = 100_000
VALUE_CHARS = 8000
TESTS_BROKEN = "The tests do not compile."


def plain_text(text: object) -> str:
    """Return text that every database and page can hold: no NUL, no lone surrogate, bounded."""
    kept = str(text)[:TEXT_CHARS] if isinstance(text, str) else ""
    return storable(kept)


def storable(text: str) -> str:
    """Return the text with NUL and lone surrogates replaced."""
    return text.encode("utf-8", "replace").decode().replace("\x00", "\u2400")


def row_of(
    said: Mapping[str, Any], job: Job, planned: Mapping[tuple[str, int], PlannedAssertion]
) -> Row | None:
    """Return the row that was said, None where it is malformed or of no test of this job.

    `planned` gives every assertion that stands in an expected test. Of one that is compared here, the row tells the
    value and nothing else: that it PASSED is not believed.
    """
    test, assertion, outcome = said.get("test"), said.get("assertion"), said.get("outcome")
    if test not in job.expected or outcome not in list(Outcome):
        return None
    if assertion is not None and not (_is_number(assertion) and 0 < assertion <= ASSERTIONS):
        return None
    known = planned.get((test, assertion)) if assertion is not None else None
    line = known.line if known else None
    if known and known.comparator and outcome == Outcome.PASSED:
        value = said.get("value")
        if not isinstance(value, str) or len(value) > VALUE_CHARS:
            return None
        outcome = Outcome.PASSED if known.comparator.holds(value) else Outcome.FAILED
    if not job.revealed:
        return Row(
            test, assertion, Outcome(outcome), line, milliseconds=_milliseconds(said.get("ms"), job, 0)
        )
    values = said.get("values")
    return Row(
        test,
        assertion,
        Outcome(outcome),
        line or (said["line"] if _is_number(said.get("line")) and 0 < said["line"] < 1 << 31 else None),
        plain_text(said.get("message")),
        tuple(plain_text(value) for value in values[:VALUES]) if isinstance(values, list) else (),
        _milliseconds(said.get("ms"), job, 3),
    )


def undecided(said: Mapping[str, Any], planned: Mapping[tuple[str, int], PlannedAssertion]) -> bool:
    """Return whether the value that was told cannot be compared here. The row is one that `row_of` has taken."""
    known, value = planned.get((said["test"], said["assertion"])), said.get("value")
    if known is None or known.comparator is None or not isinstance(value, str):
        return False
    return known.comparator.holds(value) is None


def tests_error_of(said: object, job: Job) -> str:
    """Return why the tests could not be compiled; for hidden tests only that they could not."""
    return (plain_text(said) or TESTS_BROKEN) if job.revealed else TESTS_BROKEN


def _is_number(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _milliseconds(value: object, job: Job, digits: int) -> float:
    """Return a time within the run's wall limit."""
    if not isinstance(value, (int, float)) or not 0 <= value <= job.limits.wall_seconds * 1000:
        return 0.0
    return float(round(value, digits))
