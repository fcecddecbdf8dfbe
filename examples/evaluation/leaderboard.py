"""EVALUATE: several models on the versions they all were given, side by side; and which examples nobody or everybody solves."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from config.cells import csv_line
from examples.evaluation.figures import PassAtK, pass_at_ks, usual_ks
from examples.evaluation.pass_at_k import Count, Mean
from examples.evaluation.progress import Progress, progress_of
from examples.evaluation.reporting import limit_text
from examples.evaluation.rows import Facts, Tally, tallies_of
from examples.models import Dataset, Evaluation, EvaluationQuerySet, Split

DATASET, SPLIT = "dataset", "split"
NOBODY, EVERYBODY = "nobody", "everybody"
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


def grid(evaluations: Sequence[Evaluation]) -> list[GridRow]:
    """Return a row for each version that all the evaluations share, those fewest models solve first, in two queries."""
    found = tallies_of(evaluations)
    common = common_versions(found)
    columns = [{each.facts.version_id: each for each in found[each_.pk]} for each_ in evaluations]
    rows = [
        GridRow(columns[0][version].facts, tuple(column[version].count for column in columns))
        for version in common
    ]
    return sorted(rows, key=lambda row: (row.solved_by, _share(row), row.facts.example_id))


def common_versions(found: dict[int, list[Tally]]) -> set[int]:
    """Return the versions that all evaluations have."""
    sets = [{each.facts.version_id for each in every} for every in found.values()]
    return set.intersection(*sets) if sets else set()


def board_as_json(board: Board, place: str) -> dict[str, Any]:
    """Return the board as plain values."""
    return {"over": place, "versions": board.common, "models": [line_as_json(line) for line in board.lines]}


def line_as_json(line: Line) -> dict[str, Any]:
    """Return a line as plain values; what is undefined is null, with its reason."""
    made = line.evaluation
    return {
        "evaluation": made.name,
        "model": made.model_name,
        "state": line.progress.state,
        "samples": line.samples,
        "passed": line.passed,
        "unjudged": line.progress.unjudged,
        "limit": line.limit,
        "n": made.samples_asked,
        "temperature": made.temperature,
        "top_p": made.top_p,
        "max_tokens": made.max_tokens,
        "pass_at": {str(k): mean_as_json(value) for k, value in line.figures},
    }


def mean_as_json(value: Mean) -> dict[str, Any]:
    """Return a mean with denominator and interval."""
    interval = None if value.low is None or value.high is None else [value.low, value.high]
    return {
        "value": value.value,
        "examples": value.n,
        "of": value.total,
        "interval": interval,
        "reason": value.reason,
    }


def board_as_csv(board: Board) -> Iterator[bytes]:
    """Yield the board as CSV, a model a line."""
    head = ["evaluation", "model", "state", "samples", "passed", "unjudged", "limit"]
    head += ["n", "temperature", "top_p", "max_tokens"]
    for k in board.ks:
        head += [f"pass@{k}", f"pass@{k}_low", f"pass@{k}_high", f"pass@{k}_examples", f"pass@{k}_of"]
    yield csv_line(head).encode()
    for line in board.lines:
        plain = line_as_json(line)
        cells = [plain[name] for name in head[:11]]
        for _, value in line.figures:
            cells += [value.value, value.low, value.high, value.n, value.total]
        yield csv_line("" if cell is None else cell for cell in cells).encode()


def board_as_bytes(board: Board, place: str) -> bytes:
    """Return the board as JSON text."""
    return json.dumps(board_as_json(board, place), indent=1, ensure_ascii=False).encode()


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


def _share(row: GridRow) -> float:
    samples = sum(each.samples for each in row.counts)
    return sum(each.passed for each in row.counts) / samples if samples else 0.0
