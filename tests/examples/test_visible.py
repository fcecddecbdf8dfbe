import ast
import asyncio

import pytest

from examples.masking import mask, test_source
from examples.visible import assertion_lines, visible_part
from tests.examples.published import exec_csn

TWO = """def test_a():
    x = 1
    assert x == 1  # first
    y = 2
    assert y == 2
    # hidden hint

def test_b():
    assert 3
"""


def test_all_24_published_records_show_the_first_third_rounded_up():
    for record in exec_csn():
        masked = mask(record["code"], record["func_name"])
        part = visible_part(test_source(masked.tests), masked.expected, masked.block)
        assert part.count == -(-part.total // 3) >= 1
        assert part.expected == masked.expected
        assert part.block == masked.block
        assert ast.parse(part.text)
        assert len(part.text) < len(test_source(masked.tests))


def test_a_function_is_cut_after_its_nth_assertion_and_what_lies_beyond_becomes_a_stub():
    part = visible_part(TWO, ("test_a", "test_b"), "test_a()\ntest_b()\n")
    assert part.text == "def test_a():\n    x = 1\n    assert x == 1\n\ndef test_b():\n    pass\n"
    assert (part.expected, part.count, part.total) == (("test_a",), 1, 3)


def test_of_a_hidden_test_nothing_is_shown_but_its_name():
    """Its decorators, defaults and comments are its author's words about the hidden case, too."""
    source = """def test_a():
    assert 1

DATA = '''
# data'''

# hint 4711
@case(4712)
def test_b(x=4713, *, y=4714):
    # hint 4715
    \"\"\"hint 4716\"\"\"
    z = 4717
    assert z
"""
    part = visible_part(source, ("test_a", "test_b"), count=1)
    assert "47" not in part.text
    namespace = {}
    exec(part.text, namespace)
    assert namespace["test_b"](5, y=6) is None
    assert namespace["DATA"] == "\n# data"


@pytest.mark.parametrize("between", ["", "DATA = 1\n\n", "def helper():\n    pass\n\n"])
def test_comments_below_a_test_that_is_cut_or_hidden_are_not_shown(between):
    """They stand in the first column, outside every function, and speak of the case above them all the same."""
    source = f"""def test_a():
    assert 1
    assert 2
# hint 4711: the case above

# hint 4712

{between}def test_b():
    assert 3
# hint 4713

# hint 4714
"""
    part = visible_part(source, ("test_a", "test_b"), count=1)
    assert "hint" not in part.text
    assert part.text.count("\n") >= source.count("\n") - 5
    assert between.strip() in part.text
    assert visible_part(source, ("test_a", "test_b"), count=3).text == source
    exec(part.text, namespace := {})
    assert namespace["test_b"]() is None


def test_the_count_runs_on_over_the_functions():
    part = visible_part(TWO, ("test_a", "test_b"), count=3)
    assert (part.expected, part.count) == (("test_a", "test_b"), 3)
    assert "assert 3" in part.text


def test_none_is_visible_where_the_count_is_zero():
    part = visible_part(TWO, ("test_a", "test_b"), count=0)
    assert (part.expected, part.count, part.total) == ((), 0, 3)
    assert "assert" not in part.text


def test_a_count_beyond_the_total_shows_everything():
    assert visible_part(TWO, ("test_a", "test_b"), count=99).count == 3


def test_compound_statements_with_assertions_count_once_and_definitions_never():
    source = """def test_a(self):
    def mock():
        assert False
    for x in y:
        assert x
        assert x
    with pytest.raises(ValueError):
        f()
    try:
        f()
    except ValueError:
        raise AssertionError("no")
    if a:
        print(a)
    elif b:
        self.assertEqual(a, b)
    mock.assert_called_once()
    print(a)
"""
    assert visible_part(source, ("test_a",)).total == 5
    assert assertion_lines(source, ("test_a",)) == {"test_a": [(4, 6), (7, 8), (9, 12), (13, 16), (17, 17)]}


@pytest.mark.parametrize("count", [0, 1, 2])
def test_a_generator_stays_one(count):
    source = "def test_a():\n    assert 1\n    for x in ():\n        assert x\n    y = yield\n    assert y\n"
    namespace = {}
    exec(visible_part(source, ("test_a",), count=count).text, namespace)
    assert list(namespace["test_a"]()) == []


def test_a_coroutine_stays_one_and_a_one_liner_can_be_cut():
    namespace = {}
    part = visible_part("async def test_a(): x = 1; assert x; assert not x", ("test_a",), count=1)
    exec(part.text, namespace)
    assert asyncio.run(namespace["test_a"]()) is None
    assert part.text == "async def test_a(): x = 1; assert x"


@pytest.mark.parametrize(
    "block",
    [
        "if __name__ == '__main__':\n    assert f() == 4\n",
        "test_a()\nif f() != 4:\n    raise AssertionError\n",
        "numpy.testing.assert_equal(f(), 4)\n",
        "def late():\n    assert f() == 4\nlate()\n",
    ],
)
def test_a_block_with_assertions_of_its_own_is_not_part_of_the_visible_tests(block):
    assert visible_part(TWO, ("test_a",), block).block == ""


def test_other_code_beside_the_test_functions_stays():
    part = visible_part(
        "DATA = {1: 2}\n\ndef check(f):\n    assert f(1)\n    assert f(2)\n\nX = 1\n", ("check",)
    )
    assert part.text == "DATA = {1: 2}\n\ndef check(f):\n    assert f(1)\n\nX = 1\n"


def test_the_default_goes_on_to_the_first_assertion_that_can_be_reported():
    source = """def test_a():
    with raises(ValueError):
        f()
    mock.assert_called()

def test_b():
    with raises(ValueError):
        f()
    assert 1
    assert_close(1, 2)
    assert 2
"""
    part = visible_part(source, ("test_a", "test_b"))
    assert (part.count, part.total, part.expected) == (4, 6, ("test_b",))
    assert visible_part(source, ("test_a", "test_b"), count=2).expected == ()


def test_a_helper_called_by_name_is_evidence_too():
    part = visible_part("def check(f):\n    for x in y:\n        assertion(f(x), 1)\n", ("check",))
    assert (part.count, part.expected) == (1, ("check",))
