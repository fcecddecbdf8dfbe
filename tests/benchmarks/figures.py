"""The table a benchmark prints: goal, measured median and 95th percentile, ratio to the first row, n, state of the machine."""

from __future__ import annotations

import os
import platform
import statistics
from collections.abc import Sequence
from math import ceil


def percentile(values: Sequence[float], share: float) -> float:
    """Return the value that this share of the values does not exceed (nearest rank: one that was measured)."""
    ordered = sorted(values)
    return ordered[max(ceil(share * len(ordered)), 1) - 1]


def machine() -> str:
    """Return what the figures were measured on and how busy it is at this moment."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / (1 << 30)
    load = ", ".join(f"{value:.1f}" for value in os.getloadavg())
    return (
        f"{os.cpu_count()} cores, {memory:.0f} GiB, Linux {platform.release()}, Python {platform.python_version()}; "
        f"load average {load} at start"
    )


class Table:
    """The rows of one benchmark, all measured in this run, and whether every goal was reached.

    A row's ratio is its median over that of the first row, measured side by side.
    """

    def __init__(self, title: str, *, unit: str = "ms") -> None:
        self.title, self.unit, self.state = title, unit, machine()
        self.lines: list[str] = []
        self.holds = True
        self._first: float | None = None

    def add(
        self, name: str, values: Sequence[float], *, p50: float | None = None, p95: float | None = None
    ) -> None:
        """Add a row of measured values; goals are upper bounds on median and 95th percentile."""
        if not values:
            self.fact(name, "nothing was measured", holds=False)
            return
        median, high = statistics.median(values), percentile(values, 0.95)
        self._first = self._first if self._first is not None else median
        missed = (p50 is not None and median > p50) or (p95 is not None and high > p95)
        goal = " / ".join("-" if each is None else f"{each:g}" for each in (p50, p95))
        said = "" if p50 is None and p95 is None else "misses" if missed else "holds"
        ratio = median / self._first if self._first else float("nan")
        self.lines.append(
            f"{name:44}{'' if not said else goal:>12}{median:>10.1f}{high:>10.1f}{ratio:>8.1f}{len(values):>7}  {said}"
        )
        self.holds &= not missed

    def fact(self, name: str, found: str, *, goal: str = "", holds: bool | None = None) -> None:
        """Add a line that is no distribution: what was found, beside its goal where there is one."""
        said = "" if holds is None else "holds" if holds else "misses"
        self.lines.append(f"{name:44}{goal:>12}  {found}  {said}".rstrip())
        self.holds &= holds is not False

    def show(self) -> int:
        """Print everything and return the exit status: 1 where a goal was missed."""
        print(f"{self.title}\n{self.state}")
        head = ("goal", "median", "p95", "ratio", "n")
        widths = (12, 10, 10, 8, 7)
        print(
            f"{self.unit:44}" + "".join(f"{word:>{width}}" for word, width in zip(head, widths, strict=True))
        )
        print("\n".join(self.lines), flush=True)
        return 0 if self.holds else 1
