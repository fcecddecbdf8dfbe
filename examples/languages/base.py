"""What a language must tell the rest of examples: where a function is open, how an answer goes in, what tests hold."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Protocol

from examples.assembly import Answer, Assembled
from examples.masking import Segment, Span
from examples.visible import VisiblePart


class SourceUnfit(ValueError):
    """What is wrong with the code of a record: the field at fault, what, and what helps."""

    def __init__(self, field: str, message: str, remedy: str) -> None:
        super().__init__(f"{field}: {message}")
        self.field, self.message, self.remedy = field, message, remedy


class Unreadable(ValueError):
    """A text that is not of its language; `line` counts from 1, 0 when not known."""

    def __init__(self, message: str, line: int = 0) -> None:
        super().__init__(message)
        self.message, self.line = message, line

    @property
    def place(self) -> str:
        """The line as a message begins with it; "" where it is not known."""
        return f"Line {self.line}: " if self.line else ""


class FunctionAbsent(LookupError):
    """A source defines no function of this name; the message says which come closest."""


@dataclass(frozen=True)
class Examined:
    """What code and tests hold.

    total    how many top-level assertions; `visible` is how many an annotator sees unless it is said
    needs    the libraries that the language does not bring itself
    """

    total: int
    visible: int
    libraries: tuple[str, ...]
    needs: tuple[str, ...]


class Ways(Protocol):
    """One object per language. Where nothing is open at a context's gap (in UTF-8 bytes), its methods raise MaskingError.

    `title` is the language's name for people. `has_block` says whether code of its own may run the tests.
    """

    name: str
    title: str
    has_block: bool

    def path(self, context: str, gap: int) -> str:
        """Return the qualified name of the function that is open at the gap."""
        ...

    def first_line(self, context: str, gap: int) -> int:
        """Return the line of the open function's header, from 0."""
        ...

    def helpers_line(self, context: str, gap: int) -> int:
        """Return the line, from 0, before which code beside the function is put: its top-level statement's first."""
        ...

    def starting_answer(self, context: str, gap: int) -> str:
        """Return the editor's first text."""
        ...

    def empty_program(self, context: str, gap: int) -> str:
        """Return the program whose open function does nothing."""
        ...

    def assemble(self, context: str, gap: int, answer: Answer, *, tests: Collection[str] = ()) -> Assembled:
        """Return the program that runs an answer; `tests` are the names that the tests bind."""
        ...

    def visible_part(
        self, tests: str, expected: Sequence[str], block: str = "", *, count: int | None = None
    ) -> VisiblePart:
        """Return the first `count` top-level assertions of the tests, a third of them for None."""
        ...

    def assertion_lines(self, tests: str, expected: Sequence[str]) -> dict[str, list[tuple[int, int]]]:
        """Return for each expected test the (first, last) lines of its top-level assertions."""
        ...

    def shown(self, tests: str, first: int, last: int) -> str:
        """Return the assertion on these lines of the tests as people read it."""
        ...

    def examine(self, source: str, tests: str, block: str, expected: Sequence[str]) -> Examined:
        """Return what a source without its tests, the tests and the block hold. Raises SourceUnfit."""
        ...

    def body_spans(self, source: str, name: str) -> list[Span]:
        """Return where the open region of each function of this qualified name lies in a source, one at least.

        Raises Unreadable, FunctionAbsent, or MaskingError where nothing of it is open.
        """
        ...

    def defined(self, source: str) -> list[str]:
        """Return the names of the functions at the top level of a source. Raises Unreadable."""
        ...

    def tests_in(self, tests: str) -> list[str]:
        """Return the names of the functions, or of the tests of cases, that a text of tests holds. Raises Unreadable."""
        ...

    def pieces(self, tests: str, names: Collection[str]) -> list[tuple[str, str]]:
        """Return the text of tests cut into one piece, (name, text), for each of these tests. Raises Unreadable."""
        ...

    def judged_by(
        self,
        context: str,
        gap: int,
        reference: str,
        segments: Sequence[Segment],
        tests: Sequence[str],
    ) -> tuple[tuple[str, ...], bool]:
        """Return which of the tests must pass, and whether the block runs them.

        Raises SourceUnfit for what does not fit together.
        """
        ...
