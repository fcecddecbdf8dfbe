"""Data-style: which assertions are compared outside, and that the verdict there is Python's own for honest values."""

from __future__ import annotations

import ast
import enum
import math
from collections import Counter, OrderedDict, defaultdict, deque, namedtuple
from decimal import Decimal
from fractions import Fraction
from typing import Any

import pytest

from runner.comparing import Exact
from runner.languages.python.datastyle import data_style, literal
from runner.languages.python.inside.plain import decoys, written

Point = namedtuple("Point", "x y")


class Colour(enum.StrEnum):
    RED = "red"


class Level(enum.IntEnum):
    ONE = 1


class Plain(enum.Enum):
    ONE = 1


class Word(str):
    pass


class Row(list):  # type: ignore[type-arg]
    pass


CONTAINERS = (list, tuple, dict, set)
bool_like = type("bool", (int,), {})
LITERALS = [
    *(None, True, False, 0, 1, 2, -1, 1.0, 0.1, 0.5, 1e300, 10**40, 1j, 2 + 0j, "", "a", "1", "é", "a" * 999),
    *(
        b"",
        b"a",
        [],
        (),
        {},
        set(),
        [1],
        (1,),
        {1},
        [1, 2],
        (1, 2),
        {1, 2},
        [[1], (2,)],
        [True, None],
        {"a": 1},
    ),
    *(
        {1: "a", "b": [2.0]},
        {"b": [2], 1.0: "a"},
        ["a,s1:b", "c"],
        ["a", "b", "c"],
        list(range(400)),
        {(1, 2): {3}},
    ),
]
HONEST = [
    *LITERALS,
    *(
        Point(1, 2),
        Colour.RED,
        Level.ONE,
        Plain.ONE,
        Word("a"),
        Row([1, 2]),
        bytearray(b"a"),
        frozenset({1, 2}),
    ),
    *(
        OrderedDict(a=1),
        defaultdict(int, {"a": 1}),
        Counter("a"),
        {"a": 1}.keys(),
        {1: 0, 2: 0}.keys(),
        range(2),
    ),
    *(
        Decimal("0.5"),
        Decimal("0.1"),
        Decimal("NaN"),
        Fraction(1, 2),
        Fraction(1),
        deque([1]),
        object(),
        len,
        int,
    ),
    *(math.inf, -math.inf, math.nan, -0.0, 1e-320, [math.nan], [Level.ONE, 2], (Word("a"),), {"a": True}),
    *([[]] * 3, "\ud800", "\x00", [Fraction(1), Decimal(2)]),
]


def test_a_value_against_a_literal_comes_to_what_python_says() -> None:
    told = 0
    for expected in LITERALS:
        style = data_style(ast.parse(f"f() == {expected!r}", mode="eval").body)
        assert style is not None
        for value in HONEST:
            assert style.comparator.holds(written(value)) is (value == expected), (value, expected)
            told += 1
    assert told == len(LITERALS) * len(HONEST)


def test_numbers_of_numpy_are_compared_as_pythons_and_what_is_no_scalar_of_its_width_is_opaque() -> None:
    numpy = pytest.importorskip("numpy")
    for value in (numpy.float64(0.5), numpy.int64(1), numpy.bool_(True), numpy.str_("a"), numpy.uint8(2)):
        for expected in LITERALS:
            told = Exact(written(expected).partition(" ")[2]).holds(written(value))
            item_by_item = isinstance(expected, CONTAINERS) or expected in ("é", "a" * 999)
            assert told is (None if item_by_item else equal(value, expected))
    for value in (numpy.float32(0.5), numpy.array([1]), [numpy.array([1, 2])]):
        assert Exact("n1").holds(written(value)) is None


def equal(value: Any, expected: Any) -> bool:
    """Return how an assertion comes out: what raises fails."""
    try:
        return bool(value == expected)
    except (ValueError, OverflowError):
        return False


def test_only_the_one_true_is_true() -> None:
    numpy = pytest.importorskip("numpy")
    style = data_style(ast.parse("f(1) is True", mode="eval").body)
    assert style is not None
    told = [style.comparator.holds(written(value)) for value in (True, False, 1, numpy.True_, bool_like(1))]
    assert told == [True, False, False, False, False]


class Liar:
    def __eq__(self, other: object) -> bool:
        return True

    __hash__ = None  # type: ignore[assignment]


class Disguised(Liar):
    __class__ = int  # type: ignore[assignment]


class Always(type):
    def __eq__(cls, other: object) -> bool:
        return True

    def __hash__(cls) -> int:
        return hash(int)


class Made(metaclass=Always):
    pass


