"""What a text defines: functions, and the classes and namespaces that hold them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Literal

from runner.languages.braces.tokens import (
    CLOSERS,
    CONTROL,
    OPENERS,
    Dialect,
    Token,
    tokens,
)


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
