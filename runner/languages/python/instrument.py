"""Rewrites tests so that every assertion and every test function reports how it came out; pure.

Each `assert` of a test function becomes a numbered report, the function's body stands in a context that writes its
completion record, and every other assertion of the text (a helper's) reports to the test that is running. All names
put in begin with one random name, so a test's own names cannot clash. Line numbers stay those of the given text.

An assertion that compares a value with a literal (datastyle.py) becomes data-style where the comparison is made outside:
the literal is left out of the text, the process says what the value is, and the host compares. Else the literal stays
and the process compares, a value with an `__eq__` of its own from both sides: it must equal the literal and no decoy.
"""

from __future__ import annotations

import ast
import math
import secrets
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple

from runner.comparing import Approx, Close, Comparator, Exact, Truth
from runner.languages.python.datastyle import DataStyle, as_assert, asserting_call, data_style
from runner.languages.python.inside.plain import hint
from runner.languages.python.parsing import parse

MAIN = "__main__"
PLACEHOLDER = "_" + secrets.token_hex(12)
ORDERS = (ast.Lt, ast.LtE, ast.Gt, ast.GtE)
HINT_BITS, SHORT_FORM = 4, 6
Function = ast.FunctionDef | ast.AsyncFunctionDef
# What assertions use to look at a value. An honest program replaces none of these.
BUILTINS = frozenset(
    [
        "abs",
        "all",
        "any",
        "bytes",
        "callable",
        "dict",
        "enumerate",
        "float",
        "frozenset",
        "getattr",
        "hasattr",
        "int",
        "isinstance",
        "issubclass",
        "len",
        "list",
        "map",
        "max",
        "min",
        "range",
        "repr",
        "reversed",
        "round",
        "set",
        "sorted",
        "str",
        "sum",
        "tuple",
        "type",
        "zip",
    ]
)


class Planned(NamedTuple):
    """An assertion that stands in a test function: where a row may come from."""

    test: str
    assertion: int
    line: int
    comparator: Comparator | None = None
    certain: bool = False


class Text(NamedTuple):
    """An instrumented text and, for each of its lines, the line of the original."""

    source: str
    lines: list[int]


@dataclass(frozen=True)
class Instrumented:
    """What goes into the box in place of the tests and the block."""

    name: str
    tests: Text
    block: Text
    planned: tuple[Planned, ...]


def instrument(tests: str, block: str, expected: Sequence[str], *, outside: bool = False) -> Instrumented:
    """Return both texts instrumented for the expected ids, under a fresh random name.

    `outside` says that data-style assertions are compared outside the process.

    A text that this Python cannot parse is passed on as it stands: it reports nothing, so nothing in it can pass.
    """
    made = _instrument(tests, block, tuple(expected), outside)
    name = "_" + secrets.token_hex(12)
    renamed = [Text(text.source.replace(PLACEHOLDER, name), text.lines) for text in (made.tests, made.block)]
    return Instrumented(name, renamed[0], renamed[1], made.planned)


@lru_cache(maxsize=256)
def _instrument(tests: str, block: str, expected: tuple[str, ...], outside: bool) -> Instrumented:
    planned: list[Planned] = []
    try:
        tree = parse(tests)
        block_tree = parse(block)
        rewriter = _Rewriter(expected, planned, outside=outside, taken=bound(tree) | bound(block_tree))
        rewriter.visit(tree)
        if MAIN in expected:
            _wrap_block(block_tree, rewriter)
        else:
            rewriter.visit(block_tree)
        return Instrumented(PLACEHOLDER, _text(tree), _text(block_tree), tuple(planned))
    except (SyntaxError, ValueError, RecursionError):
        return Instrumented(PLACEHOLDER, Text(tests, []), Text(block, []), ())


def _wrap_block(block: ast.Module, rewriter: _Rewriter) -> None:
    """Treat the whole block as the body of a test with the id `__main__`."""
    block.body = rewriter.body_of_test(MAIN, block.body)


def _text(tree: ast.Module) -> Text:
    """Return the tree's source and the original line of each of its lines."""
    ast.fix_missing_locations(tree)
    source = ast.unparse(tree)
    lines = [0] * (source.count("\n") + 1)
    for old, new in zip(_located(tree), _located(parse(source)), strict=True):
        lines[new.lineno - 1] = lines[new.lineno - 1] or old.lineno
    for index in range(len(lines)):
        lines[index] = lines[index] or (lines[index - 1] if index else 1)
    return Text(source, lines)


def _located(tree: ast.AST) -> Iterable[ast.stmt | ast.excepthandler]:
    return (node for node in ast.walk(tree) if isinstance(node, (ast.stmt, ast.excepthandler)))


