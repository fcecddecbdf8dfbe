"""EVALUATE: several models on the versions they all were given, side by side."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from examples.evaluation.figures import PassAtK, pass_at_ks, usual_ks
from examples.evaluation.pass_at_k import Mean
from examples.evaluation.progress import Progress, progress_of
from examples.evaluation.reporting import limit_text
from examples.evaluation.rows import Tally, tallies_of
from examples.models import Dataset, Evaluation, EvaluationQuerySet, Split

DATASET, SPLIT = "dataset", "split"
# How many evaluations one board takes at most: each is a column of the grid.
MOST = 30


class Place(NamedTuple):
    """What evaluations with comparable figures are over: a dataset or a split, its name in addresses, and its title."""

    name: str
    title: str


class NoSuchPlace(LookupError):
    """Nothing of that name has an evaluation."""


@dataclass(frozen=True, slots=True)
class Line:
    """One model: its samples on the common versions, and pass@k over them.

    own   how many versions its evaluation has, of which the board counts the common ones
    """

    evaluation: Evaluation
    samples: int
    passed: int
    own: int
    figures: tuple[PassAtK, ...]
    progress: Progress
    limit: str

    @property
    def first(self) -> Mean:
        """Its pass@k for the smallest k, by which a board is ordered."""
        return self.figures[0].mean


@dataclass(frozen=True, slots=True)
class Board:
    """Models in the order of their first pass@k, those without a value and those with gaps last.

    common  how many versions all of them were given; every figure is over these
    """

    lines: tuple[Line, ...]
    common: int
    ks: tuple[int, ...]

    @property
    def one_limit(self) -> bool:
        """Whether all samples were judged under one limit."""
        return len({line.limit for line in self.lines}) <= 1


def places(evaluations: EvaluationQuerySet) -> list[Place]:
    """Return what the evaluations are over, by name."""
    rows = evaluations.order_by().values_list(
        "dataset__name", "dataset__title", "split__release__name", "split__release__number", "split__name"
    )
    found = set[Place]()
    for dataset, title, release, number, split in rows.distinct():
        if dataset:
            found.add(Place(f"{DATASET}:{dataset}", title))
        else:
            found.add(Place(f"{SPLIT}:{release}@{number}/{split}", f"{release} {number}, {split}"))
    return sorted(found)


def place_of(over: Dataset | Split) -> str:
    """Return the name of a place in addresses."""
    if isinstance(over, Dataset):
        return f"{DATASET}:{over.name}"
    return f"{SPLIT}:{over.release.name}@{over.release.number}/{over.name}"


def evaluations_at(evaluations: EvaluationQuerySet, place: str) -> list[Evaluation]:
    """Return the evaluations over a place, the oldest first. Raises NoSuchPlace."""
    kind, _, name = place.partition(":")
    if kind == DATASET:
        found = evaluations.filter(dataset__name=name)
    else:
        release, _, split = name.partition("/")
        title, _, number = release.partition("@")
        found = evaluations.filter(
            split__name=split, split__release__name=title, split__release__number=number
        )
    chosen = list(found.select_related("dataset", "split__release").order_by("pk")[:MOST])
    if not chosen:
        raise NoSuchPlace(place)
    return chosen


def leaderboard(evaluations: Sequence[Evaluation]) -> Board:
    """Return the board of these evaluations, in four queries."""
    found = tallies_of(evaluations)
    common = common_versions(found)
    there = {pk: [each for each in every if each.facts.version_id in common] for pk, every in found.items()}
    ks = usual_ks(each for every in there.values() for each in every)
    standing = progress_of(evaluations)
    lines = [_line(each, there[each.pk], len(found[each.pk]), ks, standing[each.pk]) for each in evaluations]
    lines.sort(key=lambda line: (not line.first.is_whole, -(line.first.value or 0.0), line.evaluation.name))
    return Board(tuple(lines), len(common), ks)


def common_versions(found: dict[int, list[Tally]]) -> set[int]:
    """Return the versions that all evaluations have."""
    sets = [{each.facts.version_id for each in every} for every in found.values()]
    return set.intersection(*sets) if sets else set()


def _line(
    evaluation: Evaluation, found: Sequence[Tally], own: int, ks: Sequence[int], progress: Progress
) -> Line:
    return Line(
        evaluation=evaluation,
        samples=sum(each.n for each in found),
        passed=sum(each.passed for each in found),
        own=own,
        figures=pass_at_ks(found, ks),
        progress=progress,
        limit=limit_text(evaluation),
    )
