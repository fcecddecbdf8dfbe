"""RULES: of a program that is to run by itself: it still holds the whole focal function, and no more than it should; pure."""

from __future__ import annotations

import ast

from examples.generation.rules.base import (
    Allowed,
    RuleBroken,
    focal_in,
    parsed,
    refuse_commands,
    refuse_imports,
    refuse_omissions,
)
from examples.languages.python import source as python

# Of the focal function's statements and expressions, at least so many must be left: adapting it takes a few away.
KEPT = 0.6


def check_program(program: str, *, source: str, function: str, allowed: Allowed, before: str = "") -> None:
    """Raise RuleBroken where a program breaks a rule. `before` is the one that it repairs, "" where there is none."""
    if before and _same(program, before):
        raise RuleBroken("same_again", "the program is the same as before. Change what fails.")
    tree = parsed(program)
    original = python.parse(source)
    try:
        focal = python.find(tree, function)
    except python.FunctionNotFound as error:
        raise RuleBroken("focal_missing", f"{error}.") from error
    refuse_omissions(program, tree, source)
    _refuse_shortened(focal, focal_in(original, function))
    _refuse_tests(tree, original, focal)
    refuse_commands(tree, original)
    refuse_imports(tree, allowed)


def _same(one: str, other: str) -> bool:
    """Return whether two texts are the same but for blanks at the ends of lines."""
    return [line.rstrip() for line in one.strip().splitlines()] == [
        line.rstrip() for line in other.strip().splitlines()
    ]


def _refuse_shortened(focal: python.FunctionNode, original: python.FunctionNode) -> None:
    now, was = _weight(focal), _weight(original)
    if now < KEPT * was:
        share = round(100 * now / was)
        said = (
            f"{focal.name} has {share} % of what it had. Keep it whole, and change only what cannot run here."
        )
        raise RuleBroken("shortened", said)


def _weight(node: python.FunctionNode) -> int:
    """Return how many statements and expressions a body has, its docstring apart."""
    body = node.body[1:] if python.docstring_node(node) else node.body
    return sum(isinstance(each, ast.stmt | ast.expr) for statement in body for each in ast.walk(statement))


def _refuse_tests(tree: ast.Module, original: ast.Module, focal: python.FunctionNode) -> None:
    known = {node.name for node in original.body if isinstance(node, python.DEFINITIONS)}
    for node in tree.body:
        if isinstance(node, python.DEFINITIONS) and node is not focal and node.name not in known:
            if node.name.lower().startswith("test"):
                said = f"line {node.lineno} defines {node.name}. Tests are asked for later."
                raise RuleBroken("holds_tests", said)
        elif python.is_main_guard(node) and not any(map(python.is_main_guard, original.body)):
            said = f"line {node.lineno} begins a block for __main__. Leave it out."
            raise RuleBroken("holds_tests", said)
