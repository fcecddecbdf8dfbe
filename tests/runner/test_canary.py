"""Canaries: which changes of a job's tests are worth trying, and which of them are kept."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from examples.checking.canaries import fails_at, find
from runner.confirming import confirmed, to_confirm, with_canary
from runner.languages import canary_plan
from runner.outcome import Judgement, Outcome
from runner.sandbox.base import Canary, Job, Limits
from tests.runner.fakes import PASSED as MEASURED

PASSED, FAILED = Outcome.PASSED, Outcome.FAILED


def job_of(*assertions: str, before: str = "", block: str = "") -> Job:
    lines = [*before.splitlines(), *assertions]
    tests = "def test_a():\n" + "".join(f"    {line}\n" for line in lines)
    return Job("", tests, ("test_a",), Limits.for_cpu(1), block=block)


def changed(job: Job) -> list[str]:
    """Return the line of each canary in the changed text."""
    return [
        with_canary(job, canary).tests.splitlines()[canary.line - 1].strip()
        for canary in canary_plan(job).candidates
    ]


@pytest.mark.parametrize(
    ("assertion", "wrong"),
    [
        ("assert f(1) == date(2020, 1, 2)", "assert f(1) == date(2020, 1, (3))"),
        ("assert date(2020, 1, 2) == f(1)", "assert date(2020, 1, (3)) == f(1)"),
        ("assert f('é') == Day('ö', 1)", "assert f('é') == Day('ö', (2))"),
        ("assert 'x' in f(1)", "assert ('x~') in f(1)"),
        ("assert allclose(f(1), [1.0, 2.0])", "assert allclose(f(1), ([2.0, 2.0]))"),
        ("assert_allclose(f(1), 2.0)", "assert_allclose(f(1), (3.0))"),
        ("self.assertAlmostEqual(f(1), 2, places=3)", "self.assertAlmostEqual(f(1), (3), places=3)"),
        ("assert f(1) > 0.7", "assert (not (f(1) > 0.7))"),
        ("assert not f(1) > 0.7", "assert (f(1) > 0.7)"),
        ("assert f(1) == g(2)", "assert f(1) == g((3))"),
        ("assert f(1) == expected", "assert (not (f(1) == expected))"),
    ],
)
def test_what_is_expected_is_made_wrong_and_negated_only_where_nothing_else_can_be(
    assertion: str, wrong: str
) -> None:
    assert changed(job_of(assertion)) == [wrong]


def test_a_name_is_changed_where_it_was_given_its_literal() -> None:
    job = job_of("assert f(1) == expected", before="expected = ['a', 'b']")
    (canary,) = canary_plan(job).candidates
    assert "expected = (['a~', 'b'])" in with_canary(job, canary).tests
    assert canary.line == 3


def test_an_expected_error_becomes_another_one() -> None:
    job = job_of("assert f(1) == g(1)", "with pytest.raises(ValueError):", "    f(-1)")
    raising = next(canary for canary in canary_plan(job).candidates if canary.kind == "raises")
    assert "with pytest.raises(FloatingPointError):" in with_canary(job, raising).tests
    assert (raising.assertion, raising.line) == (None, 4)


def test_none_is_needed_where_all_is_compared_outside_and_nothing_can_be_skipped() -> None:
    assert not canary_plan(job_of("assert f(1) == 2", "assert not f(2)", "assert True")).needed
    assert canary_plan(job_of("if x:", "    assert f(1) == 2")).needed
    assert canary_plan(job_of("assert f(1) == 2", "return", "assert f(1) == 3")).needed
    assert canary_plan(job_of("assert True")).needed
    assert canary_plan(job_of("def test_a(:")).needed


def test_a_block_that_is_the_test_is_changed_itself() -> None:
    job = Job("", "", ("__main__",), Limits.for_cpu(1), block="x = 1\nassert f(1) == D(2)\n")
    (canary,) = canary_plan(job).candidates
    assert with_canary(job, canary).block == "x = 1\nassert f(1) == D((3))\n"


A = Canary("test_a", 1, 2, "tests", 0, 0, "", kind="eq")
B = Canary("test_a", 2, 3, "tests", 0, 0, "", kind="raises")
OUTSIDE = Canary("test_a", 3, 4, "tests", 0, 0, "", outside=True, kind="eq")


def carrying(*canaries: Canary, **changes: Any) -> Job:
    return Job("", "", ("test_one",), Limits.for_cpu(1), canaries=canaries, **changes)


def test_one_of_each_kind_is_run_until_one_passes() -> None:
    judgement = Judgement(PASSED, ())
    job = carrying(A, B)
    first = to_confirm(job, judgement)
    assert first in (A, B)
    second = to_confirm(job, judgement, [first])
    assert {first, second} == {A, B}
    assert to_confirm(job, judgement, [A, B]) is None
    runs: list[Job] = []

    def run(changed: Job) -> Any:
        runs.append(changed)
        return MEASURED

    confirmation = confirmed(job, judgement, run)
    assert confirmation is not None
    assert confirmation.tampered
    assert len(runs) == 1
    assert runs[0].canaries == ()


def test_nothing_is_confirmed_that_did_not_pass_or_hides_nothing() -> None:
    assert to_confirm(carrying(A), Judgement(FAILED, ())) is None
    assert to_confirm(carrying(A, revealed=True), Judgement(PASSED, ())) is None
    assert to_confirm(carrying(), Judgement(PASSED, ())) is None


def test_what_the_host_compares_is_a_canary_only_where_there_is_no_other_or_all_is_inside() -> None:
    judgement = Judgement(PASSED, ())
    assert {to_confirm(carrying(B, OUTSIDE), judgement) for _ in range(50)} == {B}
    assert to_confirm(carrying(OUTSIDE), judgement) is OUTSIDE
    drawn = {to_confirm(carrying(B, OUTSIDE, inside=True), judgement) for _ in range(200)}
    assert drawn == {B, OUTSIDE}


class Rows:
    """The rows of an execution, as `fails_at` reads them."""

    def __init__(self, *failed: tuple[str, int | None, int | None]) -> None:
        self.failed = list(failed)

    def filter(self, **_: Any) -> Rows:
        return self

    def values_list(self, *_: str) -> list[tuple[str, int | None, int | None]]:
        return self.failed


def execution(*failed: tuple[str, int | None, int | None], outcome: Outcome = FAILED) -> Any:
    return SimpleNamespace(rows=Rows(*failed), outcome=outcome)


WITH = Canary("test_a", None, 4, "tests", 0, 0, "", kind="raises")


@pytest.mark.parametrize(
    ("canary", "run", "kept"),
    [
        (A, execution(("test_a", 1, 2), ("test_a", None, 2)), True),
        (A, execution(("test_a", 2, 3), ("test_a", None, 3)), False),
        (A, execution(("test_a", 1, 2), ("test_a", None, 2), ("test_b", None, 9)), False),
        (A, execution(outcome=PASSED), False),
        (A, execution(("test_a", 1, 2), ("test_a", None, 2), outcome=Outcome.TIMEOUT_CPU), False),
        (WITH, execution(("test_a", None, 4)), True),
        (WITH, execution(("test_a", None, 5)), False),
        (WITH, execution(("test_a", 1, 4), ("test_a", None, 4)), False),
    ],
)
def test_a_change_is_kept_where_the_reference_fails_at_exactly_that(
    canary: Canary, run: Any, kept: bool
) -> None:
    assert fails_at(run, canary) is kept


def test_the_finding_says_what_a_version_has() -> None:
    job = job_of("assert f(1) == D(2)", "assert f(2) == D(3)", "assert f(3) > 1")
    right = {2: ("test_a", 1, 2), 3: ("test_a", 2, 3), 4: ("test_a", 3, 4)}

    def execute(changed: Job) -> Any:
        at = next(n for n, line in enumerate(changed.tests.splitlines(), 1) if "((" in line or "(not" in line)
        return execution(right[at], ("test_a", None, at))

    found = find(job, execute, reference_passed=True)
    assert found.evidence["label"] == "canary"
    assert found.sentence == "3 canaries, at lines 2, 3, 4 of the tests."
    assert [each["kind"] for each in found.evidence["canaries"]] == ["eq", "eq", "gt"]
    none = find(job, lambda _: execution(outcome=PASSED), reference_passed=True)
    assert (none.evidence["label"], none.evidence["tried"]) == ("no canary", 3)
    assert find(job, execute, reference_passed=False).evidence["label"] == "no canary"
    outside = find(job_of("assert f(1) == 2"), execute, reference_passed=False)
    assert outside.evidence["label"] == "compared outside"
