"""Read an answer: find the function in it, wherever it stands, and sort out what comes with it.

An answer may be the function with imports and helpers around it, the same inside a class, the body alone, or a
model's whole reply with the code between fences.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from examples.languages.python import indentation
from examples.languages.python import source as python
from examples.languages.python.opening import Line, Opening, Region, joined, relocated

FENCE = re.compile(r"([ \t>]*)(```+|~~~+)[ \t]*([\w+.#-]*)")
TAGS = ("[PYTHON]", "[/PYTHON]")  # what Code Llama was taught in place of a fence
INNER = "    "


class Mark(NamedTuple):
    """A message for a line of the editor."""

    region: Region
    line: int
    message: str


class Chunk(NamedTuple):
    """Top-level statements that share lines, with the comments above them."""

    kind: Literal["future", "import", "code", "guard"]
    lines: list[Line]
    nodes: list[ast.stmt]


@dataclass
class Reading:
    """What was found in an answer.

    function   the function's lines at column 0; empty where it was not found
    decorated  whether it brings decorators
    before, after  the rest, as it stood before and behind the function
    beside     other functions of the class that the answer put around it, at column 0
    error      why the text is not Python (the Python of this process), None where it is
    """

    function: list[Line] = field(default_factory=list)
    decorated: bool = False
    before: list[Chunk] = field(default_factory=list)
    after: list[Chunk] = field(default_factory=list)
    beside: list[tuple[python.FunctionNode, list[Line]]] = field(default_factory=list)
    error: Mark | None = None


def read(lines: list[Line], opening: Opening) -> Reading:
    """Return what an answer's lines hold; where no door opens, all of it as code before the function."""
    tree, error = parsed(lines)
    reading = _found(tree, lines, opening) if tree else _moved_in(lines, opening)
    if reading:
        return reading
    fenced = _fenced(lines) if tree is None else []
    for block in reversed(fenced):
        inner, _ = parsed(block)
        reading = _found(inner, block, opening) if inner else None
        if reading:
            return reading
    for body in (lines, max(fenced, key=len, default=[])):  # an underline of ~~~~ in a docstring is no fence
        reading = _as_body(body, opening)
        if reading:
            return reading
    return Reading(before=chunks(tree, lines)) if tree else Reading(error=error)


def parsed(lines: list[Line]) -> tuple[ast.Module | None, Mark | None]:
    """Return the lines' module, or None and a mark that says where and why they are not Python."""
    try:
        return python.parse(joined(lines)), None
    except python.SourceInvalid as error:
        at = lines[min(max(error.line, 1), len(lines)) - 1] if lines else Line("", "function", 1)
        return None, Mark(at.region, at.number, error.message)


def chunks(tree: ast.Module, lines: list[Line]) -> list[Chunk]:
    """Return all lines in pieces, one or more whole top-level statements each."""
    result: list[Chunk] = []
    at = 0
    for node in tree.body:
        end = node.end_lineno or node.lineno
        if result and node.lineno <= at:  # begins on the last statement's line
            last = result.pop()
            nodes = [*last.nodes, node]
            result.append(Chunk(_kind(nodes), [*last.lines, *lines[at:end]], nodes))
        else:
            result.append(Chunk(_kind([node]), lines[at:end], [node]))
        at = end
    if result and at < len(lines):
        result[-1].lines.extend(lines[at:])
    return result


def _kind(nodes: Sequence[ast.stmt]) -> Literal["future", "import", "code", "guard"]:
    if all(isinstance(node, ast.ImportFrom) and node.module == "__future__" for node in nodes):
        return "future"
    if all(isinstance(node, ast.Import | ast.ImportFrom) for node in nodes):
        return "import"
    return "guard" if python.is_main_guard(nodes[0]) else "code"


def _found(tree: ast.Module, lines: list[Line], opening: Opening) -> Reading | None:
    """Return the reading of a module that defines the function, at the top level or in its class; the last one wins."""
    wanted: list[tuple[python.Definition, ast.ClassDef | None]]
    wanted = [(each, None) for each in python.children(tree.body) if _is_named(each, opening.name)]
    wanted += [(each, parent) for each, parent in _in_classes(tree.body) if _is_named(each, opening.name)]
    if len(opening.path) == 1:
        wanted = [(each, parent) for each, parent in wanted if parent is None]
    if not wanted:
        return None
    classes = opening.path[-2:-1]
    node, parent = max(wanted, key=lambda pair: (_fits(pair[1], classes), pair[0].lineno))
    function = _lines_of(node, lines)
    reading = Reading(function=function, decorated=bool(node.decorator_list))
    behind = False
    for chunk in chunks(tree, lines):
        if any(each.lineno <= node.lineno <= (each.end_lineno or 0) for each in chunk.nodes):
            behind = True
            if parent is None:
                reading.function = _with_comments(chunk, node, lines)
        elif not any(_is_named(each, opening.name) for each in chunk.nodes):
            (reading.after if behind else reading.before).append(chunk)
    if parent:
        others = [
            each for each in parent.body if isinstance(each, python.FUNCTIONS) and each.name != opening.name
        ]
        reading.beside = [(each, _lines_of(each, lines)) for each in others]
    return reading


