"""DATA-STYLE: which assertions are a value against a literal, and so can be compared outside the program's process; pure.

`E == L` and `L == E`, `E is None`, `E is not None` (also True and False), `E`, `not E`, `abs(E - L) < t` (also `<=`,
`math.fabs` and both ways round) and `math.isclose(E, L, …)`, where L is a literal, arithmetic on numbers included.
What is left in the process is E; L is taken out of the text, so a program cannot find it there.
"""

from __future__ import annotations

import ast
import math
from collections.abc import Callable
from typing import Any, NamedTuple

from runner.comparing import Approx, Close, Comparator, Exact, Identical, Truth
from runner.languages.python.inside.plain import Opaque, TooLarge, form_of, short

_SINGLE = {None: ("NoneType", "N"), True: ("bool", "n1"), False: ("bool", "n0")}
_OPERATIONS: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: lambda a, b: a + b,
    ast.Sub: lambda a, b: a - b,
    ast.Mult: lambda a, b: a * b,
    ast.Div: lambda a, b: a / b,
    ast.FloorDiv: lambda a, b: a // b,
    ast.Mod: lambda a, b: a % b,
}
_SHOWN = (ast.Call, ast.Await, ast.Name, ast.Attribute, ast.Subscript)


class DataStyle(NamedTuple):
    """An assertion that is compared outside: what is evaluated in the process, and how it must come out."""

    value: ast.expr
    comparator: Comparator


# Methods of unittest.TestCase as the condition that they assert.
_METHODS: dict[str, tuple[int, Callable[[list[ast.expr]], ast.expr]]] = {
    "assertEqual": (2, lambda given: ast.Compare(given[0], [ast.Eq()], [given[1]])),
    "assertEquals": (2, lambda given: ast.Compare(given[0], [ast.Eq()], [given[1]])),
    "assertIs": (2, lambda given: ast.Compare(given[0], [ast.Is()], [given[1]])),
    "assertIsNone": (1, lambda given: ast.Compare(given[0], [ast.Is()], [ast.Constant(None)])),
    "assertIsNotNone": (1, lambda given: ast.Compare(given[0], [ast.IsNot()], [ast.Constant(None)])),
    "assertTrue": (1, lambda given: given[0]),
    "assertFalse": (1, lambda given: ast.UnaryOp(ast.Not(), given[0])),
}
_MOCKS = ("assert_called", "assert_not_called", "assert_any_call", "assert_has_calls", "assert_awaited")


class NoLiteral(ValueError):
    """The expression is no literal."""


def data_style(test: ast.expr) -> DataStyle | None:
    """Return the condition of an assertion as a value and a comparator, None where it is not of such a form."""
    if isinstance(test, ast.Compare) and len(test.ops) == 1:
        return _compared(test.left, test.ops[0], test.comparators[0])
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not) and isinstance(test.operand, _SHOWN):
        return DataStyle(test.operand, Truth(False))
    if isinstance(test, ast.Call) and _called(test, "isclose"):
        return _close(test)
    return DataStyle(test, Truth(True)) if isinstance(test, _SHOWN) else None


def asserting_call(statement: ast.stmt) -> ast.Call | None:
    """Return the call by which a statement asserts, as `self.assertEqual(…)` and `assert_allclose(…)` do."""
    value = statement.value if isinstance(statement, ast.Expr) else None
    call = value.value if isinstance(value, ast.Await) else value
    if not isinstance(call, ast.Call):
        return None
    name = called_name(call)
    return call if name.startswith("assert") and not name.startswith(_MOCKS) else None


def as_assert(call: ast.Call) -> ast.Assert | None:
    """Return what a method of unittest.TestCase asserts as a plain assertion, None for other calls."""
    function = call.func
    if not (isinstance(function, ast.Attribute) and isinstance(function.value, ast.Name)):
        return None
    taken, condition = _METHODS.get(function.attr, (0, None))
    if function.value.id != "self" or condition is None or call.keywords:
        return None
    if not taken <= len(call.args) <= taken + 1 or any(isinstance(each, ast.Starred) for each in call.args):
        return None
    return ast.Assert(condition(call.args), call.args[taken] if len(call.args) > taken else None)


def called_name(call: ast.Call) -> str:
    """Return the last name of what is called."""
    function = call.func
    return function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")


