"""The judge: from facts alone, and whatever is missing, doubled or out of place never helps."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runner.outcome import NO_ASSERTION, Measurement, Outcome, Row, cause_of_end, judge

CLEAN = Measurement(
    loaded=True,
    rows=(Row("a", 1, Outcome.PASSED), Row("a", None, Outcome.PASSED)),
    exit_status=0,
    signal=None,
    out_of_memory=False,
    cpu_exceeded=False,
    wall_exceeded=False,
    output_exceeded=False,
    cpu_seconds=0.1,
    wall_seconds=0.1,
    memory_bytes=1,
)

rows = st.builds(
    Row,
    test=st.sampled_from(["a", "b", "c"]),
    assertion=st.none() | st.integers(1, 3),
    outcome=st.sampled_from(Outcome),
)
measurements = st.builds(
    Measurement,
    loaded=st.booleans(),
    rows=st.lists(rows, max_size=12).map(tuple),
    exit_status=st.none() | st.integers(0, 255),
    signal=st.none() | st.integers(1, 31),
    out_of_memory=st.booleans(),
    cpu_exceeded=st.booleans(),
    wall_exceeded=st.booleans(),
    output_exceeded=st.booleans(),
    cpu_seconds=st.floats(0, 10),
    wall_seconds=st.floats(0, 10),
    memory_bytes=st.integers(0, 1 << 30),
    stdout=st.text(max_size=20),
    stderr=st.text(max_size=20),
    load_error=st.text(max_size=20),
)
expecteds = st.lists(st.sampled_from(["a", "b", "c"]), max_size=3, unique=True)


def passed(measurement: Measurement, test: str) -> bool:
    """Say independently of the judge whether a test has earned a pass."""
    mine = [row for row in measurement.rows if row.test == test]
    ends = [row.outcome for row in mine if row.assertion is None]
    inside = [row.outcome for row in mine if row.assertion is not None]
    return (
        bool(ends and inside)
        and set(ends) == {Outcome.PASSED}
        and set(inside) <= {Outcome.PASSED, Outcome.NOT_RUN}
    )


@given(measurements, expecteds)
def test_a_pass_needs_a_clean_end_and_every_test_earned(
    measurement: Measurement, expected: list[str]
) -> None:
    judgement = judge(measurement, expected)
    clean = measurement.loaded and measurement.signal is None and cause_of_end(measurement) is None
    earned = all(passed(measurement, test) for test in expected) if expected else measurement.exit_status == 0
    assert (judgement.outcome is Outcome.PASSED) == (clean and earned)


@given(measurements, expecteds)
def test_every_expected_test_gets_one_verdict_in_order(measurement: Measurement, expected: list[str]) -> None:
    judgement = judge(measurement, expected)
    assert [row.test for row in judgement.tests] == expected
    assert all(row.assertion is None for row in judgement.tests)


@given(measurements, expecteds, st.text(), st.text())
def test_printed_text_changes_nothing(
    measurement: Measurement, expected: list[str], out: str, err: str
) -> None:
    assert judge(replace(measurement, stdout=out, stderr=err), expected) == judge(measurement, expected)


@given(
    measurements, expecteds, st.lists(rows.filter(lambda row: row.outcome is not Outcome.PASSED), max_size=4)
)
def test_more_rows_that_are_no_pass_never_help(
    measurement: Measurement, expected: list[str], more: list[Row]
) -> None:
    worse = replace(
        measurement, rows=(*measurement.rows, *[r for r in more if r.outcome is not Outcome.NOT_RUN])
    )
    if judge(measurement, expected).outcome is not Outcome.PASSED:
        assert judge(worse, expected).outcome is not Outcome.PASSED


@given(measurements, expecteds, st.data())
def test_a_missing_completion_record_never_helps(
    measurement: Measurement, expected: list[str], data: st.DataObject
) -> None:
    kept = [row for row in measurement.rows if row.assertion is not None or data.draw(st.booleans())]
    if judge(measurement, expected).outcome is not Outcome.PASSED:
        ends_differ = any(r.assertion is None and r.outcome is not Outcome.PASSED for r in measurement.rows)
        assert (
            ends_differ
            or judge(replace(measurement, rows=tuple(kept)), expected).outcome is not Outcome.PASSED
        )


@pytest.mark.parametrize(
    ("changes", "outcome"),
    [
        ({}, Outcome.PASSED),
        ({"exit_status": None, "out_of_memory": True, "output_exceeded": True}, Outcome.MEMORY),
        ({"exit_status": None, "output_exceeded": True, "cpu_exceeded": True}, Outcome.OUTPUT_LIMIT),
        ({"exit_status": None, "cpu_exceeded": True, "wall_exceeded": True}, Outcome.TIMEOUT_CPU),
        ({"exit_status": None, "wall_exceeded": True, "signal": 9}, Outcome.TIMEOUT_WALL),
        ({"exit_status": None, "signal": 9}, Outcome.SIGNAL),
        ({"exit_status": None, "signal": 15, "loaded": False}, Outcome.SIGNAL),
        ({"loaded": False, "exit_status": 1}, Outcome.LOAD_ERROR),
        ({"rows": (Row("a", None, Outcome.EARLY_EXIT),)}, Outcome.EARLY_EXIT),
        ({"rows": ()}, Outcome.FAILED),
        ({"exit_status": 1}, Outcome.PASSED),
        ({"exit_status": 137, "rows": ()}, Outcome.FAILED),
    ],
)
def test_the_first_reason_that_applies_decides(changes: dict[str, object], outcome: Outcome) -> None:
    assert judge(replace(CLEAN, **changes), ["a"]).outcome is outcome


def test_a_test_that_was_not_reached_was_not_run() -> None:
    judgement = judge(CLEAN, ["a", "b"])
    assert [row.outcome for row in judgement.tests] == [Outcome.PASSED, Outcome.NOT_RUN]
    assert judgement.outcome is Outcome.FAILED


def test_a_test_without_an_assertion_shows_nothing() -> None:
    judgement = judge(replace(CLEAN, rows=(Row("a", None, Outcome.PASSED),)), ["a"])
    assert (judgement.outcome, judgement.tests[0].message) == (Outcome.FAILED, NO_ASSERTION)


def test_an_assertion_that_must_not_be_reached_counts() -> None:
    rows = (Row("a", None, Outcome.PASSED), Row("a", 1, Outcome.NOT_RUN))
    assert judge(replace(CLEAN, rows=rows), ["a"]).outcome is Outcome.PASSED


def test_a_failed_assertion_that_the_test_swallowed_fails_it() -> None:
    rows = (Row("a", 1, Outcome.FAILED, line=3, message="m"), Row("a", None, Outcome.PASSED))
    verdict = judge(replace(CLEAN, rows=rows), ["a"]).tests[0]
    assert (verdict.outcome, verdict.line, verdict.message) == (Outcome.FAILED, 3, "m")


def test_a_second_call_that_fails_outweighs_a_first_that_passed() -> None:
    rows = (*CLEAN.rows, Row("a", None, Outcome.FAILED, message="second"))
    assert judge(replace(CLEAN, rows=rows), ["a"]).tests[0].message == "second"


def test_a_scratch_run_passes_when_it_comes_to_its_end() -> None:
    assert judge(replace(CLEAN, rows=()), []).outcome is Outcome.PASSED
    assert judge(replace(CLEAN, rows=(), exit_status=1), []).outcome is Outcome.FAILED
