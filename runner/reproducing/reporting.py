"""The table of a reproduction: what was run, what passed, what was known, who differs; the limit beside each figure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from runner.reproducing.base import Format, Known
from runner.reproducing.running import Result
from runner.sandbox.base import Limits

LINE = "{:42}{:>9}{:>9}  {:32}{:18}{}"


@dataclass(frozen=True)
class Figure:
    """One line of the table: the samples whose id begins with a prefix."""

    known: Known
    results: tuple[Result, ...]

    @property
    def passed(self) -> int:
        """Return how many passed."""
        return sum(result.passed for result in self.results)

    @property
    def is_whole(self) -> bool:
        """Return whether these are as many samples as the published file has, so that its figure can be held to."""
        return len(self.results) == self.known.samples

    @property
    def holds(self) -> bool:
        """Return whether the known figure was reached."""
        return abs(self.passed - self.known.passed) <= self.known.within

    def said(self) -> str:
        """Return the known figure and whether it was reached."""
        if not self.is_whole:
            return f"none for {len(self.results)} samples"
        margin = f" ± {self.known.within}" if self.known.within else ""
        return (
            f"{self.known.passed:,}{margin} of {self.known.samples:,}: {'holds' if self.holds else 'MISSES'}"
        )

    def as_recorded(self) -> str:
        """Return how many verdicts are the published ones, of those that were published."""
        recorded = [result for result in self.results if result.recorded is not None]
        return f"{sum(result.as_recorded for result in recorded):,} of {len(recorded):,}" if recorded else "-"


def figures(form: Format, results: Sequence[Result]) -> list[Figure]:
    """Return the lines of the table: one for each known prefix, one more for samples under none of them."""
    groups: dict[Known, list[Result]] = {known: [] for known in form.known}
    others = Known("others", 0, 0)
    for result in results:
        known = next((known for known in form.known if result.id.startswith(known.prefix)), others)
        groups.setdefault(known, []).append(result)
    return [Figure(known, tuple(found)) for known, found in groups.items() if found]


def limit_text(limits: Limits) -> str:
    """Return the limit as it stands beside a figure."""
    return f"{limits.cpu_seconds:g} s CPU, {limits.wall_seconds:g} s wall, {limits.memory_bytes >> 20} MiB"


def lines(form: Format, results: Sequence[Result], limits: Limits, *, shown: int = 200) -> Iterator[str]:
    """Yield the table, then the outcomes, the ids that differ from the record, and those that came near the limit."""
    limit = limit_text(limits)
    yield LINE.format("samples", "run", "passed", "known", "as recorded", "limit")
    for figure in figures(form, results):
        name = figure.known.prefix or form.title
        run, passed = f"{len(figure.results):,}", f"{figure.passed:,}"
        yield LINE.format(name[:41], run, passed, figure.said(), figure.as_recorded(), limit)
    counted = Counter(result.outcome.value if result.outcome else "unjudged" for result in results)
    yield "outcomes: " + ", ".join(f"{name} {count:,}" for name, count in counted.most_common())
    yield from _named("differ from the record", [r for r in results if not r.as_recorded], shown)
    yield from _named("could not be judged", [r for r in results if r.outcome is None], shown)
    yield from _slow(results, limits)


def _named(what: str, results: Sequence[Result], shown: int) -> Iterator[str]:
    """Yield the samples by name, with what they came to."""
    if not results:
        return
    yield f"{len(results):,} {what}:"
    for result in sorted(results, key=lambda result: result.id)[:shown]:
        was = (
            ""
            if result.recorded is None
            else f", recorded as {'passed' if result.recorded else 'not passed'}"
        )
        came = result.outcome.value if result.outcome else result.reason
        yield f"  {result.id}: {came}{was}, {result.cpu_seconds:.2f} s CPU"
    if len(results) > shown:
        yield f"  and {len(results) - shown:,} more (--out writes all)"


def _slow(results: Sequence[Result], limits: Limits) -> Iterator[str]:
    """Yield which passing samples would not have passed under a limit of 3, 4 or 5 seconds, and the slowest."""
    passing = sorted((r for r in results if r.passed), key=lambda r: r.cpu_seconds, reverse=True)
    for seconds in (3, 4, 5):
        over = [result for result in passing if result.cpu_seconds > seconds]
        if over and seconds < limits.cpu_seconds:
            named = ", ".join(f"{result.id} ({result.cpu_seconds:.1f} s)" for result in over[:20])
            yield f"need more than {seconds} s of CPU to pass: {len(over)}: {named}"
    if passing:
        yield f"slowest that passed: {passing[0].id}, {passing[0].cpu_seconds:.2f} s CPU"
