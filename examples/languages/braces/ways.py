"""The ways of a language with braces."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Sequence
from dataclasses import replace

from examples.assembly import Answer, Assembled
from examples.languages.base import Examined, FunctionAbsent, SourceUnfit, Unreadable
from examples.languages.braces.answers import assemble
from examples.languages.braces.opening import (
    JOINT,
    Opening,
    body_span,
    empty_body,
    open_context,
    starting_answer,
)
from examples.languages.braces.visible import assertion_lines, visible_part
from examples.masking import Segment, Span, fill, test_source
from examples.visible import VisiblePart
from runner.languages import cases
from runner.languages.braces.outline import Definition, functions, outline
from runner.languages.braces.statements import tests_of
from runner.languages.braces.tokens import Dialect, SourceBroken


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
    has_block = False

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

    def helpers_line(self, context: str, gap: int) -> int:
        """Return the line, from 0, before which helpers are put: the first of the statement that holds the function."""
        opening = self.opening(context, gap)
        return opening.text.count("\n", 0, opening.holder.note)

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

    def body_spans(self, source: str, name: str) -> list[Span]:
        """Return where the bodies of the functions of this name lie, without the space inside their braces."""
        path = tuple(name.split(JOINT[self.dialect]))
        found = [each for own, each in functions(self._outline(source)) if own == path]
        if not found:
            raise FunctionAbsent(f"function {name!r} is not in the source")
        filled = [each for each in found if source[each.open + 1 : each.close].strip()]
        return [body_span(source, each) for each in filled or found]

    def defined(self, source: str) -> list[str]:
        """Return the names of the functions at the top level."""
        return [each.name for each in self._outline(source) if each.kind == "function"]

    def tests_in(self, tests: str) -> list[str]:
        """Return the names of the functions at the top level, or of the tests that the cases belong to, in order."""
        return list(self._cases(tests)) if cases.is_cases(tests) else self.defined(tests)

    def pieces(self, tests: str, names: Collection[str]) -> list[tuple[str, str]]:
        """Return the text cut behind each of the functions; of cases, the lines of each test."""
        if cases.is_cases(tests):
            return list(self._cases(tests).items())
        found, at = [], 0
        for each in self._outline(tests):
            if each.kind == "function" and each.name in names:
                end = tests.find("\n", each.end) + 1 or len(tests)
                found.append((each.name, tests[at:end]))
                at = end
        name, last = found[-1]
        return [*found[:-1], (name, last + tests[at:])]

    def judged_by(
        self,
        context: str,
        gap: int,
        reference: str,
        segments: Sequence[Segment],
        tests: Sequence[str],
    ) -> tuple[tuple[str, ...], bool]:
        """Return all of the tests, none of which a block runs."""
        block = "".join(each.text for each in segments if each.kind == "block")
        self.examine(fill(context, gap, reference), test_source(segments), block, tests)
        return tuple(tests), False

    def _outline(self, source: str) -> tuple[Definition, ...]:
        try:
            return outline(source, self.dialect)
        except SourceBroken as error:
            raise Unreadable(error.message, error.line) from error

    def _cases(self, tests: str) -> dict[str, str]:
        """Return the lines of each test. Raises Unreadable."""
        try:
            found = cases.cases_of(tests)
        except cases.CaseInvalid as error:
            raise Unreadable(error.message, error.line) from error
        lines, of_test = tests.split("\n"), dict[str, str]()
        for each in found:
            of_test[each.test] = of_test.get(each.test, "") + lines[each.line - 1] + "\n"
        return of_test
