"""A context around its gap: what is open there, and how a source gets one."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from examples.masking import Masked, MaskingError, Segment, Span
from runner.languages.braces.outline import Definition, functions, outline
from runner.languages.braces.statements import tests_of
from runner.languages.braces.tokens import Dialect, SourceBroken, tokens

INNER = "    "
JOINT = {"javascript": ".", "cpp": "::"}
TITLES = {"javascript": "JavaScript", "cpp": "C++"}
# What C++ may say before a function beside its type.
SPECIFIERS = frozenset(("static", "inline", "constexpr", "virtual", "explicit", "extern", "friend"))


@dataclass(frozen=True)
class Opening:
    """A context around its gap. `function` is open there, `holder` the top-level definition that holds it."""

    text: str
    dialect: Dialect
    path: tuple[str, ...]
    function: Definition
    holder: Definition

    @property
    def first(self) -> int:
        """The line of the function's header, from 0."""
        return self.text.count("\n", 0, self.function.start)

    @property
    def is_method(self) -> bool:
        """Whether the function stands inside a class."""
        return self.function is not self.holder and self.dialect == "javascript"

    @property
    def indentation(self) -> str:
        """What stands before the header on its line."""
        before = self.text[: self.function.start].rpartition("\n")[2]
        return before if not before.strip() else ""

    @property
    def header(self) -> str:
        """The header with its opening brace, at column 0."""
        text = self.text[self.function.start : self.function.open + 1]
        return text.replace("\n" + self.indentation, "\n")


@lru_cache(maxsize=64)
def open_context(context: str, gap: int, dialect: Dialect) -> Opening:
    """Return the context's structure. Raises MaskingError where no function is open at the gap."""
    data = context.encode()
    if gap > len(data):
        raise MaskingError(f"byte {gap} lies behind the context")
    place = len(data[:gap].decode())
    try:
        definitions = outline(context, dialect)
    except SourceBroken as error:
        raise MaskingError(f"the context is not {TITLES[dialect]}: {error.message}") from error
    around = [
        (path, each)
        for path, each in functions(definitions)
        if each.open < place <= each.close and not context[each.open + 1 : each.close].strip()
    ]
    if not around:
        raise MaskingError(f"no function's body is open at byte {gap} of the context")
    path, function = around[-1]
    beside = (
        context[: function.start].rpartition("\n")[2]
        + context[function.end :].partition("\n")[0].partition("//")[0]
    )
    if beside.strip(" \t\r;"):
        raise MaskingError(f"{function.name!r} shares a line with other code; give it lines of its own")
    holder = next(each for each in definitions if each.start <= function.start < each.end)
    return Opening(context, dialect, path, function, holder)


def mask(source: str, name: str, dialect: Dialect, *, tests: Sequence[str] = ()) -> Masked:
    """Return the source with the function's body and the named tests taken out; the rest stays byte for byte.

    Raises MaskingError where there is no such function, or nothing in it.
    """
    definitions = outline(source, dialect)
    path = tuple(name.split(JOINT[dialect]))
    focal = next((each for own, each in functions(definitions) if own == path), None)
    if focal is None:
        raise MaskingError(f"function {name!r} is not in the source")
    start, end = _inside(source, focal)
    cuts = [(start, end, "")]
    for each in tests_of(source, dialect, tests):
        behind = re.compile(r"[ \t]*(?:\n\s*)?").match(source, each.end)
        cuts.append((each.note, behind.end() if behind else each.end, each.name))
    pieces, segments, at, length, gap = [], [], 0, 0, 0
    for begin, stop, test in sorted(cuts):
        pieces.append(source[at:begin])
        length += len(source[at:begin].encode())
        at = stop
        if test:
            segments.append(Segment(length, source[begin:stop], "function", test))
        else:
            gap = length
    context = "".join([*pieces, source[at:]])
    expected = tuple(segment.name for segment in segments)
    return Masked(context, gap, source[start:end], tuple(segments), "", expected)


def body_span(source: str, function: Definition) -> Span:
    """Return where a function's body lies, in UTF-8 bytes, without the space inside its braces. Raises MaskingError."""
    start, end = _inside(source, function)
    return Span(len(source[:start].encode()), len(source[:end].encode()))


def _inside(source: str, function: Definition) -> tuple[int, int]:
    """Return the same in characters."""
    inside = source[function.open + 1 : function.close]
    if not inside.strip():
        raise MaskingError(f"nothing is open in {function.name!r}: its body is empty")
    start = function.open + 1 + len(inside) - len(inside.lstrip())
    return start, function.close - (len(inside) - len(inside.rstrip()))


def starting_answer(opening: Opening) -> str:
    """Return the editor's first text: the function with an empty, indented line for a body."""
    return f"{opening.header}\n{INNER}\n}}"


def empty_body(opening: Opening) -> str:
    """Return a body that does nothing: in C++ it returns an empty value where the function returns one."""
    if opening.dialect == "javascript":
        return ""
    words = [each.text for each in tokens(opening.header[:-1] + ";", "cpp") if each.kind != "note"]
    name = opening.path[-1]
    kind = [each for each in words[: words.index(name)] if each not in SPECIFIERS] if name in words else []
    returns = bool(kind) and kind[-1] not in ("void", "~") and "-> void" not in " ".join(words)
    return "return {};" if returns else ""
