"""Move Python code to another indentation without touching the inside of strings."""

from __future__ import annotations

import io
import tokenize
from collections.abc import Sequence

STRING_STARTS = {
    tokenize.STRING,
    getattr(tokenize, "FSTRING_START", -1),
    getattr(tokenize, "TSTRING_START", -1),
}
STRING_ENDS = {tokenize.STRING, getattr(tokenize, "FSTRING_END", -1), getattr(tokenize, "TSTRING_END", -1)}


def inside_strings(text: str) -> frozenset[int]:
    """Return the lines, from 1, that begin inside a string; as far as the text can be tokenized."""
    if not any(mark in text for mark in ('"""', "'''", "\\\n", "\\\r")):
        return frozenset()
    inside: set[int] = set()
    opened: list[int] = []
    try:
        for token in tokenize.generate_tokens(io.StringIO(text).readline):
            if token.type in STRING_STARTS:
                opened.append(token.start[0])
            if token.type in STRING_ENDS and opened:
                inside.update(range(opened.pop() + 1, token.end[0] + 1))
    except (tokenize.TokenError, SyntaxError):
        inside.update(_unclosed(text, opened))
    return frozenset(inside)


def _unclosed(text: str, opened: Sequence[int]) -> range:
    """Return the lines behind a string that was opened and never closed."""
    return range(opened[0] + 1, text.count("\n") + 2) if opened else range(0)


def moved(lines: Sequence[str], old: str, new: str, *, inside: frozenset[int] = frozenset()) -> list[str]:
    """Return the lines with the indentation `old` replaced by `new`.

    Lines that begin inside a string (`inside`, from 1) and blank ones stay. A line with less than `old`, such as a
    continuation line or a comment, loses what it has.
    """
    result = []
    for number, line in enumerate(lines, start=1):
        if number in inside or not line.strip():
            result.append(line)
        elif line.startswith(old):
            result.append(new + line[len(old) :])
        else:
            result.append(new + line.lstrip(" \t\f"))
    return result


def spaced(lines: Sequence[str], *, inside: frozenset[int] = frozenset()) -> list[str]:
    """Return the lines with four spaces for each leading tab; lines that begin inside a string stay."""
    result = []
    for number, line in enumerate(lines, start=1):
        bare = line.lstrip(" \t\f")
        indentation = line[: len(line) - len(bare)].replace("\f", "").replace("\t", "    ")
        result.append(line if number in inside else indentation + bare)
    return result


def of(line: str) -> str:
    """Return a line's indentation."""
    return line[: len(line) - len(line.lstrip(" \t\f"))]
