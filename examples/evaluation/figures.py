"""EVALUATE: what an evaluation's tallies say: pass@k, also by group, shares of outcomes, runs against right; pure."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

from examples.evaluation.pass_at_k import Mean, difference, mean, mean_pass_at_k
from examples.evaluation.rows import Tally

# The k of CodeBenchGen, and the one of Codex where there are as many samples.
USUAL, LARGE = (1, 2, 5, 10), 100
REFERENCE_BANDS = (5, 10, 20, 40)
CONTEXT_BANDS = (10, 30, 60, 120)
NO_LIBRARY = "none"


class PassAtK(NamedTuple):
    """pass@k over examples."""

    k: int
    mean: Mean


@dataclass(frozen=True, slots=True)
class Share:
    """How many of the judged samples came to an outcome."""

    outcome: str
    count: int
    share: float


class Group(NamedTuple):
    """The examples that have something in common, and pass@k over them."""

    name: str
    figures: tuple[PassAtK, ...]


@dataclass(frozen=True, slots=True)
class Gap:
    """The share of an example's samples that run, that are right, and the difference, as means over examples.

    A sample runs when it comes to an assertion that decides: one that fails there runs and is wrong.
    """

    runs: Mean
    right: Mean
    gap: Mean


def usual_ks(tallies: Iterable[Tally]) -> tuple[int, ...]:
    """Return the k that are shown: the usual ones, and 100 where an example has as many samples."""
    most = max((each.n for each in tallies), default=0)
    return (*USUAL, LARGE) if most >= LARGE else USUAL


def pass_at_ks(tallies: Sequence[Tally], ks: Iterable[int]) -> tuple[PassAtK, ...]:
    """Return pass@k for each k."""
    return tuple(PassAtK(k, mean_pass_at_k([each.count for each in tallies], k)) for k in ks)


def outcome_shares(tallies: Iterable[Tally]) -> list[Share]:
    """Return the judged samples by outcome, the most frequent first."""
    counted = Counter[str]()
    for each in tallies:
        counted.update(each.outcomes)
    total = counted.total()
    return [Share(outcome, count, count / total) for outcome, count in counted.most_common()]


def gap(tallies: Sequence[Tally]) -> Gap:
    """Return how much more often samples run than they are right."""
    judged = [each for each in tallies if each.n]
    total = len(tallies)
    runs = [each.ran / each.n for each in judged]
    right = [each.passed / each.n for each in judged]
    return Gap(
        mean(runs, total=total),
        mean(right, total=total),
        difference(list(zip(runs, right, strict=True)), total=total),
    )


def by_library(tallies: Sequence[Tally], ks: Sequence[int]) -> list[Group]:
    """Return pass@k by imported module; an example is in the group of each that it imports."""
    return grouped(tallies, ks, lambda each: each.facts.libraries or (NO_LIBRARY,))


def by_length(tallies: Sequence[Tally], ks: Sequence[int]) -> list[Group]:
    """Return pass@k by the length of the reference, in lines that are not blank."""
    return _in_bands(tallies, ks, REFERENCE_BANDS, lambda each: each.facts.reference_lines)


def by_context(tallies: Sequence[Tally], ks: Sequence[int]) -> list[Group]:
    """Return pass@k by the length of the context, in lines that are not blank."""
    return _in_bands(tallies, ks, CONTEXT_BANDS, lambda each: each.facts.context_lines)


def grouped(
    tallies: Sequence[Tally], ks: Sequence[int], names: Callable[[Tally], Iterable[str]]
) -> list[Group]:
    """Return pass@k of each group of examples, the largest first; `names` says to which an example belongs."""
    groups = defaultdict[str, list[Tally]](list)
    for each in tallies:
        for name in names(each):
            groups[name].append(each)
    ordered = sorted(groups.items(), key=lambda pair: (-len(pair[1]), pair[0]))
    return [Group(name, pass_at_ks(members, ks)) for name, members in ordered]


def _in_bands(
    tallies: Sequence[Tally], ks: Sequence[int], bounds: Sequence[int], measure: Callable[[Tally], int]
) -> list[Group]:
    """Return pass@k by bands of a measure: up to the first bound, up to the next, and above the last."""
    names = [f"up to {bounds[0]}"]
    names += [f"{low + 1} to {high}" for low, high in pairwise(bounds)]
    names.append(f"above {bounds[-1]}")

    def band(each: Tally) -> tuple[str]:
        return (names[sum(measure(each) > bound for bound in bounds)],)

    found = {group.name: group for group in grouped(tallies, ks, band)}
    return [found[name] for name in names if name in found]
