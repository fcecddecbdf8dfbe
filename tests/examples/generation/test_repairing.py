"""What a failed execution says, what is left out of tests because of it, and what comes next by the rounds alone."""

from __future__ import annotations

import pytest

from examples.generation.dropping import without_failing
from examples.generation.failing import describe_failure, program_at_fault
from examples.generation.standing import Act, Ending, Standing, Ways, next_act
from examples.models import Round
from runner.models import Execution, TestRow
from tests.factories import make_environment

pytestmark = pytest.mark.django_db
TESTS = """def test_one():
    # the ordinary
    assert add(1, 2) == 3
    assert add(
        2,
        2,
    ) == 5
    assert add(0, 0) == 0


def test_two():
    assert add(5, 5) == 11


def test_three():
    total = add(1, 1)
    assert total == 2
"""
Row = tuple[str, int | None, str, int | None, str, list[str]]
WRONG: list[Row] = [
    ("test_one", 1, "PASSED", 3, "", []),
    ("test_one", 2, "FAILED", 4, "", ["4", "5"]),
    ("test_one", None, "FAILED", 4, "AssertionError", []),
    ("test_one", 3, "NOT_RUN", 8, "", []),
    ("test_two", 1, "FAILED", 12, "", ["10", "11"]),
    ("test_two", None, "FAILED", 12, "AssertionError", []),
    ("test_three", 1, "PASSED", 17, "", []),
    ("test_three", None, "PASSED", None, "", []),
]


def executed(rows: list[Row], *, outcome: str = "FAILED", load_error: str = "") -> Execution:
    """Return a finished execution with these rows."""
    execution = Execution.objects.create(
        queue="bulk",
        environment=make_environment(),
        job_data={},
        state="finished",
        outcome=outcome,
        load_error=load_error,
    )
    TestRow.objects.bulk_create(
        TestRow(
            execution=execution,
            number=number,
            test=test,
            assertion=assertion,
            outcome=each,
            line=line,
            message=message,
            values=values,
        )
        for number, (test, assertion, each, line, message, values) in enumerate(rows, start=1)
    )
    return execution


def test_a_failure_is_told_with_its_line_and_the_values_on_both_sides() -> None:
    assert describe_failure(executed(WRONG), TESTS) == (
        "test_one, line 4: assert add(\n  left: 4\n  right: 5\n\n"
        "test_two, line 12: assert add(5, 5) == 11\n  left: 10\n  right: 11"
    )


def test_addresses_of_objects_are_left_out_of_what_is_told() -> None:
    message = "TypeError: <object object at 0x7f3bd2c0a1b0> is wrong"
    told = describe_failure(executed([("test_one", 1, "FAILED", 3, message, [])]), TESTS)
    assert told.endswith("TypeError: <object object at 0x…> is wrong")


def test_a_program_that_did_not_load_or_lacks_a_name_is_at_fault_and_a_test_that_lacks_one_is_not() -> None:
    def failing(message: str) -> Execution:
        return executed([("test_one", 1, "FAILED", 3, message, [])])

    assert program_at_fault(executed([], outcome="LOAD_ERROR", load_error="ModuleNotFoundError: No module"))
    assert program_at_fault(failing("NameError: name 'np' is not defined (solution.py, line 6)"))
    assert not program_at_fault(failing("NameError: name 'zzz' is not defined"))
    assert not program_at_fault(failing("ValueError: bad (solution.py, line 6)"))


def test_assertions_that_failed_are_left_out_and_a_test_that_has_none_left_goes_whole() -> None:
    kept = TESTS.replace("    assert add(\n        2,\n        2,\n    ) == 5\n", "")
    kept = kept.replace("def test_two():\n    assert add(5, 5) == 11\n", "")
    assert without_failing(TESTS, executed(WRONG)) == kept


def test_nothing_is_left_out_where_fewer_than_three_assertions_would_remain() -> None:
    tests = TESTS[: TESTS.index("\n\ndef test_three")]
    assert without_failing(tests, executed(WRONG[:-2])) == ""


