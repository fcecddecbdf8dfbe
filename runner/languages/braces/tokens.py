"""Tokens of JavaScript and C++: words, texts, notes and brackets that match."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Literal, NamedTuple

Dialect = Literal["javascript", "cpp"]
Kind = Literal["word", "number", "text", "mark", "note", "directive"]
OPENERS, CLOSERS = {"(": ")", "[": "]", "{": "}"}, frozenset(")]}")
NOTE = re.compile(r"//[^\n]*|/\*.*?(?:\*/|\Z)", re.DOTALL)
WORD = re.compile(r"[^\W\d][\w$]*|[$#][\w$]*")
NUMBER = re.compile(r"\.?\d(?:[eEpP][+-]|[\w.]|'(?=\w))*")
QUOTED = {
    quote: re.compile(rf"{quote}(?:\\.|[^\\\n{quote}])*(?:{quote}|(?=\n)|\Z)", re.DOTALL) for quote in "\"'"
}
RAW = re.compile(r'(?:u8|[uUL])?R"([^()\\\s]{0,16})\((.*?)(?:\)\1"|\Z)', re.DOTALL)
DIRECTIVE = re.compile(r"[ \t]*#(?:\\\r?\n|/\*.*?\*/|[^\n])*", re.DOTALL)
REGEX = re.compile(r"/(?![*/])(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\\[\n])+/\w*")
MARK = re.compile(r"=>|::|->|\+\+|--|\.\.\.|.", re.DOTALL)
# Behind these words a slash begins a regular expression.
EXPECTING = frozenset(
    {
        "return",
        "typeof",
        "case",
        "in",
        "of",
        "delete",
        "void",
        "throw",
        "new",
        "else",
        "do",
        "await",
        "yield",
        "instanceof",
    }
)
CONTROL = frozenset({"if", "for", "while", "switch", "with", "catch", "try", "do", "else", "finally"})


class SourceBroken(ValueError):
    """Brackets or quotes do not match; `line` counts from 1."""

    def __init__(self, message: str, line: int) -> None:
        super().__init__(message)
        self.message, self.line = message, line


class Token(NamedTuple):
    """A piece of the text; comments and C++'s directives are tokens, space is not."""

    kind: Kind
    text: str
    start: int
    end: int


class Span(NamedTuple):
    """Offsets in characters."""

    start: int
    end: int


@lru_cache(maxsize=128)
def tokens(text: str, dialect: Dialect) -> tuple[Token, ...]:
    """Return the text's tokens. Raises SourceBroken where brackets do not match."""
    found = list(_tokens(text, dialect))
    stack: list[Token] = []
    for token in found:
        if token.kind != "mark":
            continue
        if token.text in OPENERS:
            stack.append(token)
        elif token.text in CLOSERS and (not stack or OPENERS[stack.pop().text] != token.text):
            raise SourceBroken(f"`{token.text}` closes nothing", line_at(text, token.start))
    if stack:
        raise SourceBroken(f"`{stack[-1].text}` is never closed", line_at(text, stack[-1].start))
    return tuple(found)


def _tokens(text: str, dialect: Dialect) -> Iterator[Token]:
    at, last = 0, None
    fresh = True  # whether only space stands before it on its line
    while at < len(text):
        if text[at].isspace():
            fresh = fresh or text[at] == "\n"
            at += 1
            continue
        kind, end = _next(text, at, dialect, last, fresh)
        token = Token(kind, text[at:end], at, end)
        yield token
        if kind != "note":
            last = token
        at, fresh = end, False


def _next(text: str, at: int, dialect: Dialect, last: Token | None, fresh: bool) -> tuple[Kind, int]:
    if note := NOTE.match(text, at):
        return "note", note.end()
    if dialect == "cpp":
        if text[at] == "#" and fresh and (directive := DIRECTIVE.match(text, at)):
            return "directive", directive.end()
        if raw := RAW.match(text, at):
            return "text", raw.end()
    elif text[at] == "`":
        return "text", _template_end(text, at)
    elif text[at] == "/" and _expects_value(last) and (regex := REGEX.match(text, at)):
        return "text", regex.end()
    if text[at] in QUOTED and (quoted := QUOTED[text[at]].match(text, at)):
        return "text", quoted.end()
    if number := NUMBER.match(text, at):
        return "number", number.end()
    if word := WORD.match(text, at):
        return "word", word.end()
    mark = MARK.match(text, at)
    return "mark", mark.end() if mark else at + 1


def _template_end(text: str, at: int) -> int:
    """Return where a template literal ends, whatever is nested in it."""
    at += 1
    while at < len(text) and text[at] != "`":
        if text[at] == "\\":
            at += 2
        elif text.startswith("${", at):
            at = _substitution_end(text, at + 2)
        else:
            at += 1
    return min(at + 1, len(text))


def _substitution_end(text: str, at: int) -> int:
    depth, last = 1, None
    while at < len(text):
        if text[at].isspace():
            at += 1
            continue
        kind, end = _next(text, at, "javascript", last, False)
        if kind == "mark":
            depth += (text[at] == "{") - (text[at] == "}")
            if not depth:
                return end
        last = Token(kind, text[at:end], at, end) if kind != "note" else last
        at = end
    return at


def _expects_value(last: Token | None) -> bool:
    if last is None:
        return True
    if last.kind == "word":
        return last.text in EXPECTING
    return last.kind == "mark" and last.text not in (")", "]", "}", "++", "--")


def line_at(text: str, offset: int) -> int:
    """Return the line, from 1, of an offset."""
    return text.count("\n", 0, offset) + 1
