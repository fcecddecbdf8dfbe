"""COMPARE: a value that a program's process has written against what a test expects, outside that process; pure.

A value arrives as `kind form` (languages write it; for Python: languages/python/inside/plain.py). Each comparator is
named, and says of a value that it is right (True), wrong (False), or that it cannot tell (None): the value compares by
code of its own. Then the assertion is executed where the value is, and that is a matter for the canary.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Protocol

OPAQUE = "opaque"


class Comparator(Protocol):
    """One expectation of one assertion."""

    @property
    def name(self) -> str:
        """Return the comparator's name and parameters, as pages show it; never what is expected."""
        ...

    def holds(self, written: str) -> bool | None:
        """Return whether the assertion holds for a written value, None where that cannot be told from here."""
        ...


@dataclass(frozen=True)
class Exact:
    """The value equals the expected one; `form` is the expected value's own, shortened as values are."""

    form: str
    name = "exact"

    def holds(self, written: str) -> bool | None:
        """Return whether both forms are the same; a number of numpy is compared with a list item by item, there."""
        kind, _, form = written.partition(" ")
        if kind == OPAQUE or (kind.startswith("numpy.") and self.form.startswith(("[", "(", "{", "<", "#"))):
            return None
        return form == self.form


@dataclass(frozen=True)
class Identical:
    """The value is the one object of its kind: None, True or False; or, `wanted` False, is not."""

    kind: str
    form: str
    wanted: bool = True
    name = "identical"

    def holds(self, written: str) -> bool | None:
        """Return whether it is that object; no class can pretend to be."""
        return (written == f"{self.kind} {self.form}") is self.wanted


@dataclass(frozen=True)
class Truth:
    """The value counts as true, or as false; the process says how it counts and not which was expected."""

    wanted: bool
    name = "truth"

    def holds(self, written: str) -> bool | None:
        """Return whether it counts as wanted."""
        return written in ("truth 1", "truth 0") and (written == "truth 1") is self.wanted


@dataclass(frozen=True)
class Approx:
    """`abs(value - expected) < tolerance`, with `<=` where `inclusive`, in the arithmetic of Python's own numbers."""

    expected: float
    tolerance: float
    inclusive: bool = False

    @property
    def name(self) -> str:
        """Return the name with its tolerance."""
        return f"approx({self.tolerance:g})"

    def holds(self, written: str) -> bool | None:
        """Return whether the number is near enough; what is no number is wrong."""
        try:
            value = number(written)
            if value is None:
                return None
            distance = abs(value - self.expected)
        except (ValueError, ArithmeticError):
            return False
        return distance <= self.tolerance if self.inclusive else distance < self.tolerance


@dataclass(frozen=True)
class Close:
    """`math.isclose(value, expected, rel_tol=…, abs_tol=…)`."""

    expected: float
    relative: float
    absolute: float

    @property
    def name(self) -> str:
        """Return the name with its tolerances."""
        return f"approx({self.relative:g} relative, {self.absolute:g})"

    def holds(self, written: str) -> bool | None:
        """Return whether the number is close; what is no number is wrong."""
        try:
            value = number(written)
            if value is None:
                return None
            return math.isclose(value, self.expected, rel_tol=self.relative, abs_tol=self.absolute)
        except (ValueError, ArithmeticError):
            return False


def number(written: str) -> int | float | None:
    """Return a written number exactly, None for one of a kind with arithmetic of its own. Raises ValueError for no number."""
    kind, _, form = written.partition(" ")
    if kind not in ("int", "float", "bool", "numpy.float64"):
        if kind == OPAQUE or form.startswith(("n", "c")):
            return None
        raise ValueError
    if form in ("n+inf", "n-inf"):
        return math.inf if form == "n+inf" else -math.inf
    over, _, under = form.removeprefix("n").partition("/")
    if under:
        return int(over, 16) / int(under, 16)
    return float(int(over, 16)) if kind.endswith(("float", "float64")) else int(over, 16)
