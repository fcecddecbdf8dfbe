"""Code: highlighted by Pygments, one element per line, marks and numbers beside it; and the difference of two texts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from functools import lru_cache

from django.utils.html import format_html
from django.utils.safestring import SafeString, mark_safe
from pygments.lexer import Lexer
from pygments.lexers import get_lexer_by_name
from pygments.lexers.special import TextLexer
from pygments.token import STANDARD_TYPES, Comment, Keyword, Name, Number, Operator, String, _TokenType
from pygments.util import ClassNotFound

from config.parts.text import visible

# Beyond this many characters code is shown plain: highlighting it would take longer than the page may.
HIGHLIGHT_LIMIT = 200_000
# The kinds of token that site.css colours; the editor bundle marks the same ones.
COLOURED = (
    Keyword,
    Operator.Word,
    String,
    Number,
    Comment,
    Name.Builtin,
    Name.Class,
    Name.Decorator,
    Name.Exception,
    Name.Function,
)


def _lexer(language: str, length: int) -> Lexer:
    """Return the lexer of a language, or one for plain text where it is unknown or the code too long."""
    if length > HIGHLIGHT_LIMIT:
        return TextLexer(stripnl=False, ensurenl=False)
    try:
        return get_lexer_by_name(language, stripnl=False, ensurenl=False)
    except ClassNotFound:
        return TextLexer(stripnl=False, ensurenl=False)


def _css_class(token: _TokenType) -> str:
    """Return Pygments' short name of a token kind where site.css colours it, else ""."""
    return str(STANDARD_TYPES.get(token, "")) if any(token in kind for kind in COLOURED) else ""


def plain_lines(text: str) -> list[str]:
    """Return the lines as Pygments counts them: any line end is one, and the last one opens no further line."""
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    return lines[:-1] if len(lines) > 1 and not lines[-1] else lines


@lru_cache(maxsize=128)
def highlighted_lines(text: str, language: str = "python") -> tuple[SafeString, ...]:
    """Return the escaped, highlighted markup of each line; a token that spans lines is closed and opened again.

    Kept for the last 128 texts: one context is shown to many people, and highlighting 1,000 lines takes 0.1 s or more.
    """
    lines: list[list[str]] = [[]]
    for token, value in _lexer(language, len(text)).get_tokens(text):
        css = _css_class(token)
        for number, piece in enumerate(value.split("\n")):
            if number:
                lines.append([])
            if piece:
                lines[-1].append(f'<span class="{css}">{visible(piece)}</span>' if css else visible(piece))
    if len(lines) > 1 and not lines[-1]:
        lines.pop()
    return tuple(mark_safe("".join(line)) for line in lines)  # noqa: S308 - visible() escapes, classes are Pygments' own


def line_range(span: object) -> range:
    """Return the line numbers of "20-25", 20 or (20, 25), both ends included; nothing for None and ""."""
    if span in (None, ""):
        return range(0)
    if isinstance(span, str):
        first, _, last = span.partition("-")
        return range(int(first), int(last or first) + 1)
    if isinstance(span, int):
        return range(span, span + 1)
    if isinstance(span, tuple | list) and len(span) == 2:
        return range(int(span[0]), int(span[1]) + 1)
    raise ValueError(f"{span!r} is no line or range of lines")


def _region(label: str, inside: str, classes: str) -> SafeString:
    """Return the scrolling, focusable frame around lines."""
    return format_html(
        '<div class="{}" tabindex="0" role="region" aria-label="{}"><pre><code>{}</code></pre></div>',
        " ".join(f"code {classes}".split()),
        label,
        mark_safe(inside),  # noqa: S308 - joined from format_html results
    )


def code(
    text: str,
    language: str = "python",
    start: int = 1,
    focal: object = None,
    hole: int | None = None,
    *,
    hole_lines: int = 1,
    hole_text: str = "your function body goes here",
    hits: object = None,
    anchor: str = "",
    label: str = "Code",
    classes: str = "",
) -> SafeString:
    """Return code as numbered lines.

    Numbers count from `start`. `focal` and `hits` are a line or a range of them. After line `hole` stands the open
    body, one striped line that takes the numbers of `hole_lines` lines; 0 puts it first. `anchor` is the id of the
    first focal line. `classes` may be `boxed` or `nonum`.
    """
    focal_lines, hit_lines = line_range(focal), line_range(hits)
    out: list[str] = []
    number = start
    for line in _with_hole(highlighted_lines(text, language), start, hole):
        if line is None:
            out.append(format_html('<span class="l hole" data-n="{}">{}</span>', number, hole_text))
            number += hole_lines
            continue
        mark = " foc" if number in focal_lines else " hit" if number in hit_lines else ""
        name = format_html(' id="{}"', anchor) if anchor and focal_lines and number == focal_lines[0] else ""
        out.append(format_html('<span{} class="l{}" data-n="{}">{}</span>', name, mark, number, line))
        number += 1
    return _region(label, "".join(out), classes)


def _with_hole(lines: Sequence[SafeString], start: int, hole: int | None) -> Iterator[SafeString | None]:
    """Yield the lines, None where the hole stands."""
    if hole is not None and hole < start:
        yield None
    for number, line in enumerate(lines, start):
        yield line
        if number == hole:
            yield None


_HIDDEN_WORD = {"add": "added: ", "del": "removed: "}


def diff(
    before: str,
    after: str,
    language: str = "python",
    *,
    around: int = 3,
    label: str = "What changed",
    classes: str = "",
) -> SafeString:
    """Return the difference of two texts, line by line, `around` equal lines about each change; says so if there is none."""
    if before == after:
        return format_html('<p class="small muted">{}</p>', "No difference.")
    old, new = highlighted_lines(before, language), highlighted_lines(after, language)
    matcher = SequenceMatcher(None, plain_lines(before), plain_lines(after))
    if matcher.ratio() == 1:
        return format_html('<p class="small muted">{}</p>', "Only line ends differ.")
    out: list[str] = []
    for group in matcher.get_grouped_opcodes(around):
        out.append(format_html('<span class="l at">lines {} to {}</span>', group[0][3] + 1, group[-1][4]))
        for operation, old_from, old_to, new_from, new_to in group:
            if operation == "equal":
                out += _rows("", new[new_from:new_to])
                continue
            out += _rows("del", old[old_from:old_to])
            out += _rows("add", new[new_from:new_to])
    return _region(label, "".join(out), f"diff {classes}")


def _rows(kind: str, lines: Sequence[SafeString]) -> Iterator[SafeString]:
    """Yield the lines of one kind of change, its word hidden in front for those who do not see the colour."""
    word = format_html('<span class="vh">{}</span>', _HIDDEN_WORD[kind]) if kind else ""
    for line in lines:
        yield format_html('<span class="l {}">{}{}</span>', kind, word, line)
