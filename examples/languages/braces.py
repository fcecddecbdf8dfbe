"""JavaScript's and C++'s ways alike: the open function, answers, and the visible part of tests; found by brackets."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from examples.assembly import Answer, Assembled, Origin
from examples.languages.base import Examined, SourceUnfit
from examples.languages.python.answers import FENCE, Mark
from examples.languages.python.opening import Line, joined, lines_of
from examples.masking import Masked, MaskingError, Segment, fill
from examples.visible import VisiblePart
from runner.languages import cases
from runner.languages.braces import (
    Definition,
    Dialect,
    SourceBroken,
    assertions,
    functions,
    line_at,
    outline,
    tests_of,
    tokens,
)

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
    inside = source[focal.open + 1 : focal.close]
    if not inside.strip():
        raise MaskingError(f"nothing is open in {name!r}: its body is empty")
    start = focal.open + 1 + len(inside) - len(inside.lstrip())
    end = focal.close - (len(inside) - len(inside.rstrip()))
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


# Answers.


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


# Tests.


def assertion_lines(
    tests: str, expected: Sequence[str], dialect: Dialect
) -> dict[str, list[tuple[int, int]]]:
    """Return for each expected test the (first, last) lines of its top-level assertions; a case is one of one line."""
    if cases.is_cases(tests):
        found: dict[str, list[tuple[int, int]]] = {}
        for each in cases.cases_of(tests):
            if each.test in expected:
                found.setdefault(each.test, []).append((each.line, each.line))
        return found
    return {
        each.name: [(place.first, place.last) for place, _ in assertions(tests, dialect, each)]
        for each in tests_of(tests, dialect, expected)
    }


def visible_part(
    tests: str, expected: Sequence[str], dialect: Dialect, *, count: int | None = None
) -> VisiblePart:
    """Return the first `count` top-level assertions of the expected tests, None for a third of them, rounded up."""
    total = sum(len(lines) for lines in assertion_lines(tests, expected, dialect).values())
    wanted = min(-(-total // 3) if count is None else max(count, 0), total)
    if cases.is_cases(tests):
        return _visible_cases(tests, expected, wanted, total)
    pieces, at, left, shown = [], 0, wanted, []
    for each in tests_of(tests, dialect, expected):
        own = assertions(tests, dialect, each)[:left]
        left -= len(own)
        if own:
            shown.append(each.name)
            pieces += [tests[at : own[-1][1].end], "\n}"]
        else:
            pieces.append(tests[at : each.note])
        at = each.end
    return VisiblePart("".join(pieces) + tests[at:], tuple(shown), "", wanted, total)


def _visible_cases(tests: str, expected: Sequence[str], wanted: int, total: int) -> VisiblePart:
    shown = [each for each in cases.cases_of(tests) if each.test in expected][:wanted]
    lines = tests.split("\n")
    text = "".join(lines[each.line - 1] + "\n" for each in shown)
    return VisiblePart(text, tuple(dict.fromkeys(each.test for each in shown)), "", wanted, total)


def problem_of(
    source: str, tests: str, expected: Collection[str], dialect: Dialect
) -> tuple[str, str] | None:
    """Return the field at fault and why, where a reference or its tests cannot be read; None where both can."""
    try:
        outline(source, dialect)
    except SourceBroken as error:
        return "reference", f"line {error.line}: {error.message}"
    try:
        there = (
            {each.test for each in cases.cases_of(tests)}
            if cases.is_cases(tests)
            else {each.name for each in tests_of(tests, dialect, list(expected))}
        )
    except (SourceBroken, cases.CaseInvalid) as error:
        return "segments", f"line {error.line}: {error.message}"
    missing = [name for name in expected if name not in there]
    return ("expected", f"{missing[0]!r} is no test in the segments") if missing else None


class BracedWays(ABC):
    """The ways of a language with braces; a language names itself, its dialect and its libraries."""

    name: str
    title: str
    dialect: Dialect
    editable = False

    @abstractmethod
    def libraries(self, text: str) -> tuple[str, ...]:
        """Return what a text imports, sorted."""

    @abstractmethod
    def is_built_in(self, library: str) -> bool:
        """Return whether the language brings a library itself."""

    def opening(self, context: str, gap: int) -> Opening:
        """Return the context's structure. Raises MaskingError."""
        return open_context(context, gap, self.dialect)

    def path(self, context: str, gap: int) -> str:
        """Return the qualified name of the function that is open at the gap."""
        return JOINT[self.dialect].join(self.opening(context, gap).path)

    def first_line(self, context: str, gap: int) -> int:
        """Return the line of the open function's header, from 0."""
        return self.opening(context, gap).first

    def starting_answer(self, context: str, gap: int) -> str:
        """Return the function with an empty, indented line for a body."""
        return starting_answer(self.opening(context, gap))

    def empty_program(self, context: str, gap: int) -> str:
        """Return the program with a body that does nothing."""
        return fill(context, gap, empty_body(self.opening(context, gap)))

    def assemble(self, context: str, gap: int, answer: Answer, *, tests: Collection[str] = ()) -> Assembled:
        """Return the program that runs an answer."""
        return assemble(self.opening(context, gap), answer, tests)

    def visible_part(
        self, tests: str, expected: Sequence[str], block: str = "", *, count: int | None = None
    ) -> VisiblePart:
        """Return the test functions cut after the n-th top-level assertion, or the first n cases."""
        return replace(visible_part(tests, expected, self.dialect, count=count), block=block)

    def assertion_lines(self, tests: str, expected: Sequence[str]) -> dict[str, list[tuple[int, int]]]:
        """Return the lines of each test's top-level assertions; nothing for tests that cannot be read."""
        try:
            return assertion_lines(tests, expected, self.dialect)
        except (SourceBroken, cases.CaseInvalid):
            return {}

    def shown(self, tests: str, first: int, last: int) -> str:
        """Return an assertion's source without its indentation, or a case in short."""
        if cases.is_cases(tests):
            return next((each.shown for each in cases.cases_of(tests) if each.line == first), "")
        lines = tests.split("\n")[first - 1 : last]
        width = len(lines[0]) - len(lines[0].lstrip())
        return "\n".join(line[width:] if not line[:width].strip() else line for line in lines).rstrip(" ;")

    def examine(self, source: str, tests: str, block: str, expected: Sequence[str]) -> Examined:
        """Return what the sources hold, as far as brackets tell; node and g++ say the rest. Raises SourceUnfit."""
        if block.strip():
            raise SourceUnfit(
                "block", f"is not run for {self.title}", "Leave it out: each test function is called."
            )
        problem = problem_of(source, tests, expected, self.dialect)
        if problem:
            raise SourceUnfit(*problem, f"Mend it as {self.title}.")
        total = sum(len(lines) for lines in self.assertion_lines(tests, expected).values())
        libraries = self.libraries(source + "\n" + ("" if cases.is_cases(tests) else tests))
        needs = tuple(each for each in libraries if not self.is_built_in(each))
        return Examined(total, -(-total // 3), libraries, needs)