class SubList(list):  # type: ignore[type-arg]
    def __eq__(self, other: object) -> bool:
        return True

    def __iter__(self) -> Any:
        return iter([1, 2])


class SubInt(int):
    def __eq__(self, other: object) -> bool:
        return True

    def __index__(self) -> int:
        return 1

    __hash__ = int.__hash__


class Unequal(int):
    def __ne__(self, other: object) -> bool:
        return False

    def __index__(self) -> int:
        return 7


class Names(list):  # type: ignore[type-arg]
    def __iter__(self) -> Any:
        return iter([1, 2])


LIARS = [Liar(), Disguised(), SubList([5]), SubInt(5), [Liar(), 2], (Liar(),), {"a": Liar()}, Made]


@pytest.mark.parametrize("liar", LIARS, ids=lambda liar: type(liar).__name__)
def test_an_object_that_equals_everything_equals_no_literal(liar: Any) -> None:
    for expected in LITERALS:
        assert not Exact(written(expected).partition(" ")[2]).holds(written(liar))


@pytest.mark.parametrize(("value", "plain"), [(Unequal(5), 5), (Names([3]), [3])])
def test_a_subclass_is_its_built_in_value_whatever_its_methods_say(value: Any, plain: Any) -> None:
    assert written(value).partition(" ")[2] == written(plain).partition(" ")[2]


def test_what_has_no_end_or_is_too_large_equals_no_literal() -> None:
    ring: list[Any] = []
    ring.append(ring)
    deep: list[Any] = []
    for _ in range(100):
        deep = [deep]
    for value in (ring, deep, ["x" * 1000] * 10**5, [0] * 10**6, 1 << (1 << 20)):
        assert Exact("[]").holds(written(value)) is False


OUTSIDE = {
    "f(1) == 2": "exact",
    "2 == f(1)": "exact",
    "f(1) == [1, (2, -3.5), {'a': None}]": "exact",
    "f(1) == (3 + 5 + 7, 3 * 5 * 7)": "exact",
    "result.name == 'x'": "exact",
    "f(1) is None": "identical",
    "f(1) is not True": "identical",
    "f(1)": "truth",
    "not f(1)": "truth",
    "await f(1)": "truth",
    "abs(f(1) - 0.33) < 1e-6": "approx(1e-06)",
    "1e-6 >= abs(2.0 / 3.0 - f(1))": "approx(1e-06)",
    "math.isclose(f(1), 0.5, abs_tol=0.1)": "approx(1e-09 relative, 0.1)",
}
INSIDE = [
    *(
        "f(1) == g(1)",
        "f(1) == [x]",
        "f(1) != 2",
        "1 == 1",
        "True",
        "f(1) < 2",
        "1 < f(1) < 3",
        "f(1) == ...",
    ),
    *("x in f(1)", "f(1) == 2 and f(2) == 3", "f(1) == 1 / 0", "abs(f(1)) < 1e-6", "f(1) == -x", "f(1) is x"),
]


@pytest.mark.parametrize(("text", "name"), OUTSIDE.items())
def test_these_forms_are_compared_outside(text: str, name: str) -> None:
    style = data_style(ast.parse(f"async def t():\n assert {text}").body[0].body[0].test)  # type: ignore[attr-defined]
    assert style is not None
    assert style.comparator.name == name


@pytest.mark.parametrize("text", INSIDE)
def test_these_forms_are_not(text: str) -> None:
    assert data_style(ast.parse(text, mode="eval").body) is None


@pytest.mark.parametrize(("value", "holds"), [(0.33, True), (0.34, False), (Level.ONE, None), ("x", False)])
def test_what_is_near_is_near_and_what_is_no_number_is_not(value: Any, holds: bool | None) -> None:
    style = data_style(ast.parse("abs(f(1) - 0.33) < 1e-6", mode="eval").body)
    assert style is not None
    assert style.comparator.holds(written(value)) is holds


@pytest.mark.parametrize("value", [math.nan, math.inf, 10**400, None, [0.33]])
def test_no_such_number_is_near(value: Any) -> None:
    for text in ("abs(f(1) - 0.33) < 1e-6", "math.isclose(f(1), 0.33)"):
        style = data_style(ast.parse(text, mode="eval").body)
        assert style is not None
        assert style.comparator.holds(written(value)) is False


@pytest.mark.parametrize("value", LITERALS, ids=lambda value: repr(value)[:20])
def test_a_decoy_differs_from_the_literal(value: Any) -> None:
    made = decoys(value)
    assert 1 <= len(made) <= 8
    assert all(decoy != literal(ast.parse(repr(value), mode="eval").body) for decoy in made)
