"""The ways of a language with braces."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Sequence
from dataclasses import replace

from examples.assembly import Answer, Assembled
from examples.languages.base import Examined, SourceUnfit
from examples.languages.braces.answers import assemble
from examples.languages.braces.opening import JOINT, Opening, empty_body, open_context, starting_answer
from examples.languages.braces.visible import assertion_lines, visible_part
from examples.masking import fill
from examples.visible import VisiblePart
from runner.languages import cases
from runner.languages.braces.outline import outline
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
