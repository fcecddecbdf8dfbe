"""RELEASE: what a release changes against the one published before it under the same name."""

from __future__ import annotations

from dataclasses import dataclass

from examples.models import Release
from examples.releasing.numbering import parse_number


@dataclass(frozen=True, slots=True)
class Changes:
    """How many examples came, went, have another version, or are the same."""

    since: Release
    added: int
    new_version: int
    dropped: int
    same: int


def previous_of(release: Release) -> Release | None:
    """Return the frozen release with the next lower number, None for the first."""
    number = parse_number(release.number)
    frozen = Release.objects.frozen().filter(name=release.name).exclude(pk=release.pk)
    lower = [each for each in frozen if parse_number(each.number) < number]
    return max(lower, key=lambda each: parse_number(each.number), default=None)


def changes_of(release: Release) -> Changes | None:
    """Return what the release changes, None for the first of its name."""
    previous = previous_of(release)
    if previous is None:
        return None
    before, now = _versions(previous), _versions(release)
    both = before.keys() & now.keys()
    same = sum(before[example] == now[example] for example in both)
    return Changes(
        previous, len(now.keys() - before.keys()), len(both) - same, len(before.keys() - now.keys()), same
    )


def _versions(release: Release) -> dict[int, frozenset[int]]:
    """Return the versions of each example in the release."""
    found: dict[int, set[int]] = {}
    for example, version in release.items.values_list("version__example_id", "version_id").order_by():
        found.setdefault(example, set()).add(version)
    return {example: frozenset(versions) for example, versions in found.items()}
