"""CURATE: an edited context: its focal function is found again, and the tests stand where they stood; pure.

The context is edited with `...` in the place of the open body, so it is a whole module: nothing has to be marked or
counted by hand, and what is open is found as it was at the import.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from difflib import SequenceMatcher
from itertools import accumulate
from typing import NamedTuple

from examples.languages.base import FunctionAbsent, Unreadable, Ways
from examples.masking import PLACEHOLDER, MaskingError, Segment, fill


class ContextInvalid(Exception):
    """The edited context cannot be used; the message says where and what helps."""


class Placed(NamedTuple):
    """A context, where the focal body belongs, and the tests at their places in it."""

    context: str
    gap: int
    segments: tuple[Segment, ...]


def with_placeholder(context: str, gap: int) -> str:
    """Return the context as it is edited: with `...` where the focal body belongs."""
    return fill(context, gap, PLACEHOLDER)


def placed(its: Ways, edited: str, name: str, *, context: str, segments: Sequence[Segment]) -> Placed:
    """Return the edited context, opened at the function `name`, with the tests of the former `context` in it.

    Raises ContextInvalid where it cannot be read, has no such function, or its body is not `...`.
    """
    data = edited.encode()
    try:
        defined = its.defined(edited)
        spans = its.body_spans(edited, name)
    except Unreadable as error:
        raise ContextInvalid(f"{error.place}{error.message}. Mend it as {its.title}.") from error
    except FunctionAbsent as error:
        raise ContextInvalid(f"{error}. The function that is open must stay, under its name.") from error
    except MaskingError as error:
        raise ContextInvalid(f"{error}. Leave {PLACEHOLDER} where it belongs.") from error
    span = next((each for each in spans if data[each.start : each.end].decode() == PLACEHOLDER), None)
    if span is None:
        raise ContextInvalid(
            f"The body of {name} is open here: leave {PLACEHOLDER} as all of it, and edit what belongs there as the reference."
        )
    if twice := _defined_again(defined, segments):
        raise ContextInvalid(f"{', '.join(twice)}: tests are edited as tests. Take them out of the context.")
    new = (data[: span.start] + data[span.end :]).decode()
    return Placed(new, span.start, _moved(segments, context, new))


def _defined_again(defined: Sequence[str], segments: Sequence[Segment]) -> list[str]:
    """Return the test functions that the context would define as well."""
    tests = {each.name for each in segments if each.kind == "function"}
    return [name for name in defined if name in tests]


def _moved(segments: Sequence[Segment], old: str, new: str) -> tuple[Segment, ...]:
    """Return the segments at the lines that now stand where theirs did; behind new lines that took the place of old."""
    before, after = old.splitlines(keepends=True), new.splitlines(keepends=True)
    starts = [0, *accumulate(len(line.encode()) for line in before)]
    ends = [0, *accumulate(len(line.encode()) for line in after)]
    stretches = SequenceMatcher(None, before, after, autojunk=False).get_opcodes()

    def moved(offset: int) -> int:
        line = next(at for at, start in enumerate(starts) if start >= offset)
        if line == len(before):
            return ends[-1]
        kind, first, _, there, end = next(one for one in stretches if one[1] <= line < one[2])
        return ends[there + line - first] if kind == "equal" else ends[end]

    return tuple(replace(each, offset=moved(each.offset)) for each in segments)
