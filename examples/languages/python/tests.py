"""Which top-level statements of a published Python source are its tests, found with ast, never by string search.

A published record keeps everything in one file: the code, `test*` functions, and a block that calls them, usually
under `if __name__ == "__main__":`. A top-level statement that calls a test without that guard belongs to the block
too, since it cannot run before the tests are there.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from examples.languages.python.source import DEFINITIONS, FUNCTIONS, FunctionNode, bound_names, is_main_guard


@dataclass(frozen=True)
class Selection:
    """The tests of a module.

    functions  test functions in source order
    block      statements that run them, in source order
    expected   names of the test functions that the block reaches, in source order; all where no block names one
    driven     whether the block names a test; where it does not (`unittest.main()`), it is not to be run
    """

    functions: tuple[FunctionNode, ...]
    block: tuple[ast.stmt, ...]
    expected: tuple[str, ...]
    driven: bool


def select(tree: ast.Module, focal: FunctionNode | None = None, names: Sequence[str] = ()) -> Selection:
    """Return the tests of a module: functions called `test*`, or those of `names` where given; never the focal one.

    A `test*` function that needs arguments counts only when a block names it: otherwise it is ordinary code.
    """
    functions = [node for node in tree.body if isinstance(node, FUNCTIONS) and node is not focal]
    wanted = [node for node in functions if (node.name in names if names else node.name.startswith("test"))]
    candidates = {node.name for node in wanted}
    block = _block(tree, candidates)
    called = _names(block)
    tests = [node for node in wanted if names or node.name in called or not _needs_arguments(node)]
    unique = list(dict.fromkeys(node.name for node in tests))
    reached = called if called.issuperset(unique) else _reached(tree, called)
    expected = [name for name in unique if name in reached]
    return Selection(tuple(tests), tuple(block), tuple(expected or unique), driven=bool(expected))


def test_classes(tree: ast.Module) -> list[str]:
    """Return the names of top-level unittest or pytest classes, which are not test functions."""
    classes = [node for node in tree.body if isinstance(node, ast.ClassDef)]
    return [node.name for node in classes if _is_test_class(node)]


test_classes.__test__ = False  # type: ignore[attr-defined]  # pytest: not a test, in spite of its name


def _is_test_class(node: ast.ClassDef) -> bool:
    bases = [base.attr if isinstance(base, ast.Attribute) else getattr(base, "id", "") for base in node.bases]
    methods = any(isinstance(each, FUNCTIONS) and each.name.startswith("test") for each in node.body)
    return methods and (node.name.startswith("Test") or any(base.endswith("TestCase") for base in bases))


def _block(tree: ast.Module, tests: set[str]) -> list[ast.stmt]:
    """Return the guards and the bare statements that use a test, or a name that only such a statement binds."""
    block: list[ast.stmt] = []
    taken = set(tests)
    for node in tree.body:
        if is_main_guard(node):
            block.append(node)
        elif not isinstance(node, (*DEFINITIONS, ast.Import, ast.ImportFrom)) and _names([node]) & taken:
            block.append(node)
            taken |= bound_names(node)
    return block


def _needs_arguments(node: FunctionNode) -> bool:
    arguments = node.args
    positional = len(arguments.posonlyargs) + len(arguments.args) - len(arguments.defaults)
    return positional > 0 or any(default is None for default in arguments.kw_defaults)


def _reached(tree: ast.Module, called: set[str]) -> set[str]:
    """Return the names used by the block, and by the top-level functions and classes that it uses, and so on."""
    uses = {node.name: node for node in tree.body if isinstance(node, DEFINITIONS)}
    reached: set[str] = set()
    waiting = set(called)
    while waiting:
        name = waiting.pop()
        reached.add(name)
        if name in uses:
            waiting |= _names([uses[name]]) - reached
    return reached


def _names(statements: Iterable[ast.stmt]) -> set[str]:
    """Return the names that statements read."""
    return {
        node.id
        for statement in statements
        for node in ast.walk(statement)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)
    }
