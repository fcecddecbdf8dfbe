"""Rewrites tests so that every assertion and every test function reports how it came out; pure.

Each `assert` of a test function becomes a numbered report, the function's body stands in a context that writes its
completion record, and every other assertion of the text (a helper's) reports to the test that is running. All names
put in begin with one random name, so a test's own names cannot clash. Line numbers stay those of the given text.
"""

from __future__ import annotations

import ast
import secrets
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

from runner.languages.python.parsing import parse

MAIN = "__main__"
PLACEHOLDER = "_" + secrets.token_hex(12)
Function = ast.FunctionDef | ast.AsyncFunctionDef


class Planned(NamedTuple):
    """An assertion that stands in a test function: where a row may come from."""

    test: str
    assertion: int
    line: int


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


def instrument(tests: str, block: str, expected: Sequence[str]) -> Instrumented:
    """Return both texts instrumented for the expected ids, under a fresh random name.

    A text that this Python cannot parse is passed on as it stands: it reports nothing, so nothing in it can pass.
    """
    made = _instrument(tests, block, tuple(expected))
    name = "_" + secrets.token_hex(12)
    renamed = [Text(text.source.replace(PLACEHOLDER, name), text.lines) for text in (made.tests, made.block)]
    return Instrumented(name, renamed[0], renamed[1], made.planned)


@lru_cache(maxsize=256)
def _instrument(tests: str, block: str, expected: tuple[str, ...]) -> Instrumented:
    planned: list[Planned] = []
    try:
        tree = parse(tests)
        block_tree = parse(block)
        rewriter = _Rewriter(expected, planned)
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

    def __init__(self, expected: Sequence[str], planned: list[Planned]) -> None:
        self.expected = frozenset(expected)
        self.planned = planned
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
        self.generic_visit(node)
        self.path.pop()
        return node

    def body_of_test(self, test: str, body: list[ast.stmt]) -> list[ast.stmt]:
        """Return the body inside the context that reports it; a docstring stays in front."""
        docstring = (
            body[:1] if body and ast.get_docstring(ast.Module(body, []), clean=False) is not None else []
        )
        self.test, self.number = test, 0
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
        self.generic_visit(node)
        if self.test is None:
            self.outside += 1
            owner, number = PLACEHOLDER, self.outside
        else:
            self.number += 1
            owner, number = f"{PLACEHOLDER}_t", self.number
            self.planned.append(Planned(self.test, number, node.lineno))
        handle = f"{PLACEHOLDER}_a"
        begin = ast.Assign(
            [ast.Name(handle, ast.Store())],
            _call(owner, "at", ast.Constant(number), ast.Constant(node.lineno)),
        )
        holds = _call(handle, "holds", _noted(node.test, handle))
        failed = _call(handle, "failed", *([node.msg] if node.msg is not None else []))
        check = ast.If(ast.UnaryOp(ast.Not(), holds), [ast.Raise(failed, None)], [])
        return [ast.fix_missing_locations(ast.copy_location(made, node)) for made in (begin, check)]


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