def _moved_in(lines: list[Line], opening: Opening) -> Reading | None:
    """Return the reading of a function that was copied with the indentation of its class; None for a body."""
    first = next((line.text for line in lines if line.text.strip()), "")
    outer = relocated(lines, indentation.of(first), "")
    tree, _ = parsed(outer)
    return _found(tree, outer, opening) if tree and not _is_body(tree) else None


def _fits(parent: ast.ClassDef | None, classes: Sequence[str]) -> bool:
    return parent is None or parent.name in classes


def _is_named(node: ast.stmt, name: str) -> bool:
    return isinstance(node, python.FUNCTIONS) and node.name == name


def _in_classes(body: Sequence[ast.stmt]) -> list[tuple[python.Definition, ast.ClassDef]]:
    """Return the definitions inside classes, with their class, however deep the classes are nested."""
    result: list[tuple[python.Definition, ast.ClassDef]] = []
    for node in python.children(body):
        if isinstance(node, ast.ClassDef):
            result += [(child, node) for child in python.children(node.body)]
            result += [pair for pair in _in_classes(node.body) if pair[1] is not node]
    return result


def _lines_of(node: python.Definition, lines: list[Line]) -> list[Line]:
    """Return a definition's lines, moved to column 0."""
    first = python.first_line(node, [line.text for line in lines])
    own = lines[first - 1 : node.end_lineno]
    return relocated(own, indentation.of(lines[node.lineno - 1].text), "")


def _with_comments(chunk: Chunk, node: python.Definition, lines: list[Line]) -> list[Line]:
    """Return a top-level function with the comments above and below it; without its neighbours' lines."""
    if len(chunk.nodes) > 1 or chunk.nodes[0] is not node:
        return _lines_of(node, lines)
    first = next((at for at, line in enumerate(chunk.lines) if line.text.strip()), 0)
    last = max(at for at, line in enumerate(chunk.lines) if line.text.strip())
    return chunk.lines[first : last + 1]


def _fenced(lines: list[Line]) -> list[list[Line]]:
    """Return the contents of the fenced blocks; one that is never closed runs to the end.

    The fence's own indentation (a list item, a quotation) is taken off its lines. A fence that stands four or more
    columns further in, as in a docstring, is part of the code.
    """
    blocks: list[list[Line]] = []
    fence = before = ""
    for line in lines:
        match = FENCE.match(line.text)
        tag = line.text.strip()
        if tag == TAGS[0] and not fence:
            before, fence = "", TAGS[1]
            blocks.append([])
        elif tag == TAGS[1] == fence:
            fence = ""
        elif match and not fence:
            before, fence = match[1], match[2]
            blocks.append([])
        elif match and match[2].startswith(fence) and not match[3] and len(match[1]) < len(before) + 4:
            fence = ""
        elif fence:
            blocks[-1].append(line._replace(text=line.text.removeprefix(before)))
    return [block for block in blocks if joined(block).strip()]


def _as_body(lines: list[Line], opening: Opening) -> Reading | None:
    """Return the reading of an answer that is the function's body, with or without its indentation.

    A completion often begins behind the prompt's indentation: then only its first line lacks it.
    """
    code = [line for line in lines if line.text.strip() and not line.text.lstrip().startswith("#")]
    if not code:
        return None
    own = indentation.of(code[0].text)
    tree, _ = parsed(lines)
    if tree is not None and not own and not _is_body(tree):
        return None
    rest = min((indentation.of(line.text) for line in code[1:]), key=len, default="") or INNER
    moved = [line._replace(text=rest + line.text) if line is code[0] else line for line in lines]
    attempts = [(own, lines)] if own else [(INNER, relocated(lines, "", INNER)), (rest, moved)]
    for inner, body in attempts:
        whole = [*opening.signature_lines(inner), *body]
        tree, _ = parsed(whole)
        if tree:
            return _found(tree, whole, opening)
    return None


def _is_body(tree: ast.Module) -> bool:
    """Return whether a module reads as a function's body: it returns, or it does something and defines nothing."""
    own = [node for node in tree.body if not isinstance(node, python.DEFINITIONS)]
    if any(isinstance(each, ast.Return | ast.Yield | ast.Await) for node in own for each in ast.walk(node)):
        return True
    acts = any(not isinstance(node, ast.Import | ast.ImportFrom) for node in own)
    return acts and len(own) == len(tree.body)