def test_nothing_is_left_out_where_what_failed_is_no_assertion_by_itself() -> None:
    assert without_failing(TESTS, executed([("test_three", None, "FAILED", 16, "TypeError: no", [])])) == ""
    first, rest = "    assert f(1) == 2; assert f(2) == 3\n", "    assert f(3) == 3\n" * 3
    sharing = f"def test_one():\n{first}{rest}"
    assert (
        without_failing(sharing, executed([("test_one", 1, "FAILED", 2, "", [])]))
        == f"def test_one():\n{rest}"
    )


def rounds(*told: str, execution: Execution | None = None) -> Standing:
    """Return a standing of rounds told as `step subject` with `:rule`, `!` for a call, `@` for an edit."""
    made = []
    for number, each in enumerate(told, start=1):
        words, _, rule = each.strip("!@").partition(":")
        step, subject = words.split()
        made.append(
            Round(
                number=number,
                step=step,
                subject=subject,
                text=TESTS if subject == "tests" else "text",
                rule=rule,
                message="why" if rule else "",
                call_id=number if each.endswith("!") else None,
                edited_by_id=1 if each.endswith("@") else None,
            )
        )
    if execution:
        code = Standing(made).code
        assert code is not None
        code.execution = execution
    return Standing(made)


ASKS = Ways(rounds=2, augment=False, asks=True)
PLAIN = Ways(rounds=2, augment=False, asks=False)
BOTH = ("standalone program", "write_tests tests!")


def test_what_comes_next_follows_from_the_rounds() -> None:
    passed = executed([], outcome="PASSED")
    failed = executed([("test_three", None, "FAILED", 16, "TypeError: no", [])])
    assert next_act(rounds(), ASKS) is Act.STANDALONE
    assert next_act(rounds("standalone program"), ASKS) is Act.WRITE_TESTS
    assert next_act(rounds(*BOTH), ASKS) is Act.JUDGE
    assert next_act(rounds(*BOTH, execution=executed(WRONG)), ASKS) is Act.DROP
    assert next_act(rounds(*BOTH, execution=failed), ASKS) is Act.REPAIR
    assert next_act(rounds(*BOTH, execution=passed), ASKS) is Act.INSTRUCT
    assert next_act(rounds(*BOTH, execution=passed), Ways(2, augment=True, asks=True)) is Act.AUGMENT
    held = rounds(*BOTH, "acceptance instruction!", execution=passed)
    assert next_act(held, ASKS) is Act.ACCEPT


def test_a_broken_rule_is_asked_again_as_often_as_the_run_says() -> None:
    broken = ["standalone program:omission!"] * 2
    assert next_act(rounds(*broken), ASKS) is Act.STANDALONE
    assert next_act(rounds(*broken, "standalone program:syntax!"), ASKS) == Ending("syntax", "why")
    assert next_act(rounds("standalone program:omission"), PLAIN) == Ending("omission", "why")


def test_a_repair_is_asked_for_as_often_as_the_run_says_and_what_was_left_out_does_not_count() -> None:
    failed = executed([("test_three", None, "FAILED", 16, "TypeError: no", [])])
    some = (*BOTH, "repair tests", "repair tests!")
    assert next_act(rounds(*some, execution=failed), ASKS) is Act.REPAIR
    ended = next_act(rounds(*some, "repair tests!", execution=failed), ASKS)
    assert ended == Ending("tests_fail", "FAILED: test_three, line 16: total = add(1, 1) TypeError: no")
    same = next_act(rounds(*some, "repair tests:same_again!", execution=failed), ASKS)
    assert same == Ending("same_again", "why")
    assert isinstance(next_act(rounds(*BOTH, execution=failed), PLAIN), Ending)


def test_an_edit_by_a_curator_begins_the_counting_anew() -> None:
    broken = ["write_tests tests:no_test!"] * 3
    assert isinstance(next_act(rounds("standalone program", *broken), ASKS), Ending)
    edited = rounds("standalone program", *broken, "write_tests tests@")
    assert next_act(edited, ASKS) is Act.JUDGE
