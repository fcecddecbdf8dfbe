"""Python's ways, as examples.languages.base asks for them."""

from __future__ import annotations

import ast
from collections.abc import Collection, Sequence

from examples.assembly import Answer, Assembled, assemble, empty_program, starting_answer
from examples.importing.base import libraries_of, third_party
from examples.languages.base import Examined, FunctionAbsent, SourceUnfit, Unreadable
from examples.languages.python.opening import open_context
from examples.languages.python.source import (
    FUNCTIONS,
    FunctionNotFound,
    Positions,
    SourceInvalid,
    find,
    parse,
)
from examples.masking import (
    MaskingError,
    Segment,
    Span,
    body_span,
    line_ended,
    mask,
    trailing_comments,
    with_tests,
)
from examples.visible import VisiblePart, assertion_lines, count_assertions, default_count, visible_part


class PythonWays:
    """Python 3, parsed."""

    name = "python"
    title = "Python"
    has_block = True

    def path(self, context: str, gap: int) -> str:
        """Return the qualified name of the function that is open at the gap."""
        return ".".join(open_context(context, gap).path)

    def first_line(self, context: str, gap: int) -> int:
        """Return the line where the open function starts, from 0, its decorators included."""
        return open_context(context, gap).first

    def helpers_line(self, context: str, gap: int) -> int:
        """Return the line, from 0, before which helpers are put: the first of the statement that holds the function."""
        return open_context(context, gap).holder

    def starting_answer(self, context: str, gap: int) -> str:
        """Return decorators, signature and docstring, and an empty indented line."""
        return starting_answer(context, gap)

    def empty_program(self, context: str, gap: int) -> str:
        """Return the program with `...` for a body."""
        return empty_program(context, gap)

    def assemble(self, context: str, gap: int, answer: Answer, *, tests: Collection[str] = ()) -> Assembled:
        """Return the program that runs an answer."""
        return assemble(context, gap, answer, tests=tests)

    def visible_part(
        self, tests: str, expected: Sequence[str], block: str = "", *, count: int | None = None
    ) -> VisiblePart:
        """Return the test functions cut after the n-th top-level assertion."""
        return visible_part(tests, expected, block, count=count)

    def assertion_lines(self, tests: str, expected: Sequence[str]) -> dict[str, list[tuple[int, int]]]:
        """Return the lines of each test's top-level assertions; nothing for tests that are not Python."""
        try:
            return assertion_lines(tests, expected)
        except SourceInvalid:
            return {}

    def shown(self, tests: str, first: int, last: int) -> str:
        """Return an assertion's source without its indentation, and without the word assert where that begins it."""
        lines = tests.split("\n")[first - 1 : last]
        width = len(lines[0]) - len(lines[0].lstrip())
        text = "\n".join(line[width:] if not line[:width].strip() else line for line in lines)
        return text.removeprefix("assert ").rstrip()

    def examine(self, source: str, tests: str, block: str, expected: Sequence[str]) -> Examined:
        """Return what the sources hold, parsed by the Python of this process. Raises SourceUnfit."""
        trees = [_parsed(source, "reference"), _parsed(tests, "segments"), _parsed(block, "block")]
        libraries = libraries_of(*trees)
        return Examined(
            total=count_assertions(trees[1], expected),
            visible=default_count(trees[1], expected),
            libraries=libraries,
            needs=third_party(libraries),
        )

    def body_spans(self, source: str, name: str) -> list[Span]:
        """Return where the function's body lies, behind its docstring."""
        tree = _read(source)
        try:
            return [body_span(find(tree, name), Positions(source))]
        except FunctionNotFound as error:
            raise FunctionAbsent(str(error)) from error

    def defined(self, source: str) -> list[str]:
        """Return the names of the functions at the top level."""
        return [node.name for node in _read(line_ended(source)).body if isinstance(node, FUNCTIONS)]

    def tests_in(self, tests: str) -> list[str]:
        """Return the names of the functions at the top level."""
        return self.defined(tests)

    def pieces(self, tests: str, names: Collection[str]) -> list[tuple[str, str]]:
        """Return the text cut behind each of the functions and the comments that trail it; every byte of it stays."""
        tree, positions = _read(tests), Positions(tests)
        found, at = [], 0
        for node in tree.body:
            if isinstance(node, FUNCTIONS) and node.name in names:
                end = trailing_comments(positions, positions.end(node), None)
                line = positions.line_at(end)
                end = positions.starts[line] if line < len(positions.starts) else end
                found.append((node.name, positions.data[at:end].decode()))
                at = end
        name, last = found[-1]
        return [*found[:-1], (name, last + positions.data[at:].decode())]

    def judged_by(
        self,
        context: str,
        gap: int,
        reference: str,
        segments: Sequence[Segment],
        tests: Sequence[str],
    ) -> tuple[tuple[str, ...], bool]:
        """Return what the whole source says: which tests its block runs, or all of them."""
        try:
            masked = mask(
                with_tests(context, gap, reference, segments), self.path(context, gap), test_names=tests
            )
        except (MaskingError, FunctionNotFound) as error:
            raise SourceUnfit("tests", str(error), "Name the test functions differently.") from error
        except SourceInvalid as error:
            remedy = "Together with the code it is not Python: begin each at the left margin."
            raise SourceUnfit("tests", error.message, remedy) from error
        return masked.expected, bool(masked.block)


def _read(code: str) -> ast.Module:
    try:
        return parse(code)
    except SourceInvalid as error:
        raise Unreadable(error.message, error.line) from error


def _parsed(code: str, field: str) -> ast.Module:
    try:
        return parse(code)
    except SourceInvalid as error:
        place = f"line {error.line}: " if error.line else ""
        raise SourceUnfit(field, f"{place}{error.message}", "Give code that Python 3 can parse.") from error
