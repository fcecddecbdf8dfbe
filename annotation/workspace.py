"""ATTEMPT: what the workspace shows of an example: never more than its annotator may see."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from annotation.models import Attempt, AttemptQuerySet
from config.access import Person
from examples.jobs import segments_of
from examples.languages.python.opening import open_context
from examples.masking import PLACEHOLDER, test_source
from examples.models import Version
from examples.visible import VisiblePart, assertion_lines, visible_part


def own_attempts(person: Person) -> AttemptQuerySet:
    """Return the person's own attempts, for every page and the socket alike."""
    return Attempt.objects.visible_to(person).filter(annotator_id=person.pk)


def with_example(attempts: AttemptQuerySet) -> AttemptQuerySet:
    """Return the attempts with what the pages show of their example, in one query."""
    return attempts.select_related(
        "slot__study", "slot__version__example__dataset", "slot__version__environment"
    )


@dataclass(frozen=True)
class ContextView:
    """The context as numbered lines: `hole` is the line behind which the open body stands, `focal` the header's range."""

    text: str
    focal: str
    hole: int


def context_view(version: Version) -> ContextView:
    """Return the context with its open line taken out, and where the function's header stands."""
    opening = open_context(version.context, version.gap)
    data = version.context.encode()
    line = data[: version.gap].count(b"\n") + 1
    lines = version.context.split("\n")
    open_line = lines[line - 1]
    if not open_line.strip():
        del lines[line - 1]
        return ContextView("\n".join(lines), f"{opening.first + 1}-{line - 1}", line - 1)
    if open_line.rstrip().endswith(PLACEHOLDER):
        lines[line - 1] = open_line.rstrip().removesuffix(PLACEHOLDER)
    return ContextView("\n".join(lines), f"{opening.first + 1}-{line}", line)


@dataclass(frozen=True)
class Expectation:
    """A visible top-level assertion: its test, its source, and its lines in the visible tests."""

    test: str
    source: str
    first: int
    last: int


@dataclass(frozen=True)
class ShownTests:
    """The visible part of a version's tests, and its assertions in source order."""

    part: VisiblePart
    expectations: tuple[Expectation, ...]

    @property
    def hidden(self) -> int:
        """Return how many top-level assertions are hidden."""
        return self.part.total - self.part.count


def shown_tests(version: Version) -> ShownTests:
    """Return what an annotator sees of the version's tests."""
    return _shown(test_source(segments_of(version)), tuple(version.expected), version.block, version.visible)


@lru_cache(maxsize=256)
def _shown(tests: str, expected: tuple[str, ...], block: str, count: int) -> ShownTests:
    """Return the same for the same tests; parsed once, since every row that arrives asks again."""
    part = visible_part(tests, expected, block, count=count)
    lines = part.text.split("\n")
    found = tuple(
        Expectation(test, _source(lines[first - 1 : last]), first, last)
        for test, spans in assertion_lines(part.text, part.expected).items()
        for first, last in spans
    )
    return ShownTests(part, found)


def _source(lines: list[str]) -> str:
    """Return an assertion's source without its indentation, and without the word assert where that begins it."""
    width = len(lines[0]) - len(lines[0].lstrip())
    text = "\n".join(line[width:] if not line[:width].strip() else line for line in lines)
    return text.removeprefix("assert ").rstrip()
