"""CANARY for JavaScript and C++: the changes of a script's tests that make one expectation wrong; pure.

What is changed is the last literal on the expected side: behind `==`, or the second argument of `assert.equal` and the
like. A condition that compares with nothing is negated.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from runner.languages.base import CanaryPlan
from runner.languages.braces.statements import assertions, tests_of
from runner.languages.braces.tokens import CLOSERS, OPENERS, Dialect, SourceBroken, Span, Token, tokens
from runner.languages.cases import is_cases
from runner.sandbox.base import Canary, Job

COMPARING = ("equal", "strictEqual", "deepEqual", "deepStrictEqual", "close")
OTHERS = {"true": "false", "false": "true", "null": "0", "undefined": "0"}


class Change(NamedTuple):
    """A piece of the text, what takes its place, and whether it only negates."""

    start: int
    end: int
    text: str
    negates: bool


def plan(job: Job, dialect: Dialect) -> CanaryPlan:
    """Return the changes worth trying, the most telling first; cases are compared outside and need none."""
    if is_cases(job.tests):
        return CanaryPlan(False, ())
    try:
        found = list(_canaries(job, dialect))
    except SourceBroken:
        found = []
    return CanaryPlan(True, tuple(canary for _, canary in sorted(found, key=lambda each: each[0])))


def _canaries(job: Job, dialect: Dialect) -> Iterator[tuple[bool, Canary]]:
    for function in tests_of(job.tests, dialect, job.expected):
        for place, span in assertions(job.tests, dialect, function):
            change = _change(job.tests, dialect, span)
            if change:
                where = (function.name, place.number, place.first)
                yield change.negates, Canary(*where, "tests", change.start, change.end, change.text)


def _change(text: str, dialect: Dialect, span: Span) -> Change | None:
    """Return how an assertion's expectation is made wrong; None for what is no call of `assert` by itself."""
    inside = [
        each for each in tokens(text, dialect) if span.start <= each.start < span.end and each.kind != "note"
    ]
    words = [each.text for each in inside[:4]]
    if words[:2] == ["assert", "("]:
        arguments = _arguments(inside[1:])
        side = _behind_equals(arguments[0]) if arguments else []
        if side:
            return _literal(side, dialect)
        start, end = (arguments[0][0].start, arguments[0][-1].end) if arguments and arguments[0] else (0, 0)
        return Change(start, end, f"!({text[start:end]})", True) if end else None
    if words[:2] == ["assert", "."] and words[2] in COMPARING:
        arguments = _arguments(inside[3:])
        return _literal(arguments[1], dialect) if len(arguments) > 1 else None
    return None


def _arguments(inside: Sequence[Token]) -> list[list[Token]]:
    """Return the arguments of a call whose opening bracket comes first, each as its tokens."""
    found: list[list[Token]] = [[]]
    depth = 0
    for token in inside:
        if token.kind == "mark":
            depth += (token.text in OPENERS) - (token.text in CLOSERS)
            if not depth:
                return found
            if token.text == "," and depth == 1:
                found.append([])
                continue
            if depth == 1 and token.text == "(" and not found[0]:
                continue
        found[-1].append(token)
    return found


def _behind_equals(argument: Sequence[Token]) -> list[Token]:
    """Return what stands behind the `==` or `===` of a condition, where it has one outside of brackets."""
    depth = 0
    for at, token in enumerate(argument):
        if token.kind == "mark":
            depth += (token.text in OPENERS) - (token.text in CLOSERS)
        pair = argument[at : at + 2]
        if not depth and [each.text for each in pair] == ["=", "="] and pair[0].end == pair[1].start:
            before = argument[at - 1].text if at else ""
            return (
                [] if before in ("!", "<", ">") else [each for each in argument[at + 2 :] if each.text != "="]
            )
    return []


def _literal(side: Sequence[Token], dialect: Dialect) -> Change | None:
    """Return the change of the last literal in some tokens."""
    for token in reversed(side):
        other = _other(token, dialect)
        if other:
            return Change(token.start, token.end, other, False)
    return None


def _other(token: Token, dialect: Dialect) -> str:
    """Return a literal that differs from a token's, "" where it is none."""
    if token.kind == "number" or (token.kind == "text" and dialect == "cpp" and token.text[0] == "'"):
        return f"({token.text} + 1)"
    if token.kind == "text" and token.text[0] in "\"'`":
        return f'{token.text} "?"' if dialect == "cpp" else f'({token.text} + "?")'
    return OTHERS.get(token.text, "") if token.kind == "word" else ""
