"""STUDY: how far annotators agree about one version: per cent, Krippendorff's alpha, Gwet's AC1; pure.

Ratings come as one list of labels per version; ``levels`` is the whole scale in its order, also levels nobody
chose. Alpha is low where nearly all give the same label though they agree, AC1 is not; per cent agreement
knows no chance. So the three stand together, each with its n, and what is undefined says so.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations, permutations

from annotation.study.intervals import Estimate, Interval, wilson_interval
from annotation.study.rows import AttemptRow, leave_out_unfinished

NONE_RATED_TWICE = "no version was rated twice"
Ratings = Sequence[Sequence[str]]


@dataclass(frozen=True, slots=True)
class PairAgreement:
    """``agreeing`` of ``pairs`` of ratings within a version, over ``versions`` rated at least twice.

    ``wilson`` holds where each version has exactly one pair; pairs that share a rating are not independent,
    so with three or more ratings of a version it is None.
    """

    agreeing: int
    pairs: int
    versions: int
    wilson: Interval | None

    @property
    def share(self) -> float | None:
        """Return agreeing / pairs, or None without pairs."""
        return self.agreeing / self.pairs if self.pairs else None


@dataclass(frozen=True, slots=True)
class Agreement:
    """The three measures on one question, over the same ratings."""

    percent: PairAgreement
    alpha_nominal: Estimate
    alpha_ordinal: Estimate
    ac1: Estimate


def difficulty_agreement(rows: Iterable[AttemptRow], *, levels: Sequence[str]) -> Agreement:
    """Return the agreement on difficulty over closed attempts that count and have a rating."""
    ratings: dict[int, list[str]] = defaultdict(list)
    for row in leave_out_unfinished(rows).rows:
        if row.difficulty is not None:
            ratings[row.version_id].append(row.difficulty)
    return agreement(list(ratings.values()), levels=levels)


def agreement(ratings: Ratings, *, levels: Sequence[str]) -> Agreement:
    """Return all measures. Raises ValueError for a label that is not on the scale."""
    if foreign := {label for labels in ratings for label in labels} - set(levels):
        raise ValueError(f"Labels that are not on the scale: {sorted(foreign)}.")
    return Agreement(
        pair_agreement(ratings),
        krippendorff_alpha(ratings, levels=levels, ordinal=False),
        krippendorff_alpha(ratings, levels=levels, ordinal=True),
        gwet_ac1(ratings, levels=levels),
    )


def pair_agreement(ratings: Ratings) -> PairAgreement:
    """Return how many pairs of ratings within a version are equal."""
    rated_twice = _rated_twice(ratings)
    equal = [one == other for labels in rated_twice for one, other in combinations(labels, 2)]
    single = len(equal) == len(rated_twice)
    wilson = wilson_interval(sum(equal), len(equal)) if single else None
    return PairAgreement(sum(equal), len(equal), len(rated_twice), wilson)


def krippendorff_alpha(ratings: Ratings, *, levels: Sequence[str], ordinal: bool) -> Estimate:
    """Return 1 - D_o / D_e (Krippendorff 2011, "Computing Krippendorff's Alpha-Reliability").

    A version with m >= 2 ratings adds 1 / (m - 1) to the coincidence of each ordered pair of its labels. The
    distance of two labels is 0 or 1, or ordinal (sum of n_g from c to k, less (n_c + n_k) / 2) squared, n_g
    how often label g stands in versions rated twice. n is the number of such versions. Undefined without any,
    or where only one label was used.
    """
    rated_twice = _rated_twice(ratings)
    if not rated_twice:
        return Estimate(None, 0, NONE_RATED_TWICE)
    counts = Counter(label for labels in rated_twice for label in labels)
    if len(counts) == 1:
        return Estimate(None, len(rated_twice), "all ratings are the same, so there is nothing to tell apart")
    distance = _ordinal_distance(counts, levels) if ordinal else _nominal_distance
    observed = sum(
        Fraction(1, len(labels) - 1) * distance(one, other)
        for labels in rated_twice
        for one, other in permutations(labels, 2)
    )
    expected = sum(
        counts[one] * counts[other] * distance(one, other) for one, other in permutations(counts, 2)
    )
    return Estimate(float(1 - (counts.total() - 1) * observed / expected), len(rated_twice))


def gwet_ac1(ratings: Ratings, *, levels: Sequence[str]) -> Estimate:
    """Return AC1 = (p_a - p_e) / (1 - p_e) (Gwet 2008, Br. J. Math. Stat. Psychol. 61, 29-48).

    p_e is the sum of pi_q * (1 - pi_q) / (Q - 1) over the Q levels, p_a is the mean share of equal pairs over
    versions rated twice (their number is n), pi_q the mean share of level q over all rated versions.
    Undefined without a version rated twice, or for a scale with fewer than two levels.
    """
    rated_twice = _rated_twice(ratings)
    if not rated_twice:
        return Estimate(None, 0, NONE_RATED_TWICE)
    if len(levels) < 2:
        return Estimate(None, len(rated_twice), "the scale has fewer than two levels")
    equal = sum(_equal_share(labels) for labels in rated_twice) / len(rated_twice)
    rated = [labels for labels in ratings if labels]
    shares = [
        sum(Fraction(labels.count(level), len(labels)) for labels in rated) / len(rated) for level in levels
    ]
    chance = sum(share * (1 - share) for share in shares) / (len(levels) - 1)
    return Estimate(float((equal - chance) / (1 - chance)), len(rated_twice))


def _rated_twice(ratings: Ratings) -> list[Sequence[str]]:
    return [labels for labels in ratings if len(labels) >= 2]


def _equal_share(labels: Sequence[str]) -> Fraction:
    pairs = len(labels) * (len(labels) - 1)
    return Fraction(sum(number * (number - 1) for number in Counter(labels).values()), pairs)


def _nominal_distance(one: str, other: str) -> Fraction:
    return Fraction(one != other)


def _ordinal_distance(counts: Counter[str], levels: Sequence[str]) -> Callable[[str, str], Fraction]:
    def distance(one: str, other: str) -> Fraction:
        low, high = sorted((levels.index(one), levels.index(other)))
        between = sum(counts[level] for level in levels[low : high + 1])
        return (between - Fraction(counts[one] + counts[other], 2)) ** 2

    return distance
