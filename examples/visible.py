"""MASK: the part of the tests that an annotator sees: the test functions cut after the n-th top-level assertion; pure."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass

from examples.languages.python import source as python
from examples.masking import line_ended, trailing_comments


@dataclass(frozen=True)
class VisiblePart:
    """What is shown and run as the visible tests.

    text      source of the test functions, cut; those wholly beyond are stubs, so that the block still runs
    expected  names of the test functions whose visible part holds evidence (see is_evidence)
    block     the published block, or "" where it holds assertions of its own (the runner then calls each test)
    count     how many top-level assertions are visible, of `total`
    """

    text: str
    expected: tuple[str, ...]
    block: str
    count: int
    total: int


def default_count(tree: ast.Module, expected: Sequence[str]) -> int:
    """Return how many assertions are visible where nobody chose: the first third, rounded up.

    It goes on to the first one that holds evidence where the third has none: a run that reports nothing is not passed.
    """
    assertions = _assertions(tree, expected)
    first = next((at for at, each in enumerate(assertions, start=1) if is_evidence(each)), 0)
    return max(-(-len(assertions) // 3), first)


def count_assertions(tree: ast.Module, expected: Sequence[str]) -> int:
    """Return how many top-level assertions the expected test functions of a module have."""
    return len(_assertions(tree, expected))


def _assertions(tree: ast.Module, expected: Sequence[str]) -> list[ast.stmt]:
    return [each for node in _functions(tree, expected) for each in node.body if is_assertion(each)]


def assertion_lines(tests: str, expected: Sequence[str]) -> dict[str, list[tuple[int, int]]]:
    """Return for each expected test function the (first, last) lines of its top-level assertions, in order."""
    functions = _functions(python.parse(tests), expected)
    return {
        node.name: [(each.lineno, each.end_lineno or each.lineno) for each in node.body if is_assertion(each)]
        for node in functions
    }


def visible_part(
    tests: str, expected: Sequence[str], block: str = "", *, count: int | None = None
) -> VisiblePart:
    """Return the first `count` top-level assertions of the expected test functions; None means a third, rounded up.

    A top-level assertion is a statement directly in the body: an `assert`, a call of `self.assert*`, or a compound
    statement (`with`, `for`, `if`, `try` …) that holds one. Raises SourceInvalid where `tests` is not Python.
    """
    tree = python.parse(tests)
    functions = _functions(tree, expected)
    total = count_assertions(tree, expected)
    left = wanted = min(default_count(tree, expected) if count is None else max(count, 0), total)
    positions = python.Positions(tests)
    pieces, at, shown = [], 0, []
    for node in functions:
        own = [each for each in node.body if is_assertion(each)][:left]
        left -= len(own)
        if any(is_evidence(each) for each in own):
            shown.append(node.name)
        if own:
            pieces += [positions.data[at : positions.end(own[-1])].decode(), _rest(node, positions, own)]
        else:
            pieces += [_before(node, tree, positions, at), _stub(node)]
        at = trailing_comments(positions, positions.end(node), None)
    behind = positions.data[at:].decode() if wanted == total else _uncommented(tree, positions, at)
    text = "".join(pieces) + behind
    return VisiblePart(text, tuple(shown), "" if _asserts(block) else block, wanted, total)


def _functions(tree: ast.Module, expected: Sequence[str]) -> list[python.FunctionNode]:
    """Return the expected functions in source order; of two with one name, the last, which is the one that runs."""
    named = {
        node.name: node for node in tree.body if isinstance(node, python.FUNCTIONS) and node.name in expected
    }
    return sorted(named.values(), key=lambda node: node.lineno)


def _before(node: python.FunctionNode, tree: ast.Module, positions: python.Positions, at: int) -> str:
    """Return what stands between a place and a hidden function, without comments directly below it and above that."""
    start = positions.start(node)
    above = tree.body[: tree.body.index(node)]
    end = max(at, positions.end(above[-1]) if above else 0)
    return _uncommented(tree, positions, at, end) + "\n" * positions.data[end:start].count(b"\n")


def _uncommented(tree: ast.Module, positions: python.Positions, at: int, end: int | None = None) -> str:
    """Return what stands from a place behind a test on: for the comments up to the next statement their line breaks."""
    data = positions.data[:end]
    starts = (positions.start(node) for node in tree.body)
    begin = min((start for start in starts if at <= start < len(data)), default=len(data))
    return "\n" * data[at:begin].count(b"\n") + data[begin:].decode()


def _stub(node: python.FunctionNode) -> str:
    """Return what stands for a function of which nothing is visible: its name, for who calls it, and its kind."""
    word = "async def" if isinstance(node, ast.AsyncFunctionDef) else "def"
    takes_any = "*args, **kwargs" if any(ast.iter_child_nodes(node.args)) else ""
    filler = "yield from ()" if word == "def" and _yields(node.body) else "pass"
    return f"{word} {node.name}({takes_any}):\n    {filler}"


def _rest(node: python.FunctionNode, positions: python.Positions, own: list[ast.stmt]) -> str:
    """Return what stands for the part that is cut off: nothing where that does not change the kind of function."""
    kept = node.body[: node.body.index(own[-1]) + 1]
    stays_generator = not _yields(node.body) or isinstance(node, ast.AsyncFunctionDef) or _yields(kept)
    if stays_generator:
        return ""
    filler = "yield from ()"
    start = positions.start(own[0])
    indentation = positions.data[positions.starts[positions.line_at(start) - 1] : start].decode()
    return (
        "; " + filler
        if indentation.strip() or isinstance(own[-1], ast.Assert)
        else f"\n{indentation}{filler}"
    )


def is_assertion(statement: ast.stmt) -> bool:
    """Return whether a statement asserts something itself, not merely inside a function that it defines."""
    if isinstance(statement, ast.Assert):
        return True
    if isinstance(statement, ast.Raise):
        return _name(statement.exc) == "AssertionError"
    if isinstance(statement, ast.Expr):
        return _is_assertion_call(statement.value)
    if isinstance(statement, python.DEFINITIONS):
        return False
    if isinstance(statement, ast.With | ast.AsyncWith):
        calls = [item.context_expr for item in statement.items]
        if any(_is_assertion_call(call) or _name(call) in ("raises", "warns") for call in calls):
            return True
    return any(is_assertion(each) for block in python.blocks(statement) for each in block)


def is_evidence(statement: ast.stmt) -> bool:
    """Return whether the runner can report that an assertion held: an `assert`, here or in a helper called by name.

    `raise AssertionError`, `pytest.raises` and methods such as `mock.assert_called` only show that one did not.
    """
    return any(
        isinstance(node, ast.Assert)
        or (isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and _is_assertion_call(node))
        for node in ast.walk(statement)
    )


def _is_assertion_call(node: ast.expr) -> bool:
    """Return whether an expression is a call like `self.assertEqual(…)`, `mock.assert_called()` or `pytest.fail()`."""
    if isinstance(node, ast.Await):
        node = node.value
    if not isinstance(node, ast.Call):
        return False
    name = _name(node)
    return name.startswith("assert") or (name == "fail" and isinstance(node.func, ast.Attribute))


def _name(node: ast.expr | None) -> str:
    if isinstance(node, ast.Call):
        node = node.func
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else ""


def _asserts(block: str) -> bool:
    tree = python.parse(line_ended(block))
    return any(map(is_assertion, tree.body)) or any(isinstance(node, ast.Assert) for node in ast.walk(tree))


def _yields(body: Sequence[ast.AST]) -> bool:
    """Return whether statements yield, functions defined inside them apart."""
    return any(
        isinstance(node, ast.Yield | ast.YieldFrom)
        or (
            not isinstance(node, (*python.DEFINITIONS, ast.Lambda))
            and _yields(list(ast.iter_child_nodes(node)))
        )
        for node in body
    )
