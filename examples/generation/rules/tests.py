"""RULES: of tests: each calls the focal function, asserts what can fail, and leaves the program alone; pure."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from examples.generation.rules.base import (
    Allowed,
    RuleBroken,
    parsed,
    refuse_commands,
    refuse_imports,
    refuse_omissions,
)
from examples.languages.python import source as python
from examples.languages.python.tests import test_classes
from examples.visible import is_evidence

FEWEST = 3


def check_tests(tests: str, *, program: str, function: str, allowed: Allowed, before: str = "") -> None:
    """Raise RuleBroken where tests break a rule. `before` is the text that they repair, "" where there is none."""
    if before and tests.strip() == before.strip():
        raise RuleBroken("same_again", "the tests are the same as before. Change the assertion that fails.")
    tree = parsed(tests)
    whole = python.parse(program)
    refuse_omissions(tests, tree)
    functions = functions_of_tests(tree)
    if not functions:
        classes = test_classes(tree)
        said = f"tests are methods of {', '.join(classes)}; " if classes else ""
        raise RuleBroken("no_test", f"{said}write functions def test_…() at the left margin.")
    _refuse_redefinition(tree, whole)
    for node in functions:
        if not calls(node, function):
            raise RuleBroken("does_not_call", f"{node.name} does not call {function}.")
    refuse_vacuous(functions)
    count = len(assertions(functions))
    if count < FEWEST:
        said = f"there are {count} assertions that the runner sees, and {FEWEST} are needed."
        raise RuleBroken("too_few_assertions", said)
    refuse_commands(tree, whole)
    refuse_imports(tree, allowed)


def functions_of_tests(tree: ast.Module) -> list[python.FunctionNode]:
    """Return the top-level test functions that need no arguments, in source order."""
    found = [
        node for node in tree.body if isinstance(node, python.FUNCTIONS) and node.name.startswith("test")
    ]
    return [node for node in found if not any(ast.iter_child_nodes(node.args))]


def assertions(functions: Sequence[python.FunctionNode]) -> list[ast.stmt]:
    """Return the assertions at the top level of test functions that the runner can report."""
    return [each for node in functions for each in node.body if is_evidence(each)]


def calls(node: ast.AST, function: str) -> bool:
    """Return whether a node uses the focal function: by its name, and for `__init__` and the like by its class's."""
    *owners, name = function.split(".")
    wanted = {name, *owners[-1:]} if name.startswith("__") and owners else {name}
    mangled = f"_{owners[-1].lstrip('_')}{name}" if owners and name.startswith("__") else name
    return any(
        (isinstance(each, ast.Name) and each.id in wanted)
        or (isinstance(each, ast.Attribute) and each.attr in {*wanted, mangled})
        for each in ast.walk(node)
    )


def refuse_vacuous(functions: Sequence[python.FunctionNode]) -> None:
    """Raise RuleBroken (`vacuous_assertion`) for an assertion that holds whatever the program does."""
    for node in functions:
        for each in ast.walk(node):
            if isinstance(each, ast.Assert) and _always_holds(each.test):
                said = f"line {each.lineno}, {ast.unparse(each)[:80]!r}, holds whatever the function does."
                raise RuleBroken("vacuous_assertion", said)


def _always_holds(test: ast.expr) -> bool:
    if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.Or):
        return any(map(_always_holds, test.values))
    if isinstance(test, ast.Tuple) and test.elts:
        return True  # `assert (x, "message")`
    if isinstance(test, ast.Compare) and len(test.ops) == 1:
        same = ast.dump(test.left) == ast.dump(test.comparators[0])
        if same and isinstance(test.ops[0], ast.Eq | ast.Is | ast.LtE | ast.GtE):
            return True
    return not any(isinstance(each, ast.Name | ast.Call | ast.Attribute) for each in ast.walk(test))


def _refuse_redefinition(tree: ast.Module, program: ast.Module) -> None:
    known = {name: node for node in program.body for name in python.bound_names(node)}
    for node in tree.body:
        if isinstance(node, ast.Import | ast.ImportFrom):
            continue
        for name in sorted(python.bound_names(node)):
            if name in known:
                said = f"line {node.lineno} defines {name}, which the program has. Write the tests only."
                raise RuleBroken("redefines", said)
