import pytest

from examples.generation.plain import PlainRefused, plain_instruction, plain_program, plain_tests

SOURCE = '''
import math
import requests

LIMIT = 3


def take(items, count=LIMIT):
    """Give the first few.

    >>> from pack import take
    >>> take([1, 2, 3, 4])
    [1, 2, 3]
    >>> take(shown, 1)
    ['a']
    """
    return list(items)[:count]


shown = ["a", "b"]
'''


def test_program_tests_and_instruction_come_from_the_source_alone():
    program = plain_program(SOURCE, "take")
    assert program.text == (
        'LIMIT = 3\n\n\ndef take(items, count=LIMIT):\n    """Give the first few."""\n    return list(items)[:count]\n\n\n'
        'shown = ["a", "b"]\n'
    )
    assert (
        program.note
        == "Kept 3 of 5 statements of the source; took the examples of take out of the docstring."
    )
    tests = plain_tests(SOURCE, "take")
    assert tests.text == (
        "def test_take():\n    assert take([1, 2, 3, 4]) == [1, 2, 3]\n    assert take(shown, 1) == ['a']\n"
    )
    assert tests.note == "3 examples became 2 assertions."
    assert plain_instruction(SOURCE, "take").text == (
        "Functionality: Give the first few.\n\nInputs: `items, count=LIMIT`, as in the signature.\n"
    )


@pytest.mark.parametrize(
    ("change", "code", "said"),
    [
        ((">>> ", ""), "no_doctest", "The docstring of take in line 8 holds no example."),
        (("LIMIT = 3", ""), "missing_name", "LIMIT, used by the statement in line 8, is bound nowhere"),
        (("LIMIT = 3", "from .limits import LIMIT"), "relative_import", "imports LIMIT from .limits"),
        (
            ("shown = ", "other = "),
            "missing_name",
            "shown, used by the examples, is bound nowhere in the file.",
        ),
        (("Give the first few.", "Give\\n it."), "docstring_form", "cannot be taken out"),
    ],
)
def test_what_cannot_be_made_says_so_with_a_code(change, code, said):
    source = SOURCE.replace(*change)
    with pytest.raises(PlainRefused) as refused:
        plain_program(source, "take")
    assert refused.value.code == code
    assert said in refused.value.message


def test_a_docstring_of_examples_alone_describes_nothing():
    with pytest.raises(PlainRefused, match="no_description"):
        plain_instruction(SOURCE.replace("Give the first few.", ""), "take")


def test_the_test_is_called_otherwise_where_the_source_has_that_name():
    assert plain_tests(SOURCE + "test_take = 1\n", "take").text.startswith("def test_take_():")


@pytest.mark.parametrize(
    ("said", "code"),
    [
        ("Give the first few, such as 'abc' of abcdef.", "reveals_tests"),
        ("Give ``list(items)[:count] if count else None`` of it.", "reveals_solution"),
        ("Give the first few; ValueError for the rest.", None),
    ],
)
def test_a_docstring_that_reveals_the_solution_or_hidden_tests_is_not_an_instruction(said, code):
    source = SOURCE.replace("Give the first few.", said).replace(
        "return list(items)[:count]", "return list(items)[:count] if count else None"
    )
    source = source.replace(
        "    ['a']\n",
        "    ['a']\n    >>> take(1)\n    Traceback (most recent call last):\n    ValueError: no\n    >>> take('abc')\n    'abc'\n",
    )
    if code is None:
        assert "ValueError" in plain_instruction(source, "take").text
        return
    with pytest.raises(PlainRefused) as refused:
        plain_instruction(source, "take")
    assert refused.value.code == code
