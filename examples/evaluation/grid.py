"""EVALUATE: models beside examples: which of these nobody solves, and which everybody."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from examples.evaluation.leaderboard import common_versions
from examples.evaluation.pass_at_k import Count
from examples.evaluation.rows import Facts, tallies_of
from examples.models import Evaluation

NOBODY, EVERYBODY = "nobody", "everybody"


@dataclass(frozen=True, slots=True)
class GridRow:
    """A version, and what each model's samples came to, in the order of the columns."""

    facts: Facts
    counts: tuple[Count, ...]

    @property
    def solved_by(self) -> int:
        """How many models have a sample that passes."""
        return sum(each.passed > 0 for each in self.counts)

    @property
    def verdict(self) -> str:
        """NOBODY, EVERYBODY (each model with its every sample), or ""; only where each model has a judged sample."""
        if not self.counts or not all(each.samples for each in self.counts):
            return ""
        if not any(each.passed for each in self.counts):
            return NOBODY
        return EVERYBODY if all(each.passed == each.samples for each in self.counts) else ""


def grid(evaluations: Sequence[Evaluation]) -> list[GridRow]:
    """Return a row for each version that all the evaluations share, those fewest models solve first, in two queries."""
    found = tallies_of(evaluations)
    common = common_versions(found)
    columns = [{each.facts.version_id: each for each in found[one.pk]} for one in evaluations]
    rows = [
        GridRow(columns[0][version].facts, tuple(column[version].count for column in columns))
        for version in common
    ]
    return sorted(rows, key=lambda row: (row.solved_by, _share(row), row.facts.example_id))


def _share(row: GridRow) -> float:
    samples = sum(each.samples for each in row.counts)
    return sum(each.passed for each in row.counts) / samples if samples else 0.0
