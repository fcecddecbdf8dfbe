"""STUDY: how many attempts a wanted interval needs, before the study starts; pure."""

from math import ceil, sqrt

from scipy.stats import norm

from annotation.study.intervals import CONFIDENCE

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


def design_effect(per_annotator: float, icc: float) -> float:
    """Return 1 + (m - 1) * ICC (Kish 1965): by what the variance grows where each annotator makes m attempts.

    ICC is the correlation of two attempts of one annotator. Raises ValueError for m < 1 or an ICC outside [0,
    1].
    """
    if per_annotator < 1 or not 0 <= icc <= 1:
        raise ValueError(f"No design effect for {per_annotator} attempts per annotator and an ICC of {icc}.")
    return 1 + (per_annotator - 1) * icc


def clustered_attempts_for(share: float, half_width: float, *, per_annotator: float, icc: float) -> int:
    """Return the attempts needed when annotators make several each: ``attempts_for`` x design effect."""
    return ceil(attempts_for(share, half_width) * design_effect(per_annotator, icc))
