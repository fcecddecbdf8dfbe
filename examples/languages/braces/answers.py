"""ANSWERS: an annotator's or a model's function in the place of the open one."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from examples.assembly import Answer, Assembled, Origin
from examples.languages.braces.opening import INNER, Opening
from examples.languages.python.answers import FENCE, Mark
from examples.languages.python.opening import Line, joined, lines_of
from runner.languages.braces.outline import Definition, functions, outline
from runner.languages.braces.tokens import Dialect, SourceBroken, line_at, tokens


def assemble(opening: Opening, answer: Answer, tests: Collection[str]) -> Assembled:
    """Return the program that runs an answer: its function in place of the open one, what is beside it before or behind."""
    module = lines_of(answer.module, "module") if answer.module.strip() else []
    lines = lines_of(answer.function, "function")
    found = _found(lines, opening)
    error = _broken(module, opening.dialect)
    warnings: list[str] = []
    if found is None:
        error = error or _broken(lines, opening.dialect)
        found = _Found([], _as_body(lines, opening) if error is None else lines, [], whole=error is None)
    context = lines_of(opening.text, "context")
    required = {line.text.strip() for line in context if "require(" in line.text}
    module = [line for line in module if line.text.strip() not in required]
    before = [line for line in found.before if line.text.strip() not in required]
    holder, first = _line(opening.text, opening.holder.note), opening.first
    end, holder_end = (
        _line(opening.text, opening.function.end - 1) + 1,
        _line(opening.text, opening.holder.end - 1) + 1,
    )
    warnings += found.warnings
    warnings += _hidden([*module, *found.before, *found.after], opening, tests)
    parts = [
        *context[:holder],
        *module,
        *before,
        *context[holder:first],
        *_indented(found.function, opening),
        *context[end:holder_end],
        *found.after,
        *context[holder_end:],
    ]
    return Assembled(
        program=joined(parts),
        lines=tuple(Origin(line.region, line.number) for line in parts),
        warnings=tuple(dict.fromkeys(warnings)),
        function_found=found.whole,
        error=error,
    )


@dataclass
class _Found:
    """An answer's lines: the function, and what stands before and behind it."""

    before: list[Line]
    function: list[Line]
    after: list[Line]
    whole: bool = True
    warnings: Sequence[str] = ()


def _found(lines: list[Line], opening: Opening) -> _Found | None:
    """Return where the function stands in an answer, in the last fenced block that has it or in all of it."""
    for block in [lines, *reversed(_fenced(lines))]:
        text = joined(block)
        for inside_class in (opening.is_method, False):
            try:
                definitions = outline(text, opening.dialect, inside_class=inside_class)
            except SourceBroken:
                continue
            named = [(path, each) for path, each in functions(definitions) if path[-1] == opening.path[-1]]
            if named:
                fit = [each for path, each in named if path == opening.path]
                return _taken(block, text, definitions, (fit or [each for _, each in named])[-1], opening)
    return None


def _taken(
    block: list[Line], text: str, definitions: Sequence[Definition], function: Definition, opening: Opening
) -> _Found:
    first, last = _line(text, function.note), _line(text, function.end - 1)
    own = block[first : last + 1]
    width = len(own[0].text) - len(own[0].text.lstrip(" \t"))
    own = [
        line._replace(text=line.text[min(width, len(line.text) - len(line.text.lstrip(" \t"))) :])
        for line in own
    ]
    if opening.is_method:  # a method written as a function would be
        own[0] = own[0]._replace(text=re.sub(r"^(async )?function\s*", r"\1", own[0].text))
    if function in definitions:
        return _Found(block[:first], own, block[last + 1 :])
    holder = next(each for each in definitions if each.start <= function.start < each.end)
    beside = [each.name for each in holder.inner if each is not function]
    warnings = [
        f"`{name}` of the answer's {holder.name or 'class'} was left out: the context has its own."
        for name in beside
    ]
    return _Found(
        block[: _line(text, holder.note)], own, block[_line(text, holder.end - 1) + 1 :], warnings=warnings
    )


def _as_body(lines: list[Line], opening: Opening) -> list[Line]:
    """Return the function with an answer's lines as its body: a completion, or statements alone."""
    header = lines_of(opening.header, "context")
    header = [line._replace(number=opening.first + line.number) for line in header]
    return [
        *header,
        *(line._replace(text=INNER + line.text) for line in lines),
        header[-1]._replace(text="}\n"),
    ]


def _fenced(lines: list[Line]) -> list[list[Line]]:
    """Return the contents of fenced blocks; one that is never closed runs to the end."""
    blocks: list[list[Line]] = []
    fence = ""
    for line in lines:
        match = FENCE.match(line.text)
        if match and not fence:
            fence = match[2]
            blocks.append([])
        elif match and match[2].startswith(fence) and not match[3]:
            fence = ""
        elif fence:
            blocks[-1].append(line)
    return [block for block in blocks if joined(block).strip()]


def _broken(lines: list[Line], dialect: Dialect) -> Mark | None:
    try:
        tokens(joined(lines), dialect)
    except SourceBroken as error:
        at = lines[min(max(error.line, 1), len(lines)) - 1]
        return Mark(at.region, at.number, error.message)
    return None


def _hidden(lines: list[Line], opening: Opening, tests: Collection[str]) -> Iterable[str]:
    """Yield a warning for each name of the context or the tests that code beside the function defines anew."""
    try:
        made = outline(joined(lines), opening.dialect)
    except SourceBroken:
        return
    there = {each.name for each in outline(opening.text, opening.dialect)}
    for name in sorted(each.name for each in made if each.name):
        if name in tests or name in there:
            yield f"`{name}` hides a name of the {'tests' if name in tests else 'context'}."


def _indented(lines: list[Line], opening: Opening) -> list[Line]:
    """Return the function's lines with the context's indentation; lines that begin inside a text stay."""
    text = joined(lines)
    try:
        inside = {
            number
            for each in tokens(text, opening.dialect)
            if each.kind == "text" and "\n" in each.text
            for number in range(_line(text, each.start) + 1, _line(text, each.end - 1) + 1)
        }
    except SourceBroken:
        inside = set()
    indentation = opening.indentation
    return [
        line
        if number in inside or not line.text.strip() or line.text.startswith("#")
        else line._replace(text=indentation + line.text)
        for number, line in enumerate(lines)
    ]


def _line(text: str, offset: int) -> int:
    """Return the line of an offset, from 0."""
    return line_at(text, offset) - 1
