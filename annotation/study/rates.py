"""STUDY: solve rates and difficulty, each with denominator, exclusions and both intervals; pure."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from annotation.study.intervals import Rate, clustered_rate, plain_rate
from annotation.study.rows import AttemptRow, Counted, leave_out_unfinished

HEADLINE_LEVEL = "requires effort"
VERSIONS_NOT_CLUSTERED = "counts versions, each of which several annotators share"
NO_DIFFICULTY = "no difficulty given"


@dataclass(frozen=True, slots=True)
class Figure:
    """A rate that can stand alone: what is counted, out of what, and what was left out by reason."""

    name: str
    rate: Rate
    denominator: str
    exclusions: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class StudyRates:
    """The rates of a study. ``within`` has a figure for each of 2 to m submissions; empty where m is 1."""

    solved: Figure
    solved_at_first: Figure
    within: tuple[Figure, ...]
    versions_by_one: Figure
    versions_by_majority: Figure
    difficulty: tuple[Figure, ...]


def study_rates(rows: Iterable[AttemptRow], *, submissions: int, levels: Sequence[str]) -> StudyRates:
    """Return every rate of a study that allows m = ``submissions`` and rates difficulty by ``levels``.

    Later submissions of a person are no independent draws, so this is "within m submissions" and never
    pass@k.
    """
    counted = leave_out_unfinished(rows)
    return StudyRates(
        solved=_of_attempts("attempts solved", counted, lambda row: row.solved),
        solved_at_first=_of_attempts("solved at first submission", counted, _solved_within(1)),
        within=tuple(
            _of_attempts(f"solved within {number} submissions", counted, _solved_within(number))
            for number in range(2, submissions + 1)
        ),
        versions_by_one=_of_versions(
            "versions solved by at least one", counted, lambda solved, _: solved >= 1
        ),
        versions_by_majority=_of_versions(
            "versions solved by a majority", counted, lambda solved, closed: 2 * solved > closed
        ),
        difficulty=difficulty_rates(counted, levels=levels),
    )


def difficulty_rates(counted: Counted, *, levels: Sequence[str]) -> tuple[Figure, ...]:
    """Return the share of each level among closed attempts rated by one, whatever their outcome.

    "requires effort", the wording published by CodeBenchGen (arXiv 2404.00566), comes first where the scale
    has it, then the scale in its own order. A rating outside the scale raises ValueError: the scale is frozen
    with the protocol.
    """
    rated = [row for row in counted.rows if row.difficulty is not None]
    if foreign := {row.difficulty for row in rated} - set(levels):
        raise ValueError(f"Rated by levels that are not on the scale: {sorted(map(str, foreign))}.")
    missing = {NO_DIFFICULTY: len(counted.rows) - len(rated)} if len(rated) < len(counted.rows) else {}
    rest = Counted(tuple(rated), dict(sorted({**counted.exclusions, **missing}.items())))
    ordered = sorted(levels, key=lambda level: level != HEADLINE_LEVEL)
    return tuple(
        _of_attempts(level, rest, _rated(level), "closed attempts with a rating") for level in ordered
    )


def solves_by_version(rows: Iterable[AttemptRow]) -> dict[int, tuple[int, int]]:
    """Return (solved, closed) of each version that has at least one of the given rows."""
    pairs: dict[int, list[bool]] = defaultdict(list)
    for row in rows:
        pairs[row.version_id].append(row.solved)
    return {version: (sum(solved), len(solved)) for version, solved in pairs.items()}


def _solved_within(number: int) -> Callable[[AttemptRow], bool]:
    return lambda row: row.solved_at_submission is not None and row.solved_at_submission <= number


def _rated(level: str) -> Callable[[AttemptRow], bool]:
    return lambda row: row.difficulty == level


def _of_attempts(
    name: str,
    counted: Counted,
    succeeded: Callable[[AttemptRow], bool],
    denominator: str = "closed attempts",
) -> Figure:
    rate = clustered_rate((row.annotator, succeeded(row)) for row in counted.rows)
    return Figure(name, rate, denominator, counted.exclusions)


def _of_versions(name: str, counted: Counted, succeeded: Callable[[int, int], bool]) -> Figure:
    versions = solves_by_version(counted.rows).values()
    count = sum(succeeded(solved, closed) for solved, closed in versions)
    rate = plain_rate(count, len(versions), reason=VERSIONS_NOT_CLUSTERED)
    return Figure(name, rate, "versions with at least one closed attempt", counted.exclusions)