def literal(node: ast.expr) -> Any:
    """Return the value of a literal; numbers may be reckoned with. Raises NoLiteral."""
    try:
        if any(isinstance(part, ast.Constant) and part.value is ... for part in ast.walk(node)):
            raise NoLiteral
        return ast.literal_eval(node)
    except NoLiteral:
        raise
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        return _reckoned(node)


def _reckoned(node: ast.expr) -> Any:
    if isinstance(node, ast.Constant):
        return node.value
    if isinstance(node, (ast.Tuple, ast.List)):
        items = [_reckoned(item) for item in node.elts]
        return tuple(items) if isinstance(node, ast.Tuple) else items
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        return -_number(node.operand)
    if isinstance(node, ast.BinOp) and type(node.op) in _OPERATIONS:
        try:
            return _OPERATIONS[type(node.op)](_number(node.left), _number(node.right))
        except ArithmeticError:
            raise NoLiteral from None
    raise NoLiteral


def _number(node: ast.expr) -> int | float:
    value = _reckoned(node)
    if type(value) not in (int, float):
        raise NoLiteral
    number: int | float = value
    return number


def _compared(left: ast.expr, operator: ast.cmpop, right: ast.expr) -> DataStyle | None:
    if isinstance(operator, ast.Eq):
        return _exact(left, right) or _exact(right, left)
    if isinstance(operator, (ast.Is, ast.IsNot)):
        for value, single in ((left, right), (right, left)):
            if (
                isinstance(single, ast.Constant)
                and (single.value is None or isinstance(single.value, bool))
                and not isinstance(value, ast.Constant)
            ):
                kind, form = _SINGLE[single.value]
                return DataStyle(value, Identical(kind, form, isinstance(operator, ast.Is)))
    if isinstance(operator, (ast.Lt, ast.LtE)):
        return _near(left, right, inclusive=isinstance(operator, ast.LtE))
    if isinstance(operator, (ast.Gt, ast.GtE)):
        return _near(right, left, inclusive=isinstance(operator, ast.GtE))
    return None


def _exact(value: ast.expr, expected: ast.expr) -> DataStyle | None:
    if _is_literal(value):
        return None
    try:
        form = form_of(literal(expected))
    except (NoLiteral, Opaque, TooLarge, TypeError):
        return None
    return DataStyle(value, Exact(short(form)))


def _near(distance: ast.expr, tolerance: ast.expr, *, inclusive: bool) -> DataStyle | None:
    """Return `abs(E - L) < t` as data."""
    if not (isinstance(distance, ast.Call) and (_called(distance, "fabs") or _named(distance, "abs"))):
        return None
    inner = distance.args[0] if len(distance.args) == 1 and not distance.keywords else None
    if not (isinstance(inner, ast.BinOp) and isinstance(inner.op, ast.Sub)):
        return None
    for value, expected in ((inner.left, inner.right), (inner.right, inner.left)):
        wanted, near = _plain_number(expected), _plain_number(tolerance)
        if wanted is not None and near is not None and not _is_literal(value):
            return DataStyle(value, Approx(wanted, near, inclusive))
    return None


def _close(call: ast.Call) -> DataStyle | None:
    """Return `math.isclose(E, L, …)` as data."""
    options = {keyword.arg or "": _plain_number(keyword.value) for keyword in call.keywords}
    relative, absolute = options.pop("rel_tol", 1e-09), options.pop("abs_tol", 0.0)
    if len(call.args) != 2 or options or relative is None or absolute is None:
        return None
    if relative < 0 or absolute < 0:
        return None
    for value, expected in (call.args, call.args[::-1]):
        wanted = _plain_number(expected)
        if wanted is not None and not _is_literal(value):
            return DataStyle(value, Close(wanted, relative, absolute))
    return None


def _called(call: ast.Call, name: str) -> bool:
    """Return whether a call names a function of the module `math`."""
    function = call.func
    return (
        isinstance(function, ast.Attribute)
        and function.attr == name
        and isinstance(function.value, ast.Name)
        and function.value.id == "math"
    )


def _named(call: ast.Call, name: str) -> bool:
    return isinstance(call.func, ast.Name) and call.func.id == name


def _plain_number(node: ast.expr) -> float | None:
    try:
        value = literal(node)
    except NoLiteral:
        return None
    return value if type(value) in (int, float) and math.isfinite(value) else None


def _is_literal(node: ast.expr) -> bool:
    try:
        literal(node)
    except NoLiteral:
        return False
    return True
