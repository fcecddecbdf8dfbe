"""REPAIR: leave single wrong assertions out, where enough remain; costs no question."""

from __future__ import annotations

import ast

from examples.generation.failing import failures
from examples.generation.rules.tests import FEWEST, assertions, functions_of_tests
from examples.languages.python import source as python
from examples.visible import is_evidence
from runner.models import Execution


def without_failing(tests: str, execution: Execution) -> str:
    """Return the tests without the assertions that failed on the reference, "" where fewer than three would remain.

    A test stops at its first failing assertion, so others may come to light the next time.
    """
    places = {(row.test, row.line) for row in failures(execution) if row.assertion is not None}
    tree = python.parse(tests)
    gone: list[ast.stmt] = []
    for node in functions_of_tests(tree):
        wrong = [each for each in node.body if _holds_one(each, node.name, places)]
        left = [each for each in node.body if is_evidence(each) and each not in wrong]
        gone += wrong if left or not wrong else [node]
    kept = _without(tests, gone)
    if not gone or kept is None or len(assertions(functions_of_tests(python.parse(kept)))) < FEWEST:
        return ""
    return kept


def _holds_one(statement: ast.stmt, test: str, places: set[tuple[str, int | None]]) -> bool:
    """Return whether a statement is an assertion by itself, and one of those that failed."""
    lines = range(statement.lineno, (statement.end_lineno or statement.lineno) + 1)
    return isinstance(statement, ast.Assert) and any((test, line) in places for line in lines)


def _without(tests: str, gone: list[ast.stmt]) -> str | None:
    """Return the text without the lines of statements, None where one shares its lines with something else."""
    lines = tests.splitlines(keepends=True)
    taken = {
        line for each in gone for line in range(python.first_line(each, lines), (each.end_lineno or 0) + 1)
    }
    kept = "".join(line for number, line in enumerate(lines, start=1) if number not in taken)
    try:
        before, after = python.parse(tests), python.parse(kept)
    except python.SourceInvalid:
        return None
    count = sum(isinstance(each, ast.stmt) for each in ast.walk(before))
    lost = sum(isinstance(inner, ast.stmt) for each in gone for inner in ast.walk(each))
    return kept if sum(isinstance(each, ast.stmt) for each in ast.walk(after)) == count - lost else None
