"""The statements of a body, and which of them assert."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

from runner.languages.braces.outline import Definition, outline
from runner.languages.braces.tokens import (
    CLOSERS,
    CONTROL,
    EXPECTING,
    OPENERS,
    Dialect,
    SourceBroken,
    Span,
    Token,
    tokens,
)

# What goes on with the statement before it, though a line ends or a block closes there.
CONTINUING = frozenset({"else", "catch", "finally", "while", "instanceof", "in", "of"})


def statements(text: str, dialect: Dialect, body: Span) -> list[Span]:
    """Return the top-level statements between two offsets, in order; comments between them are part of none."""
    inside = [each for each in tokens(text, dialect) if body.start <= each.start and each.end <= body.end]
    found: list[Span] = []
    current: list[Token] = []
    depth, header = 0, 0
    for index, token in enumerate(inside):
        if token.kind in ("note", "directive"):
            continue
        if (
            current
            and not depth
            and dialect == "javascript"
            and _ends_by_line(text, current[-1], token, header)
        ):
            found.append(Span(current[0].start, current[-1].end))
            current, header = [], 0
        if not current and token.text == ";":
            continue
        current.append(token)
        if token.kind != "mark":
            continue
        depth += (token.text in OPENERS) - (token.text in CLOSERS)
        if token.text == ")" and not depth and not header and current[0].text in CONTROL:
            header = token.end
        following = next((each for each in inside[index + 1 :] if each.kind != "note"), None)
        if not depth and (token.text == ";" or (token.text == "}" and _closes(current, following, dialect))):
            found.append(Span(current[0].start, token.end))
            current, header = [], 0
    if current:
        found.append(Span(current[0].start, current[-1].end))
    return found


def _ends_by_line(text: str, last: Token, token: Token, header: int) -> bool:
    """Return whether a statement ends because the next token begins a line and cannot go on with it."""
    if "\n" not in text[last.end : token.start] or last.end == header:
        return False
    closed = (
        last.kind in ("number", "text")
        or last.text in (")", "]", "}", "++", "--")
        or (last.kind == "word" and last.text not in (*EXPECTING, "const", "let", "var"))
    )
    begins = (
        token.kind == "number"
        or (token.kind == "word" and token.text not in CONTINUING)
        or token.text in ("{", "++", "--")
    )
    return closed and (begins or (token.kind == "text" and token.text[0] != "`"))


def _closes(current: list[Token], following: Token | None, dialect: Dialect) -> bool:
    """Return whether a closing brace ends the statement: it is that of a block, and nothing belongs behind it."""
    if following is not None and (
        following.text in ("else", "catch", "finally")
        or (current[0].text == "do" and following.text == "while")
    ):
        return False
    if (
        current[0].text in CONTROL
        or current[0].text == "{"
        or (current[0].text in ("function", "class") and dialect == "javascript")
    ):
        return True
    return dialect == "javascript" and current[0].text == "async" and current[1].text == "function"


def is_assertion(text: str, dialect: Dialect, statement: Span) -> bool:
    """Return whether a statement calls `assert`, `assert.equal`, `assert_throws` or the like anywhere in it."""
    inside = [each for each in tokens(text, dialect) if statement.start <= each.start < statement.end]
    pairs = pairwise(inside)
    return any(
        word.kind == "word" and word.text.startswith("assert") and after.text in ("(", ".")
        for word, after in pairs
    )


class Assertion(NamedTuple):
    """A statement of a test's body that asserts: its number in the test from 1, and its first and last line."""

    number: int
    first: int
    last: int


def assertions(text: str, dialect: Dialect, function: Definition) -> list[tuple[Assertion, Span]]:
    """Return the top-level assertions of a function with their places."""
    starts = [0, *(match.end() for match in re.finditer("\n", text))]
    found: list[tuple[Assertion, Span]] = []
    for span in statements(text, dialect, Span(function.open + 1, function.close)):
        if is_assertion(text, dialect, span):
            first, last = bisect_right(starts, span.start), bisect_right(starts, span.end - 1)
            found.append((Assertion(len(found) + 1, first, last), span))
    return found


def planned(text: str, dialect: Dialect, expected: Sequence[str]) -> dict[str, list[Assertion]]:
    """Return the top-level assertions of each expected test function; none where the text cannot be read."""
    try:
        found = tests_of(text, dialect, expected)
        return {each.name: [place for place, _ in assertions(text, dialect, each)] for each in found}
    except SourceBroken:
        return {}


def tests_of(text: str, dialect: Dialect, expected: Sequence[str]) -> list[Definition]:
    """Return the expected test functions at the top level, in source order. Raises SourceBroken."""
    named = {
        each.name: each
        for each in outline(text, dialect)
        if each.kind == "function" and each.name in expected
    }
    return sorted(named.values(), key=lambda each: each.start)
