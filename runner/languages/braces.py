"""Reads the outline of JavaScript and C++: tokens, functions and classes, the statements of a body; pure.

It is no parser: it knows what a string, a comment and a bracket is, so that a function's body can be found by offset
and cut between statements. What it does not understand it skips up to the closing bracket. Offsets count characters.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import pairwise
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
# What goes on with the statement before it, though a line ends or a block closes there.
CONTINUING = frozenset({"else", "catch", "finally", "while", "instanceof", "in", "of"})
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


@dataclass(frozen=True)
class Definition:
    """A function, or a class or namespace with what it holds.

    start      of its first token; `note` is where the comments directly above it start
    open, close  its braces
    end        behind its last token, a semicolon that ends the declaration included
    """

    name: str
    kind: Literal["function", "scope"]
    start: int
    note: int
    open: int
    close: int
    end: int
    inner: tuple[Definition, ...] = field(default=())


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


@lru_cache(maxsize=128)
def outline(text: str, dialect: Dialect, *, inside_class: bool = False) -> tuple[Definition, ...]:
    """Return what a text defines at its top level; `inside_class` reads it as the inside of a class. Raises SourceBroken."""
    return _Outline(tokens(text, dialect), dialect).read(inside_class)


def functions(
    definitions: Sequence[Definition], path: tuple[str, ...] = ()
) -> Iterator[tuple[tuple[str, ...], Definition]]:
    """Yield each function with its path, in source order; `Class::name` outside of its class has the path of a method."""
    for each in definitions:
        own = (*path, *each.name.split("::")) if each.name else path
        if each.kind == "function":
            yield own, each
        yield from functions(each.inner, own)


class _Outline:
    """Walks over tokens, declaration by declaration."""

    def __init__(self, found: Sequence[Token], dialect: Dialect) -> None:
        self.tokens, self.dialect = found, dialect
        self.at = 0

    def read(self, in_class: bool) -> tuple[Definition, ...]:
        """Read declarations up to the closing brace, or the end."""
        found: list[Definition] = []
        begin, note = None, None
        head: list[Token] = []
        while self.at < len(self.tokens):
            token = self.tokens[self.at]
            if token.kind == "note":
                note = self._note(note, token) if begin is None else note
                self.at += 1
                continue
            if token.text == "}" and token.kind == "mark":
                break
            if token.kind == "directive" or (token.text == ";" and token.kind == "mark"):
                self.at += 1
                begin, note, head = None, None, []
                continue
            if begin is None:
                begin, note = token.start, self._touching(note)
            if token.text == "{" and token.kind == "mark":
                made = self._braces(head, begin, note if note is not None else begin, in_class)
                if made:
                    found.append(made)
                if made or not self._goes_on(head):
                    begin, note, head = None, None, []
                continue
            if self._starts_anew(head, token, in_class):
                begin, note, head = token.start, None, []
            if (
                self.dialect == "cpp"
                and token.text == ":"
                and [each.text for each in head] in (["public"], ["private"], ["protected"])
            ):
                begin, note, head = None, None, []
                self.at += 1
                continue
            if token.text in ("(", "[") and token.kind == "mark":
                head.append(token)
                self.at = self._closing(self.at)
                head.append(self.tokens[self.at])
                self.at += 1
                continue
            head.append(token)
            self.at += 1
        return tuple(found)

    def _note(self, note: int | None, token: Token) -> int:
        """Return where a run of comments that touch each other starts."""
        before = self.tokens[self.at - 1] if self.at else None
        touches = before is not None and before.kind == "note" and note is not None
        return note if touches and note is not None else token.start

    def _touching(self, note: int | None) -> int | None:
        before = self.tokens[self.at - 1] if self.at else None
        return note if before is not None and before.kind == "note" else None

    def _starts_anew(self, head: list[Token], token: Token, in_class: bool) -> bool:
        """Return whether JavaScript would end the statement before this token, which stands on a line of its own."""
        if self.dialect != "javascript" or not head or in_class or token.kind != "word":
            return False
        return (
            token.text in ("function", "class", "const", "let", "var", "async", "export")
            and (
                head[-1].kind != "word"
                or head[-1].text not in ("export", "default", "async", "return", "new")
            )
            and head[-1].text not in ("=", "=>", ",", "(", "&&", "||", "?", ":")
        )

    def _goes_on(self, head: list[Token]) -> bool:
        """Return whether a declaration goes on behind a brace that defines nothing: an initialiser, an object."""
        if self.dialect == "cpp":
            words = {each.text for each in head}
            return bool(words & {"=", "enum", ":"}) or bool(head and head[-1].kind == "word")
        return any(each.text == "=" for each in head)

    def _closing(self, at: int) -> int:
        """Return the index of the token that closes the bracket at an index."""
        depth = 0
        for index in range(at, len(self.tokens)):
            token = self.tokens[index]
            if token.kind == "mark":
                depth += (token.text in OPENERS) - (token.text in CLOSERS)
                if not depth:
                    return index
        return len(self.tokens) - 1

    def _braces(self, head: list[Token], begin: int, note: int, in_class: bool) -> Definition | None:
        """Return what the brace at hand defines, None where nothing; go behind it."""
        kind, name = _meaning(head, self.dialect, in_class)
        first = self.tokens[self.at]
        inner: tuple[Definition, ...] = ()
        if kind == "scope":
            self.at += 1
            is_class = not any(each.text in ("namespace", "extern") for each in head)
            inner = self.read(is_class)
        else:
            self.at = self._closing(self.at)
        last = self.tokens[min(self.at, len(self.tokens) - 1)]
        self.at += 1
        if not kind:
            head.append(last)
            return None
        end = last.end
        ends_declaration = kind == "scope" or any(each.text == "=" for each in head)
        if ends_declaration and self.at < len(self.tokens) and self.tokens[self.at].text == ";":
            end = self.tokens[self.at].end
            self.at += 1
        return Definition(name, kind, begin, note, first.start, last.start, end, inner)


def _meaning(
    head: list[Token], dialect: Dialect, in_class: bool
) -> tuple[Literal["function", "scope", ""], str]:
    """Return what a head and a brace behind it are, and its name."""
    return _meaning_javascript(head, in_class) if dialect == "javascript" else _meaning_cpp(head)


def _meaning_javascript(head: list[Token], in_class: bool) -> tuple[Literal["function", "scope", ""], str]:
    words = [each.text for each in head]
    named = _after(words, ("const", "let", "var"))
    if "class" in words:
        after = _after(words, ("class",))
        return "scope", after if after not in ("", "extends") else named
    if "function" in words:
        after = next((each for each in words[words.index("function") + 1 :] if each != "*"), "")
        return ("function", after if after != "(" else named) if after != "(" or named else ("", "")
    if words and words[-1] == "=>":
        return ("function", named) if named else ("", "")
    if in_class and "(" in words and words[-1] == ")" and "=" not in words:
        name = words[words.index("(") - 1] if words.index("(") else ""
        return ("function", name) if name not in CONTROL and name else ("", "")
    return "", ""


def _meaning_cpp(head: list[Token]) -> tuple[Literal["function", "scope", ""], str]:
    words = [each.text for each in head]
    if "namespace" in words:
        return "scope", "".join(words[words.index("namespace") + 1 :])
    if words[:1] == ["extern"] and len(words) == 2:
        return "scope", ""
    bare = _without_templates(words)
    if any(each in ("class", "struct", "union") for each in bare) and "(" not in bare:
        at = max(bare.index(each) for each in ("class", "struct", "union") if each in bare)
        names = [each for each in bare[at + 1 : bare.index(":") if ":" in bare else None] if each != "final"]
        return ("", "") if "enum" in bare else ("scope", names[-1] if names else "")
    if "(" not in bare or "=" in bare[: bare.index("(")] or bare[-1] in ("=", "return", ","):
        return "", ""
    if ":" in bare[bare.index("(") :] and bare[-1] not in (")", "}"):
        return "", ""  # a member's initialiser, `: count{0}`
    if "operator" in bare:
        return "function", "operator" + "".join(bare[bare.index("operator") + 1 : bare.index("(")])
    at = bare.index("(")
    name: list[str] = []
    while at and (
        bare[at - 1] in ("::", "~")
        or ((not name or name[0] in ("::", "~")) and re.match(r"[\w~]", bare[at - 1]))
    ):
        name.insert(0, bare[at - 1])
        at -= 1
    return ("function", "".join(name)) if name and name[-1] not in CONTROL else ("", "")


def _without_templates(words: list[str]) -> list[str]:
    """Return the words without what stands between `<` and `>`, as in `std::map<int, int> f(...)`."""
    kept: list[str] = []
    depth = 0
    for before, word in zip(["", *words], words, strict=False):
        if word == "<" and (depth or before != "operator"):
            depth += 1
        elif word == ">" and depth:
            depth -= 1
        elif not depth:
            kept.append(word)
    return kept


def _after(words: list[str], starts: tuple[str, ...]) -> str:
    for start in starts:
        if start in words:
            rest = words[words.index(start) + 1 :]
            return rest[0] if rest else ""
    return ""


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
