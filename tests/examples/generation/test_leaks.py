"""Instructions: their sections, and what of the solution or the hidden tests they must not hold."""

from __future__ import annotations

from typing import Any

import pytest

from examples.generation.leaks import copied, expected_literals, instruction_of, refuse_leaks
from examples.generation.rules import RuleBroken

BODY = """# a comment says nothing
    total = sum(item.price for item in items)
    if total > limit:
        raise ValueError("too much: " + str(total))
    return total"""
SECTIONS = {"Functionality": "Add up prices.", "Inputs": "`items`, a list.", "Outputs": "The sum, a number."}


def test_an_instruction_has_three_sections_in_their_order() -> None:
    turned = dict(reversed(SECTIONS.items()))
    assert instruction_of(turned) == (
        "Functionality: Add up prices.\n\nInputs: `items`, a list.\n\nOutputs: The sum, a number.\n"
    )


def test_sections_that_come_as_lists_or_objects_are_written_as_lines() -> None:
    said = instruction_of({**SECTIONS, "Inputs": {"items": "things"}, "Outputs": ["a sum", "never negative"]})
    assert "Inputs: - `items`: things\n" in said
    assert "Outputs: - a sum\n- never negative\n" in said


@pytest.mark.parametrize(
    "found",
    [{}, {"Functionality": "Add up prices."}, {**SECTIONS, "Outputs": ""}, {**SECTIONS, "Inputs": "none"}],
)
def test_an_instruction_without_a_section_is_incomplete(found: dict[str, Any]) -> None:
    with pytest.raises(RuleBroken) as caught:
        instruction_of(found)
    assert caught.value.rule == "incomplete_instruction"


@pytest.mark.parametrize(
    "text",
    [
        "total = sum(item.price for",  # 8 tokens
        "Use sum(item.price for item in items) and return it.",
        "Compute `total = sum( item . price\nfor item in items )`.",
        "raise ValueError('too much: ' + str(total))",
    ],
)
def test_eight_tokens_of_the_body_are_a_leak_however_they_are_spaced_and_quoted(text: str) -> None:
    assert copied(text, BODY)


@pytest.mark.parametrize(
    "text",
    [
        "Sum item.price for item in the list.",  # 6 in a row
        "total = sum(item.price",  # 7 tokens
        "a comment says nothing at all about it here",
        "xtotal = sum(item.price for",  # a longer word is another one: 7 are left
    ],
)
def test_fewer_than_eight_tokens_are_none(text: str) -> None:
    assert copied(text, BODY) == ""


def test_literals_that_tests_expect_are_found_on_both_sides_and_inside_others() -> None:
    tests = """def test_total():
    assert total([1]) == 4711
    assert "a long word" == total([2])
    assert total([3]) == [1, "inner text"]
    assert total([]) == 0
    assert total(["not expected"]) is True
    assert total([4]) in (-3.5, None)
"""
    assert expected_literals(tests) == [
        "4711",
        "'a long word'",
        "[1, 'inner text']",
        "'inner text'",
        "(-3.5, None)",
    ]


@pytest.mark.parametrize("said", ["gives 4711 for one", "gives [ 1,'x y z' ]", 'gives "x y z"'])
def test_what_a_hidden_test_expects_is_a_leak(said: str) -> None:
    hidden = "def test():\n    assert total(1) == 4711\n    assert total(2) == [1, 'x y z']\n"
    with pytest.raises(RuleBroken) as caught:
        refuse_leaks(said, reference=BODY, hidden=hidden, shown="")
    assert caught.value.rule == "reveals_tests"


@pytest.mark.parametrize("said", ["gives 47110 for one", "gives nothing", "gives 1 or True"])
def test_other_numbers_and_plain_words_are_none(said: str) -> None:
    hidden = (
        "def test():\n    assert total(1) == 4711\n    assert total(2) == 1\n    assert total(3) is True\n"
    )
    refuse_leaks(said, reference=BODY, hidden=hidden, shown="")


def test_what_is_shown_anyway_is_no_leak() -> None:
    hidden = "def test():\n    assert total(1) == 4711\n"
    refuse_leaks("gives 4711", reference=BODY, hidden=hidden, shown="assert total(1) == 4711")


def test_the_solution_is_a_leak_with_its_own_name() -> None:
    with pytest.raises(RuleBroken) as caught:
        refuse_leaks(BODY, reference=BODY, hidden="", shown="")
    assert caught.value.rule == "reveals_solution"
