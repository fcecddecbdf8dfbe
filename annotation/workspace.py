"""ATTEMPT: what the workspace shows of an example: never more than its annotator may see."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Protocol

from django.utils.html import format_html

from annotation.models import Attempt, AttemptQuerySet
from config.access import Person
from config.parts.code import diff
from examples.jobs import segments_of
from examples.languages.ways import ways
from examples.masking import PLACEHOLDER, test_source
from examples.models import Version
from examples.visible import VisiblePart

# Beyond this many lines two texts are not compared: it would take longer than the page may.
LINES_COMPARED = 3000


def own_attempts(person: Person) -> AttemptQuerySet:
    """Return the person's own attempts, for every page and the socket alike."""
    return Attempt.objects.visible_to(person).filter(annotator_id=person.pk)


def with_example(attempts: AttemptQuerySet) -> AttemptQuerySet:
    """Return the attempts with what the pages show of their example, in one query."""
    return attempts.select_related(
        "protocol", "slot__study", "slot__version__example__dataset", "slot__version__environment"
    )


@dataclass(frozen=True)
class ContextView:
    """The context as numbered lines.

    hole     the line behind which the open body stands
    focal    the range of the function's header
    helpers  the line before which helpers are put
    indent   how many columns the function stands in
    """

    text: str
    focal: str
    hole: int
    helpers: int
    indent: int


def context_view(version: Version) -> ContextView:
    """Return the context with its open line taken out, and where the function's header stands."""
    its = ways(version.language)
    first = its.first_line(version.context, version.gap) + 1
    helpers = its.helpers_line(version.context, version.gap) + 1
    data = version.context.encode()
    line = data[: version.gap].count(b"\n") + 1
    lines = version.context.split("\n")
    header = lines[first - 1].expandtabs(4)
    indent = len(header) - len(header.lstrip())
    open_line = lines[line - 1]
    if not open_line.strip():
        del lines[line - 1]
        return ContextView("\n".join(lines), f"{first}-{line - 1}", line - 1, helpers, indent)
    if open_line.rstrip().endswith(PLACEHOLDER):
        lines[line - 1] = open_line.rstrip().removesuffix(PLACEHOLDER)
    return ContextView("\n".join(lines), f"{first}-{line}", line, helpers, indent)


class Texts(Protocol):
    """Anything that holds an answer's two regions."""

    function: str
    module: str


def comparable(*texts: Texts | None) -> bool:
    """Whether none of the texts is too long to be compared line by line while somebody waits."""
    return all(
        (each.function.count("\n") + each.module.count("\n")) <= LINES_COMPARED for each in texts if each
    )


def difference_of(before: Texts, after: Texts) -> str:
    """Return the markup of what differs between two answers, helpers above the function as in a file."""
    if not comparable(before, after):
        return format_html('<p class="small muted">{}</p>', "Too long to be compared here; both stand below.")
    whole = [
        f"{each.module}\n\n{each.function}" if each.module.strip() else each.function
        for each in (before, after)
    ]
    return diff(*whole, label="What differs", classes="boxed")


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
    tests = test_source(segments_of(version))
    return _shown(version.language, tests, tuple(version.expected), version.block, version.visible)


@lru_cache(maxsize=256)
def _shown(language: str, tests: str, expected: tuple[str, ...], block: str, count: int) -> ShownTests:
    """Return the same for the same tests; parsed once, since every row that arrives asks again."""
    its = ways(language)
    part = its.visible_part(tests, expected, block, count=count)
    found = tuple(
        Expectation(test, its.shown(part.text, first, last), first, last)
        for test, spans in its.assertion_lines(part.text, part.expected).items()
        for first, last in spans
    )
    return ShownTests(part, found)
