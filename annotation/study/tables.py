"""STUDY: the same rows by example and by annotator, always in the same order; pure."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from annotation.study.intervals import Estimate, Rate, plain_rate
from annotation.study.rows import AttemptRow, leave_out_unfinished
from annotation.study.times import Duration, End, geometric_mean

ONE_VERSION = "one version: its attempts are by different annotators"
ONE_ANNOTATOR = "one annotator"


@dataclass(frozen=True, slots=True)
class ExampleLine:
    """One version: closed attempts that count, how they ended, and what was left out by reason.

    ``fastest`` is the shortest active time of a solved attempt in seconds, None where there is none.
    ``difficulty`` has the number of ratings by level, levels in the order of the scale, also those nobody
    chose.
    """

    version_id: int
    example: str
    solved: Rate
    fastest: float | None
    difficulty: Mapping[str, int]
    exclusions: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class AnnotatorLine:
    """One annotator under their pseudonym: closed attempts that count, and time in active seconds."""

    annotator: int
    pseudonym: str
    solved: Rate
    active_seconds: float
    geometric_mean: Estimate
    difficulty: Mapping[str, int]
    exclusions: Mapping[str, int]


def by_example(rows: Iterable[AttemptRow], *, levels: Sequence[str]) -> tuple[ExampleLine, ...]:
    """Return a line for each version with any row, by name of the example, then version."""
    groups: dict[tuple[str, int], list[AttemptRow]] = defaultdict(list)
    for row in rows:
        groups[row.example, row.version_id].append(row)
    return tuple(_example_line(groups[key], levels) for key in sorted(groups))


def by_annotator(rows: Iterable[AttemptRow], *, levels: Sequence[str]) -> tuple[AnnotatorLine, ...]:
    """Return a line for each annotator with any row, by pseudonym."""
    groups: dict[tuple[str, int], list[AttemptRow]] = defaultdict(list)
    for row in rows:
        groups[row.pseudonym, row.annotator].append(row)
    return tuple(_annotator_line(groups[key], levels) for key in sorted(groups))


def _example_line(rows: Sequence[AttemptRow], levels: Sequence[str]) -> ExampleLine:
    counted = leave_out_unfinished(rows)
    times = [row.active_seconds for row in counted.rows if row.solved and row.active_seconds is not None]
    return ExampleLine(
        rows[0].version_id,
        rows[0].example,
        _solved(counted.rows, ONE_VERSION),
        min(times, default=None),
        _ratings(counted.rows, levels),
        counted.exclusions,
    )


def _annotator_line(rows: Sequence[AttemptRow], levels: Sequence[str]) -> AnnotatorLine:
    counted = leave_out_unfinished(rows)
    timed = [(row, row.active_seconds) for row in counted.rows if row.active_seconds is not None]
    return AnnotatorLine(
        rows[0].annotator,
        rows[0].pseudonym,
        _solved(counted.rows, ONE_ANNOTATOR),
        sum(seconds for _, seconds in timed),
        geometric_mean([Duration(seconds, End.SOLVED) for row, seconds in timed if row.solved]),
        _ratings(counted.rows, levels),
        counted.exclusions,
    )


def _solved(rows: Sequence[AttemptRow], reason: str) -> Rate:
    return plain_rate(sum(row.solved for row in rows), len(rows), reason=reason)


def _ratings(rows: Sequence[AttemptRow], levels: Sequence[str]) -> dict[str, int]:
    numbers = Counter(row.difficulty for row in rows)
    return {level: numbers[level] for level in levels}
