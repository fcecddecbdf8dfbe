"""STUDY: a seeded, stratified sample, in proportion to its strata; pure."""

from collections.abc import Mapping, Sequence
from fractions import Fraction
from hashlib import sha256

Stratum = tuple[str, ...]  # its value of each thing stratified by


def allocate(sizes: Mapping[Stratum, int], size: int, *, seed: int) -> dict[Stratum, int]:
    """Return how many to draw of each stratum: its share of the size, by largest remainder (Hamilton).

    Every stratum gets its share rounded down or up, so that none gets more than it holds. Equal remainders are put in
    an order by the seed and the stratum's name. Raises ValueError for a size below 1 or above what is there.
    """
    total = sum(sizes.values())
    if not 1 <= size <= total:
        raise ValueError(f"{size} cannot be drawn of {total}.")
    shares = {stratum: Fraction(held * size, total) for stratum, held in sizes.items()}
    drawn = {stratum: int(share) for stratum, share in shares.items()}
    by_remainder = sorted(
        sizes, key=lambda each: (drawn[each] - shares[each], _draw(seed, "remainder", each))
    )
    for stratum in by_remainder[: size - sum(drawn.values())]:
        drawn[stratum] += 1
    return drawn


def stratified(strata: Mapping[Stratum, Sequence[int]], size: int, *, seed: int) -> dict[Stratum, list[int]]:
    """Return the ids drawn of each stratum, ascending. The same seed gives the same sample, in whatever order they come.

    Within a stratum every set of the drawn size is equally likely over seeds. Raises ValueError as `allocate` does, and
    for an id in two strata.
    """
    every = [one for ids in strata.values() for one in ids]
    if len(set(every)) < len(every):
        raise ValueError("An id is in two strata, or twice in one.")
    counts = allocate({stratum: len(ids) for stratum, ids in strata.items()}, size, seed=seed)
    return {
        stratum: sorted(sorted(ids, key=lambda one: _draw(seed, "sample", one))[: counts[stratum]])
        for stratum, ids in strata.items()
    }


def _draw(seed: int, *what: object) -> bytes:
    """Return bytes as good as random, the same for the same arguments on every machine."""
    return sha256(f"{seed}:{what}".encode()).digest()
