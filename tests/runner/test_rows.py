"""What the host keeps of a row: the program shares an interpreter with whoever writes it, so any shape may come."""

from __future__ import annotations

from typing import Any

import pytest

from runner.outcome import Outcome
from runner.sandbox.base import Job, Limits
from runner.sandbox.rows import row_of

JOB = Job(program="", tests="", expected=("test_one",), limits=Limits.for_cpu(1))
SAID = {"test": "test_one", "assertion": None, "outcome": "PASSED", "ms": 1}


def test_a_row_of_an_expected_test_is_kept() -> None:
    row = row_of(SAID, JOB, {})
    assert row is not None
    assert row.outcome is Outcome.PASSED


@pytest.mark.parametrize("name", ["test", "assertion", "outcome"])
@pytest.mark.parametrize("value", [[], ["PASSED"], {}, 1.5, True, "", -1])
def test_a_value_of_another_kind_makes_no_row_and_no_error(name: str, value: Any) -> None:
    """An error here would be ours: an unjudged submission does not count, so it could be forced without end."""
    assert row_of({**SAID, name: value}, JOB, {}) is None
