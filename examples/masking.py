"""MASK: open the focal function of a source: its body and the tests are taken out, every other byte stays; pure.

The open region lies between byte offsets found with ast. The body starts behind the docstring, with the comments that
lead its first statement, and ends with the comments that trail its last one: they say how it is done.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal, NamedTuple

from examples.languages.python import source as python
from examples.languages.python import tests as python_tests

SAME_LINE = re.compile(rb"[ \t\f]*(?:;[ \t\f]*)?(?:#[^\r\n]*)?")
PLACEHOLDER = "..."


class MaskingError(ValueError):
    """This function of this source cannot be opened; the message says why."""


@dataclass(frozen=True)
class Segment:
    """A piece of the tests: where it was taken from (byte offset in the context), its text, and what it is."""

    offset: int
    text: str
    kind: Literal["function", "block"]
    name: str = ""


@dataclass(frozen=True)
class Masked:
    """A source with its focal body and its tests taken out.

    context    the rest, byte for byte
    gap        offset in the context's UTF-8 bytes where the body belongs
    reference  the body
    tests      what was taken out beside it, in source order
    block      code that runs the tests, to be run behind them; "" where it names none of them
    expected   names of the test functions that must pass
    """

    context: str
    gap: int
    reference: str
    tests: tuple[Segment, ...]
    block: str
    expected: tuple[str, ...]


class Span(NamedTuple):
    """Byte offsets in the source."""

    start: int
    end: int


def mask(
    source: str,
    name: str,
    *,
    tree: ast.Module | None = None,
    test_names: Sequence[str] = (),
) -> Masked:
    """Return the source with the function `name` (qualified, `Class.method`) opened and the tests taken out.

    `tree` is the source's parsed module, where the caller has it. `test_names` replaces the rule that tests are
    called `test*`. Raises MaskingError, python.FunctionNotFound or python.SourceInvalid.
    """
    tree = tree or python.parse(source)
    focal = python.find(tree, name)
    positions = python.Positions(source)
    body = body_span(focal, positions)
    selection = python_tests.select(tree, focal, test_names)
    spans = _test_spans(selection, tree, positions)
    if any(span.start <= body.start < span.end for span, _, _ in spans):
        raise MaskingError(f"function {name!r} lies inside the tests, so it cannot be opened")
    return _cut(positions.data, body, spans, selection)


def _cut(
    data: bytes,
    body: Span,
    tests: list[tuple[Span, Literal["function", "block"], str]],
    chosen: python_tests.Selection,
) -> Masked:
    pieces, segments, gap, at, length = [], [], 0, 0, 0
    for span, kind, name in sorted([*tests, (body, "body", "")]):
        pieces.append(data[at : span.start])
        length += span.start - at
        at = span.end
        if kind == "body":
            gap = length
        else:
            segments.append(Segment(length, data[span.start : span.end].decode(), kind, name))  # type: ignore[arg-type]
    pieces.append(data[at:])
    block = (
        "".join(line_ended(each.text) for each in segments if each.kind == "block") if chosen.driven else ""
    )
    reference = data[body.start : body.end].decode()
    return Masked(b"".join(pieces).decode(), gap, reference, tuple(segments), block, chosen.expected)


def restore(masked: Masked) -> str:
    """Return the source that was masked, byte for byte."""
    return with_tests(masked.context, masked.gap, masked.reference, masked.tests)


def with_tests(context: str, gap: int, body: str, tests: Sequence[Segment]) -> str:
    """Return the context with a body in the gap and the tests where they were."""
    data = context.encode()
    inserts = sorted(
        [(gap, body), *((each.offset, each.text) for each in tests)], key=lambda insert: insert[0]
    )
    pieces, at = [], 0
    for offset, text in inserts:
        pieces += [data[at:offset], text.encode()]
        at = offset
    return b"".join([*pieces, data[at:]]).decode()


def fill(context: str, gap: int, body: str) -> str:
    """Return the context with a body in the gap."""
    return with_tests(context, gap, body, ())


def test_source(tests: Sequence[Segment]) -> str:
    """Return the source of the test functions, in order, each ended by a line break."""
    return "".join(line_ended(each.text) for each in tests if each.kind == "function")


test_source.__test__ = False  # type: ignore[attr-defined]  # pytest: not a test, in spite of its name


def line_ended(text: str) -> str:
    """Return the text with a line break at its end."""
    return text if text.endswith(("\n", "\r")) or not text else text + "\n"


def body_span(focal: python.FunctionNode, positions: python.Positions) -> Span:
    """Return where the open region lies. Raises MaskingError where the function has nothing but a docstring."""
    docstring = python.docstring_node(focal)
    statements = focal.body[1:] if docstring else focal.body
    if not statements:
        raise MaskingError(f"nothing is open in {focal.name!r}: its body is only a docstring")
    start = _leading_comments(positions, positions.start(statements[0]), _header_end(focal, docstring))
    return Span(start, trailing_comments(positions, positions.end(statements[-1]), focal))


def _header_end(focal: python.FunctionNode, docstring: ast.stmt | None) -> int:
    """Return the last line that surely belongs to the header or the docstring."""
    if docstring:
        return docstring.end_lineno or docstring.lineno
    parts: list[ast.AST] = [*ast.iter_child_nodes(focal.args), *([focal.returns] if focal.returns else [])]
    return max([focal.lineno, *(getattr(part, "end_lineno", 0) for part in parts)])


def _leading_comments(positions: python.Positions, start: int, above: int) -> int:
    """Return where the comments that lead a statement start: those below line `above` with its indentation."""
    line = positions.line_at(start)
    indentation = positions.data[positions.starts[line - 1] : start]
    if indentation.strip():
        return start
    while line - 1 > above:
        line -= 1
        text = positions.lines[line - 1]
        bare = text.lstrip()
        if bare and not bare.startswith(b"#"):
            break
        if bare and text[: len(text) - len(bare)] == indentation:
            start = positions.starts[line - 1] + len(indentation)
    return start


def trailing_comments(positions: python.Positions, end: int, focal: python.FunctionNode | None) -> int:
    """Return where the comments that trail a statement end: on its line, and below it where deeper than `focal`."""
    end = SAME_LINE.match(positions.data, end).end()  # type: ignore[union-attr]  # matches the empty string
    outer = 0
    if focal:
        outer = _width(positions.lines[focal.lineno - 1][: focal.col_offset])
    for line in range(positions.line_at(end) + 1, len(positions.lines) + 1):
        text = positions.lines[line - 1]
        bare = text.strip()
        if bare and (not bare.startswith(b"#") or _width(text[: len(text) - len(text.lstrip())]) <= outer):
            break
        if bare:
            end = positions.starts[line - 1] + len(text.rstrip())
    return end


def _width(indentation: bytes) -> int:
    return len(indentation.rpartition(b"\f")[2].expandtabs(8))


def _test_spans(
    selection: python_tests.Selection, tree: ast.Module, positions: python.Positions
) -> list[tuple[Span, Literal["function", "block"], str]]:
    """Return the lines of each test function and block statement, in source order, none twice."""
    spans: list[tuple[Span, Literal["function", "block"], str]] = []
    functions = {id(node) for node in selection.functions}
    chosen = functions | {id(node) for node in selection.block}
    following = dict(zip(map(id, tree.body), [*tree.body[1:], None], strict=True))
    for before, node in pairwise([None, *tree.body]):
        if node is None or id(node) not in chosen:
            continue
        above = before.end_lineno or 0 if before else 0
        span = _whole_lines(node, positions, above=above, below=following[id(node)])
        kind: Literal["function", "block"] = "function" if id(node) in functions else "block"
        if spans and spans[-1][0].end > span.start:  # statements on one line, `test_a(); test_b()`
            spans[-1] = (Span(spans[-1][0].start, max(span.end, spans[-1][0].end)), *spans[-1][1:])
        else:
            spans.append((span, kind, node.name if isinstance(node, python.FUNCTIONS) else ""))
    return spans


def _whole_lines(node: ast.stmt, positions: python.Positions, above: int, below: ast.stmt | None) -> Span:
    """Return the lines of a top-level statement, with the comments right above it, and everything behind it up to
    the comments right above the next statement: they speak of the case that they follow.

    The blank lines behind go too, or the context would keep the gaps between its tests. `above` is the last line of
    the statement before.
    """
    first = _led(positions, positions.line_at(positions.start(node)), above)
    own = positions.line_at(trailing_comments(positions, positions.end(node), None))
    last = len(positions.lines)
    if below is not None:
        last = _led(positions, positions.line_at(positions.start(below)), own) - 1
    return Span(positions.starts[first - 1], positions.starts[max(own, last)])


def _led(positions: python.Positions, first: int, above: int) -> int:
    """Return the line of the first of the comments right above a top-level statement that starts on a line."""
    while first - 1 > above and positions.lines[first - 2].startswith(b"#"):
        first -= 1
    return first
