"""RELEASE: which version goes into which split: seeded, whole repositories, close to the shares; pure."""

from __future__ import annotations

import hashlib
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

ROUNDING = 1e-6


class SharesRefused(ValueError):
    """The shares are no division of a whole; the message says so."""


@dataclass(frozen=True, slots=True)
class Placeable:
    """A version to be placed; those of one repository stay together, and those of one example where it has none."""

    version_id: int
    example_id: int
    repository: str

    @property
    def group(self) -> str:
        """The name of what must not be torn apart; names of repositories do not tell case apart."""
        repository = self.repository.strip().strip("/").casefold()
        return f"repository {repository}" if repository else f"example {self.example_id}"


def assign_splits(
    items: Sequence[Placeable],
    *,
    shares: Mapping[str, float],
    seed: int,
    placed: Mapping[str, str] | None = None,
) -> dict[int, str]:
    """Return the split of each version id.

    Groups go, largest first and equals in an order drawn by the seed, each to the split that lacks most; so no split
    exceeds its share by more than the largest group. `placed` keeps groups where an earlier release put them, else an
    example trained on yesterday would be tested on today. The same input gives the same answer on every machine.
    Raises SharesRefused when the shares are negative or do not add up to 1.
    """
    if any(share < 0 for share in shares.values()) or abs(sum(shares.values()) - 1) > ROUNDING:
        raise SharesRefused(
            f"The shares add up to {sum(shares.values()):g}; they must add up to 1, none negative."
        )
    kept = {group: split for group, split in (placed or {}).items() if split in shares}
    groups = _grouped(items)
    lacking = {split: share * len(items) for split, share in shares.items()}
    chosen: dict[str, str] = {}
    for group in sorted(groups, key=lambda name: (name not in kept, -len(groups[name]), _drawn(seed, name))):
        split = kept.get(group) or max(lacking, key=lambda name: lacking[name])
        chosen[group] = split
        lacking[split] -= len(groups[group])
    return {item.version_id: chosen[item.group] for item in items}


def group_counts(items: Iterable[tuple[str, Placeable]]) -> dict[str, int]:
    """Return how many groups (repositories, or examples without one) each split holds."""
    return dict(Counter(split for split, _ in {(split, item.group) for split, item in items}))


def _grouped(items: Sequence[Placeable]) -> dict[str, list[Placeable]]:
    groups: dict[str, list[Placeable]] = defaultdict(list)
    for item in items:
        groups[item.group].append(item)
    return groups


def _drawn(seed: int, group: str) -> str:
    """Return a number drawn for the group: a hash, which unlike `random` is the same in every version of Python."""
    return hashlib.sha256(f"{seed}\n{group}".encode()).hexdigest()
