"""EVALUATE: pass@k of an example, its mean over examples with an interval, and where it is undefined; pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import fsum, prod, sqrt

from scipy.stats import t

CONFIDENCE = 0.95


def pass_at_k(samples: int, passed: int, k: int) -> float:
    """Return the chance that at least one of k samples passes, drawn without putting back from those at hand.

    1 - C(n-c, k) / C(n, k) with n = `samples` and c = `passed` (Chen et al. 2021, arXiv 2107.03374, eq. 1), as their
    product, which neither overflows nor cancels. Raises ValueError for k > n, where there is no estimate, for k < 1,
    and unless 0 <= c <= n.
    """
    if not 0 <= passed <= samples:
        raise ValueError(f"{passed} of {samples} samples cannot have passed.")
    if not 1 <= k <= samples:
        raise ValueError(f"pass@{k} needs {max(k, 1)} or more samples, here {samples}.")
    failed = samples - passed
    if failed < k:
        return 1.0
    return 1.0 - prod(1.0 - k / drawn for drawn in range(failed + 1, samples + 1))


@dataclass(frozen=True, slots=True)
class Count:
    """How many samples of an example were judged, and how many of them passed."""

    samples: int
    passed: int


@dataclass(frozen=True, slots=True)
class Mean:
    """A mean over `n` examples, with its 95 % interval.

    `n` of `total` examples have a value; the others had too few samples. `value` is None where n is 0. `low` and
    `high` are None where no interval can be had, and `reason` says why.
    """

    value: float | None
    n: int
    total: int
    low: float | None = None
    high: float | None = None
    reason: str = ""

    @property
    def is_whole(self) -> bool:
        """Whether every example has a value."""
        return self.n == self.total > 0


def mean_pass_at_k(counts: Iterable[Count], k: int) -> Mean:
    """Return the mean of pass@k over those examples that have k or more samples."""
    every = list(counts)
    values = [pass_at_k(each.samples, each.passed, k) for each in every if each.samples >= k]
    return mean(values, total=len(every), undefined=f"no example has {k} or more samples")


def mean(values: Sequence[float], *, total: int, undefined: str = "no example has a value") -> Mean:
    """Return the mean of examples' shares with mean -+ t(0.975; n-1) * s / sqrt(n), cut at 0 and 1.

    Examples are the units: samples of one are no independent draws, so they make no interval narrower. Without an
    interval below two examples, and where all have the same value, as there is no variance to use.
    """
    n = len(values)
    if n == 0:
        return Mean(None, 0, total, reason=undefined)
    value = fsum(values) / n
    if n < 2:
        return Mean(value, n, total, reason="needs two or more examples, here 1")
    squares = fsum((each - value) ** 2 for each in values)
    if max(values) == min(values):
        return Mean(
            value, n, total, reason="every example has the same value, so there is no variance to use"
        )
    reach = float(t.ppf((1 + CONFIDENCE) / 2, n - 1)) * sqrt(squares / (n - 1) / n)
    return Mean(value, n, total, max(value - reach, 0.0), min(value + reach, 1.0))


def difference(pairs: Sequence[tuple[float, float]], *, total: int) -> Mean:
    """Return the mean of first less second over the same examples, with the t interval of the differences.

    Paired, since both sides meet the same examples: what makes an example hard takes part in both and cancels.
    The interval is cut at -1 and 1.
    """
    shifted = mean([(1 + first - second) / 2 for first, second in pairs], total=total)
    if shifted.value is None:
        return shifted
    low, high = (None if bound is None else 2 * bound - 1 for bound in (shifted.low, shifted.high))
    return Mean(2 * shifted.value - 1, shifted.n, total, low, high, shifted.reason)