class _Rewriter(ast.NodeTransformer):
    """Walks the text once; knows in which test function, if any, it is."""

    def __init__(
        self, expected: Sequence[str], planned: list[Planned], *, outside: bool, taken: set[str]
    ) -> None:
        self.expected = frozenset(expected)
        self.planned = planned
        self.outside_process = outside
        self.builtins = _Builtins(frozenset() if "builtins" in taken else (BUILTINS | {"math"}) - taken)
        self.certain: frozenset[ast.stmt] = frozenset()
        self.nested = 0
        self.path: list[str] = []
        self.test: str | None = None
        self.number = 0
        self.outside = 0

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.AST:
        self.path.append(node.name)
        self.generic_visit(node)
        self.path.pop()
        return node

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        return self._function(node)

    def visit_AsyncFunctionDef(self, node: ast.AsyncFunctionDef) -> ast.AST:
        return self._function(node)

    def _function(self, node: Function) -> ast.AST:
        name = ".".join([*self.path, node.name])
        if self.test is None and name in self.expected:
            node.body = self.body_of_test(name, node.body)
            return node
        self.path.append(f"{node.name}()")
        self.nested += 1
        self.generic_visit(node)
        self.nested -= 1
        self.path.pop()
        return node

    def visit_For(self, node: ast.For) -> ast.AST:
        return self._nest(node)

    def visit_AsyncFor(self, node: ast.AsyncFor) -> ast.AST:
        return self._nest(node)

    def visit_While(self, node: ast.While) -> ast.AST:
        return self._nest(node)

    def _nest(self, node: ast.AST) -> ast.AST:
        """Visit what may run any number of times."""
        self.nested += 1
        self.generic_visit(node)
        self.nested -= 1
        return node

    def body_of_test(self, test: str, body: list[ast.stmt]) -> list[ast.stmt]:
        """Return the body inside the context that reports it; a docstring stays in front."""
        docstring = (
            body[:1] if body and ast.get_docstring(ast.Module(body, []), clean=False) is not None else []
        )
        self.test, self.number, self.nested = test, 0, 0
        self.certain = frozenset(_certain(body))
        rest: list[ast.stmt] = []
        for statement in body[len(docstring) :]:
            visited = self.visit(statement)
            rest.extend(visited if isinstance(visited, list) else [visited])
        inner = rest or [ast.Pass()]
        context = _call(PLACEHOLDER, "test", ast.Constant(test), ast.Constant(self.number))
        reporting = ast.With([ast.withitem(context, ast.Name(f"{PLACEHOLDER}_t", ast.Store()))], inner)
        self.test = None
        if body:
            ast.copy_location(reporting, body[0])
        return [*docstring, ast.fix_missing_locations(reporting)]

    def visit_Assert(self, node: ast.Assert) -> list[ast.stmt]:
        style = self._style(node.test)
        self.generic_visit(node)
        return self._reported(node, style, lambda handle: [self._check(node, style, handle)])

    def visit_Expr(self, node: ast.Expr) -> ast.AST | list[ast.stmt]:
        """Let a statement of a test that asserts by a call report as an assertion."""
        call = asserting_call(node) if self.test is not None else None
        if call is None:
            return self.generic_visit(node)
        plain = as_assert(call)
        if plain is not None:
            if node in self.certain:
                self.certain |= {plain}
            return self.visit_Assert(ast.copy_location(plain, node))
        self.generic_visit(node)
        holds = ast.Constant(True)
        return self._reported(node, None, lambda handle: [node, ast.Expr(_call(handle, "holds", holds))])

    def _reported(
        self, node: ast.stmt, style: DataStyle | None, made: Callable[[str], list[ast.stmt]]
    ) -> list[ast.stmt]:
        """Return what is made of an assertion behind the statement that gives it its number."""
        if self.test is None:
            self.outside += 1
            owner, number = PLACEHOLDER, self.outside
        else:
            self.number += 1
            owner, number = f"{PLACEHOLDER}_t", self.number
            comparator = style.comparator if style and self.outside_process else None
            certain = node in self.certain
            self.planned.append(Planned(self.test, number, node.lineno, comparator, certain))
        handle = f"{PLACEHOLDER}_a"
        begin = ast.Assign(
            [ast.Name(handle, ast.Store())],
            _call(owner, "at", ast.Constant(number), ast.Constant(node.lineno)),
        )
        return [ast.fix_missing_locations(ast.copy_location(each, node)) for each in (begin, *made(handle))]

    def _style(self, test: ast.expr) -> DataStyle | None:
        """Return how the assertion is compared outside, None where it is not, or reports too often for that."""
        style = data_style(test) if self.test is not None else None
        too_often = style is not None and self.nested and isinstance(style.comparator, (Approx, Close))
        return None if too_often else style

    def _check(self, node: ast.Assert, style: DataStyle | None, handle: str) -> ast.stmt:
        """Return the statement that evaluates the assertion and reports it."""
        if style is not None and self.outside_process:
            return self._tell(style, handle)
        condition = self.builtins.visit(node.test)
        asked = _asked(condition, handle)
        holds = asked or _call(handle, "holds", _noted(condition, handle))
        failed = _call(handle, "failed", *([node.msg] if node.msg is not None else []))
        return ast.If(ast.UnaryOp(ast.Not(), holds), [ast.Raise(failed, None)], [])

    def _tell(self, style: DataStyle, handle: str) -> ast.stmt:
        """Return the statement that tells the value, for the host to compare."""
        if isinstance(style.comparator, Truth):
            return ast.Expr(_call(handle, "counts", self.builtins.visit(style.value)))
        return ast.Expr(_call(handle, "tells", self.builtins.visit(style.value), *_hint(style.comparator)))


