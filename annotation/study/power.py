"""STUDY: how many attempts a wanted interval needs, before the study starts; pure."""

from collections.abc import Iterable
from math import ceil, sqrt

from scipy.stats import norm, t

from annotation.study.intervals import CONFIDENCE, Estimate

LARGEST_STUDY = 10**9


def wilson_half_width(share: float, attempts: int) -> float:
    """Return half the width of Wilson's 95 % interval at an expected share.

    z * sqrt(p * (1 - p) / n + z^2 / (4 * n^2)) / (1 + z^2 / n), with z the 97.5 % point of the normal law.
    Raises ValueError for a share outside [0, 1] or fewer than one attempt.
    """
    if not 0 <= share <= 1 or attempts < 1:
        raise ValueError(f"No interval for a share of {share} over {attempts} attempts.")
    z = float(norm.ppf((1 + CONFIDENCE) / 2))
    return z * sqrt(share * (1 - share) / attempts + z**2 / (4 * attempts**2)) / (1 + z**2 / attempts)


def attempts_for(share: float, half_width: float) -> int:
    """Return the fewest independent attempts whose half-width is at most the wanted one.

    Raises ValueError for a half-width that is not positive. The half-width falls with n, so bisection finds
    it.
    """
    if half_width <= 0:
        raise ValueError(f"A half-width of {half_width} cannot be reached.")
    low, high = 1, LARGEST_STUDY
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if wilson_half_width(share, middle) <= half_width else (middle + 1, high)
    return low


def design_effect(
    per_annotator: float, icc: float, *, per_version: float = 1, icc_versions: float = 0
) -> float:
    """Return by what the variance of a share grows where attempts are alike: 1 + (m - 1) * ICC + (k - 1) * ICC_versions.

    With one ICC this is Kish's (1965). Two attempts of one annotator are correlated by ``icc``, two on one version by
    ``icc_versions``, others not: then the variance of the mean of n attempts, m by each annotator and k on each version,
    is exactly so much larger than that of n independent ones. Raises ValueError for m or k < 1, or an ICC outside [0, 1].
    """
    if per_annotator < 1 or per_version < 1 or not 0 <= icc <= 1 or not 0 <= icc_versions <= 1:
        raise ValueError(
            f"No design effect for {per_annotator} attempts per annotator, {per_version} per version, and ICCs of {icc} and "
            f"{icc_versions}."
        )
    return 1 + (per_annotator - 1) * icc + (per_version - 1) * icc_versions


def clustered_attempts_for(
    share: float,
    half_width: float,
    *,
    per_annotator: float,
    icc: float,
    per_version: float = 1,
    icc_versions: float = 0,
) -> int:
    """Return the attempts needed when annotators make several each: ``attempts_for`` x design effect."""
    effect = design_effect(per_annotator, icc, per_version=per_version, icc_versions=icc_versions)
    return ceil(attempts_for(share, half_width) * effect)


def clustered_half_width(
    share: float, *, versions: int, per_version: int, annotators: int, icc: float, icc_versions: float = 0
) -> float | None:
    """Return half the width of the interval over annotators that a plan gives, at most 1.

    t(0.975; A - 1) * sqrt(p * (1 - p) * design effect / n), as the results compute it, with n = versions x k attempts
    spread evenly over A annotators. A person meets a version once, so no more than A attempts are made on one; who
    makes none does not count. None for one annotator.
    """
    if annotators < 2:
        return None
    made = min(per_version, annotators)
    attempts = versions * made
    annotators = min(annotators, attempts)
    effect = design_effect(attempts / annotators, icc, per_version=made, icc_versions=icc_versions)
    reach = float(t.ppf((1 + CONFIDENCE) / 2, annotators - 1))
    return min(reach * sqrt(share * (1 - share) * effect / attempts), 1.0)


def icc_of(outcomes: Iterable[tuple[int | str, bool]]) -> Estimate:
    """Return how alike two attempts of one annotator (or on one version) are, from (who, success) pairs.

    The analysis-of-variance estimator for unequal groups (Donner 1986, Int. Stat. Rev. 54, 67-82, eq. 2.2), cut at 0 and
    1. Undefined for fewer than two groups, where no group has two attempts, and where all attempts ended alike.
    """
    groups: dict[int | str, list[bool]] = {}
    for who, success in outcomes:
        groups.setdefault(who, []).append(success)
    number, total = len(groups), sum(map(len, groups.values()))
    if number < 2 or total == number:
        return Estimate(None, total, "needs two or more, one of them with two attempts")
    mean = sum(map(sum, groups.values())) / total
    if mean in (0, 1):
        return Estimate(None, total, "all attempts ended alike")
    between = sum(len(each) * (sum(each) / len(each) - mean) ** 2 for each in groups.values()) / (number - 1)
    within = sum(sum(each) * (1 - sum(each) / len(each)) for each in groups.values()) / (
        total - number
    )  # y * (n - y) / n: the squares about the group's own mean
    size = (total - sum(len(each) ** 2 for each in groups.values()) / total) / (number - 1)
    if between + (size - 1) * within == 0:
        return Estimate(None, total, "there is no variance to use")
    return Estimate(min(max((between - within) / (between + (size - 1) * within), 0.0), 1.0), total)
