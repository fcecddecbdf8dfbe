"""STUDY: people and models on the same versions: paired differences, never one number of both; pure.

A person who submits again has seen the last outcome, so "within m submissions" is no pass@k and stands beside it. What is
paired is the version: a model's share of passing samples with the share of people who solved it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from annotation.study.intervals import Rate, clustered_rate
from annotation.study.rows import AttemptRow, leave_out_unfinished
from examples.evaluation.pass_at_k import Count, Mean, difference, mean_pass_at_k


@dataclass(frozen=True, slots=True)
class People:
    """Solved at the first submission, and within 2 to m of them, over the versions that are compared.

    versions   how many of them have an attempt that counts
    left_out   attempts that do not count, by reason
    """

    at_first: Rate
    within: tuple[tuple[int, Rate], ...]
    versions: int
    left_out: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Beside:
    """A model on the versions that people attempted: its pass@k there, and first submissions less pass@1, paired."""

    figures: tuple[tuple[int, Mean], ...]
    people_less_model: Mean


def people_on(rows: Iterable[AttemptRow], versions: set[int], *, submissions: int) -> People:
    """Return what people did on these versions, exclusions and unfinished attempts left out as in every figure."""
    counted = leave_out_unfinished(row for row in rows if row.version_id in versions)
    return People(
        at_first=clustered_rate((row.annotator, _within(row, 1)) for row in counted.rows),
        within=tuple(
            (number, clustered_rate((row.annotator, _within(row, number)) for row in counted.rows))
            for number in range(2, submissions + 1)
        ),
        versions=len({row.version_id for row in counted.rows}),
        left_out=counted.exclusions,
    )


def beside(rows: Iterable[AttemptRow], counts: Mapping[int, Count], ks: Sequence[int]) -> Beside:
    """Return a model's figures over the versions with an attempt that counts, by its counts of samples by version.

    The difference is over those of them for which the model has a judged sample.
    """
    counted = leave_out_unfinished(row for row in rows if row.version_id in counts)
    tries = defaultdict[int, list[bool]](list)
    for row in counted.rows:
        tries[row.version_id].append(_within(row, 1))
    shared = {version: counts[version] for version in tries}
    pairs = [
        (sum(tries[version]) / len(tries[version]), count.passed / count.samples)
        for version, count in shared.items()
        if count.samples
    ]
    return Beside(
        figures=tuple((k, mean_pass_at_k(shared.values(), k)) for k in ks),
        people_less_model=difference(pairs, total=len(shared)),
    )


def majority_level(rows: Iterable[AttemptRow], levels: Sequence[str]) -> dict[int, str]:
    """Return for each version with ratings the level that most people gave it, the harder one where two are level."""
    places = {level: at for at, level in enumerate(levels)}
    given = defaultdict[int, list[int]](list)
    for row in leave_out_unfinished(rows).rows:
        if row.difficulty in places:
            given[row.version_id].append(places[row.difficulty])
    return {
        version: levels[max(set(all_), key=lambda at: (all_.count(at), at))]
        for version, all_ in given.items()
    }


def _within(row: AttemptRow, number: int) -> bool:
    return row.solved_at_submission is not None and row.solved_at_submission <= number