def _asked(test: ast.expr, handle: str) -> ast.expr | None:
    """Return the call that asks both sides of `==`, `<` or `in`, None for other conditions and where anything may be equal."""
    if not (isinstance(test, ast.Compare) and len(test.ops) == 1):
        return None
    names = {getattr(node, "id", getattr(node, "attr", "")) for node in ast.walk(test)}
    kind = type(test.ops[0])
    method = {ast.Eq: "equals", ast.In: "contains"}.get(kind, "ordered" if kind in ORDERS else "")
    if not method or names & {"ANY", "approx"}:
        return None
    order = [ast.Constant(kind.__name__.lower())] if method == "ordered" else []
    return _call(handle, method, test.left, test.comparators[0], *order)


class _Builtins(ast.NodeTransformer):
    """Lets an assertion call the built-in functions as they were before the program could replace them."""

    def __init__(self, names: frozenset[str]) -> None:
        self.names = names

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        function = node.func
        if isinstance(function, ast.Name) and function.id in self.names:
            node.func = _call(PLACEHOLDER, "builtin", ast.Constant(function.id))
        elif isinstance(function, ast.Attribute) and self._is_math(function):
            node.func = _call(PLACEHOLDER, "builtin", ast.Constant(f"math.{function.attr}"))
        return node

    def _is_math(self, function: ast.Attribute) -> bool:
        module = function.value
        named = isinstance(module, ast.Name) and module.id == "math" and "math" in self.names
        return named and hasattr(math, function.attr)

    def visit_Lambda(self, node: ast.Lambda) -> ast.AST:
        return node


def _hint(comparator: Comparator) -> list[ast.expr]:
    """Return a few bits by which the process can mostly tell a wrong value, so that a failed test need not go on.

    They are of a digest under a key of their own and too few to find the value by. A value of few kinds has none.
    """
    if not isinstance(comparator, Exact) or comparator.form in ("N", "n0", "n1"):
        return []
    bits = HINT_BITS if len(comparator.form) > SHORT_FORM else HINT_BITS // 2
    key = secrets.token_hex(8)
    return [ast.Constant(part) for part in (key, bits, hint(comparator.form, key, bits))]


def node_of(value: Any) -> ast.expr:
    """Return the expression of a literal."""
    if isinstance(value, (list, tuple)):
        items = [node_of(item) for item in value]
        return ast.Tuple(items, ast.Load()) if isinstance(value, tuple) else ast.List(items, ast.Load())
    if isinstance(value, dict):
        return ast.Dict([node_of(key) for key in value], [node_of(item) for item in value.values()])
    if isinstance(value, (set, frozenset)):
        return ast.Set([node_of(item) for item in value])
    return ast.Constant(value)


def _certain(body: list[ast.stmt]) -> Iterable[ast.stmt]:
    """Yield the statements that have been run whenever the whole body has ended without an exception."""
    for statement in body:
        yield statement
        if any(isinstance(node, (ast.Return, ast.Yield, ast.YieldFrom)) for node in ast.walk(statement)):
            return


def bound(tree: ast.Module) -> set[str]:
    """Return the names that a text binds anywhere, and the first parts of the texts in it that look like a path."""
    names: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
            names.add(node.id)
        elif isinstance(node, ast.arg):
            names.add(node.arg)
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            names.add(node.name)
        elif isinstance(node, ast.alias):
            names |= {(node.asname or node.name).split(".")[0]} - ({"math"} if node.name == "math" else set())
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and "." in node.value:
            names.add(node.value.split(".")[0])
    return names


def _noted(test: ast.expr, handle: str) -> ast.expr:
    """Return the condition with each operand of a comparison noted as it is evaluated."""
    if not isinstance(test, ast.Compare):
        return test
    operands = [
        _call(handle, "of", ast.Constant(place), operand)
        for place, operand in enumerate([test.left, *test.comparators])
    ]
    return ast.Compare(operands[0], test.ops, list[ast.expr](operands[1:]))


def _call(owner: str, method: str, *arguments: ast.expr) -> ast.Call:
    return ast.Call(ast.Attribute(ast.Name(owner, ast.Load()), method, ast.Load()), list(arguments), [])
