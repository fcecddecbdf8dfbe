"""CANARY: the changes of a job's tests that make one expectation wrong; pure. Which of them are kept, checks decide.

For an `==` its expected side: the literal, or a constant in the expression that stands for it. A negation only where
there is none: it does not tell an object that equals everything from a right one. Calls that assert (`assertEqual`,
`assert_allclose`, `assertRaises`, `raises`) are changed in what they expect too.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

from runner.comparing import Truth
from runner.languages.base import CanaryPlan
from runner.languages.python.datastyle import NoLiteral, asserting_call, called_name, data_style, literal
from runner.languages.python.inside.plain import decoys
from runner.languages.python.instrument import MAIN, Planned, instrument, node_of
from runner.languages.python.parsing import parse
from runner.sandbox.base import Canary, Job

RAISING = ("raises", "assertRaises", "assert_raises")
CONSTRUCTORS = (
    "date",
    "datetime",
    "time",
    "timedelta",
    "dict",
    "list",
    "set",
    "tuple",
    "frozenset",
    "array",
    "defaultdict",
)
# Parts of names of functions that compare: what such a call is given is an expectation, and it can be replaced.
COMPARING = ("close", "equal", "almost", "same", "compare", "match", "approx")
OTHER_ERROR = "FloatingPointError"


class Change(NamedTuple):
    """A piece of the text, and what takes its place."""

    node: ast.expr
    text: str


@dataclass(frozen=True)
class _Found:
    """An assertion, or a statement that asserts by a call, in a test."""

    test: str
    part: str
    body: list[ast.stmt]
    node: ast.stmt
    planned: Planned | None


def plan(job: Job) -> CanaryPlan:
    """Return whether the job's tests need a canary, and the changes worth trying, the most telling first.

    They need none where every assertion is compared outside. Most telling is a wrong value where the process itself
    compares, then a negation there.
    """
    planned = instrument(job.tests, job.block, job.expected, outside=True).planned
    found = [each for each in _assertions(job, planned) if not _says_nothing(each)]
    if found and all(_sure(each) for each in found):
        return CanaryPlan(False, ())
    ranked = [
        (_sure(each), negated, _canary(job, each, change))
        for each in found
        for change, negated in _changes(each.node, each.body)
    ]
    return CanaryPlan(True, tuple(canary for _, _, canary in sorted(ranked, key=lambda rank: rank[:2])))


def _sure(found: _Found) -> bool:
    """Return whether the host compares, and knows when the assertion was skipped."""
    test = found.node.test if isinstance(found.node, ast.Assert) else None
    told = bool(found.planned and found.planned.comparator and found.planned.certain)
    return told and not (test is not None and _compares(test))


def _compares(test: ast.expr) -> bool:
    """Return whether a condition is a call of a function that compares, which only says whether it holds."""
    called = called_name(test).lower() if isinstance(test, ast.Call) else ""
    return any(part in called for part in COMPARING) and data_style(test) == (test, Truth(True))


def _says_nothing(found: _Found) -> bool:
    """Return whether the condition is a constant, as in `assert True`."""
    return isinstance(found.node, ast.Assert) and isinstance(found.node.test, ast.Constant)


def _assertions(job: Job, planned: Iterable[Planned]) -> Iterator[_Found]:
    """Yield the assertions of the expected tests, each with what the instrumentation calls it, and blocks that expect errors."""
    waiting = {(each.test, each.assertion): each for each in planned}
    for test, part, body in _bodies(job):
        number = 0
        for node in (node for statement in body for node in _in_order(statement)):
            if isinstance(node, ast.Assert) or (isinstance(node, ast.Expr) and asserting_call(node)):
                number += 1
                yield _Found(test, part, body, node, waiting.get((test, number)))
            elif isinstance(node, ast.With) and part == "tests" and _call_of(node) is not None:
                yield _Found(test, part, body, node, None)


def _bodies(job: Job) -> Iterator[tuple[str, str, list[ast.stmt]]]:
    """Yield each expected test with the part it stands in and its statements."""
    try:
        tree = parse(job.tests)
        if MAIN in job.expected:
            yield MAIN, "block", parse(job.block).body
    except (SyntaxError, ValueError, RecursionError):
        return
    yield from _functions(tree.body, "", job.expected)


def _functions(
    body: list[ast.stmt], path: str, expected: tuple[str, ...]
) -> Iterator[tuple[str, str, list[ast.stmt]]]:
    for node in body:
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and path + node.name in expected:
            yield path + node.name, "tests", node.body
        elif isinstance(node, ast.ClassDef):
            yield from _functions(node.body, f"{path}{node.name}.", expected)


def _in_order(node: ast.AST) -> Iterator[ast.AST]:
    """Yield a node and all inside it in the order in which they are visited, which is how they are numbered."""
    yield node
    for child in ast.iter_child_nodes(node):
        yield from _in_order(child)


def _changes(node: ast.stmt, body: list[ast.stmt]) -> Iterator[tuple[Change, bool]]:
    """Yield a change that makes the expectation of an assertion wrong, and whether it is a negation."""
    if not isinstance(node, ast.Assert):
        call = _call_of(node)
        change = _changed_call(call) if call is not None else None
        if change is not None:
            yield change, False
        return
    test = node.test
    change = _wrong_value(test, body) or _wrong_item(test)
    if change is None and isinstance(test, ast.Call) and _compares(test):
        change = _changed_call(test)
    if change is not None:
        yield change, False
    elif isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        yield Change(test, f"({ast.unparse(test.operand)})"), True
    else:
        yield Change(test, f"(not ({ast.unparse(test)}))"), True


def _wrong_value(test: ast.expr, body: list[ast.stmt]) -> Change | None:
    """Return a change of what an `==` expects: a literal, one given to a name, or a constant in what stands for it."""
    if not (isinstance(test, ast.Compare) and len(test.ops) == 1 and isinstance(test.ops[0], ast.Eq)):
        return None
    sides = [test.comparators[0], test.left]
    literals = [side if _is_literal(side) else _given(side, body) for side in sides]
    for value in literals:
        if value is not None:
            return _wrong(value)
    made = [side for side in sides if _is_made(side)]
    if not made and all(any(isinstance(node, ast.Call) for node in ast.walk(side)) for side in sides):
        made = sides[:1]
    return _wrong(made[0]) if made else None


def _wrong_item(test: ast.expr) -> Change | None:
    """Return a change of the literal that is looked for by an `in`."""
    found = isinstance(test, ast.Compare) and len(test.ops) == 1 and isinstance(test.ops[0], ast.In)
    return _wrong(test.left) if found and isinstance(test, ast.Compare) and _is_literal(test.left) else None


def _given(side: ast.expr, body: list[ast.stmt]) -> ast.expr | None:
    """Return the literal that a name was given last, in the test and before the assertion."""
    if not isinstance(side, ast.Name):
        return None
    given = None
    for node in (node for statement in body for node in _in_order(statement)):
        if isinstance(node, ast.Assign) and node.lineno < side.lineno:
            names = [target.id for target in node.targets if isinstance(target, ast.Name)]
            if side.id in names:
                given = node.value if _is_literal(node.value) else None
    return given


def _is_made(side: ast.expr) -> bool:
    """Return whether an expression makes a value of constants: nothing is called but constructors."""
    called = [called_name(node) for node in ast.walk(side) if isinstance(node, ast.Call)]
    constructors = all(name[:1].isupper() or name in CONSTRUCTORS for name in called)
    return constructors and any(isinstance(node, ast.Constant) for node in ast.walk(side))


def _wrong(side: ast.expr) -> Change | None:
    """Return a change of a literal, or of the last constant in an expression that has one."""
    if _is_literal(side):
        return Change(side, _source(decoys(literal(side))[0]))
    if any(isinstance(node, ast.JoinedStr) for node in ast.walk(side)):
        return None
    inside = [
        node
        for node in ast.walk(side)
        if isinstance(node, ast.Constant) and type(node.value) in (int, float, str, bytes)
    ]
    return Change(inside[-1], _source(decoys(inside[-1].value)[0])) if inside else None


def _call_of(node: ast.AST) -> ast.Call | None:
    """Return the call by which a statement asserts."""
    if isinstance(node, ast.Expr):
        return asserting_call(node)
    if isinstance(node, ast.With):
        calls = [item.context_expr for item in node.items]
        return next(
            (call for call in calls if isinstance(call, ast.Call) and called_name(call) in RAISING), None
        )
    return None


def _changed_call(call: ast.Call) -> Change | None:
    """Return a change of what a call expects: a literal argument, the right one first; or the exception."""
    if not call.args:
        return None
    if called_name(call) in RAISING:
        return Change(call.args[0], OTHER_ERROR)
    for argument in reversed(call.args[:2]):
        if _is_literal(argument):
            return _wrong(argument)
    return None


def _is_literal(node: ast.expr) -> bool:
    try:
        literal(node)
    except NoLiteral:
        return False
    return True


def _source(value: object) -> str:
    return f"({ast.unparse(ast.fix_missing_locations(ast.Expression(node_of(value))))})"


def _canary(job: Job, found: _Found, change: Change) -> Canary:
    lines = (job.block if found.part == "block" else job.tests).splitlines(keepends=True)
    node = change.node
    return Canary(
        test=found.test,
        assertion=found.planned.assertion if found.planned else None,
        line=found.node.body[0].lineno if isinstance(found.node, ast.With) else found.node.lineno,
        part=found.part,
        start=_offset(lines, node.lineno, node.col_offset),
        end=_offset(lines, node.end_lineno or node.lineno, node.end_col_offset or 0),
        text=change.text,
        outside=_sure(found),
        kind=_kind(found.node),
    )


def _kind(node: ast.stmt) -> str:
    """Return what does the comparing: an operator, or the name of what is called."""
    call = _call_of(node)
    if call is not None:
        return called_name(call)
    test = node.test if isinstance(node, ast.Assert) else None
    if isinstance(test, ast.Compare):
        return type(test.ops[0]).__name__.lower()
    return called_name(test) if isinstance(test, ast.Call) else "condition"


def _offset(lines: list[str], line: int, column: int) -> int:
    """Return the place of a node's line and column, which counts bytes, in characters of the text."""
    return sum(map(len, lines[: line - 1])) + len(lines[line - 1].encode()[:column].decode())
