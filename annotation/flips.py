"""ADJUDICATE: who flips by a fix: outcomes before and after, per solution and per test; pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from annotation.fairness.rows import UNJUDGED, Ran


class Flip(StrEnum):
    """What a fix does to a solution."""

    PASSES = "passes now"
    FAILS = "fails now"
    SAME = "as before"
    UNSTABLE = "not the same every time before"
    UNJUDGED = "unjudged"
    OPEN = "not executed yet"


@dataclass(frozen=True, slots=True)
class TestFlip:
    """A test before and after: outcomes, "" where it has none (not executed, or not there)."""

    __test__ = False  # not a test class, whatever pytest thinks of the name

    test: str
    before: str
    after: str

    @property
    def differs(self) -> bool:
        """Whether it has two different outcomes."""
        return bool(self.before and self.after) and self.before != self.after


@dataclass(frozen=True, slots=True)
class Line:
    """A solution before and after."""

    sha256: str
    flip: Flip
    before: Ran | None
    after: Ran | None
    tests: tuple[TestFlip, ...]


def flip_of(before: Sequence[Ran], after: Ran | None) -> Flip:
    """Return what the fix does. Unjudged is never a flip, nor is what came out differently before anything changed."""
    if after is None or (not after.judged and after.state != UNJUDGED):
        return Flip.OPEN
    if not after.judged:
        return Flip.UNJUDGED
    judged = [each for each in before if each.judged]
    if not judged:
        return Flip.UNJUDGED if any(each.state == UNJUDGED for each in before) else Flip.OPEN
    passed = {each.passed for each in judged}
    if len(passed) > 1:
        return Flip.UNSTABLE
    was, is_now = passed.pop(), after.passed
    if was == is_now:
        return Flip.SAME
    return Flip.PASSES if is_now else Flip.FAILS


def lines(
    solutions: Iterable[str],
    before: Mapping[str, Sequence[Ran]],
    after: Mapping[str, Ran],
    *,
    old: Sequence[str],
    new: Sequence[str],
) -> list[Line]:
    """Return a line for each solution (by hash), with its tests: those of the version (`old`) and of the fix (`new`)."""
    tests = [*old, *(test for test in new if test not in old)]
    made = []
    for sha256 in solutions:
        was = list(before.get(sha256, ()))
        shown = next((each for each in reversed(was) if each.judged), was[-1] if was else None)
        now = after.get(sha256)
        flips = tuple(
            TestFlip(test, shown.tests.get(test, "") if shown else "", now.tests.get(test, "") if now else "")
            for test in tests
        )
        made.append(Line(sha256, flip_of(was, now), shown, now, flips))
    return made


def tally(flips: Iterable[Line]) -> dict[Flip, int]:
    """Return how many solutions each flip has, all of them named."""
    counts = dict.fromkeys(Flip, 0)
    for each in flips:
        counts[each.flip] += 1
    return counts
