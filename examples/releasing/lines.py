"""RELEASE: the frozen text of a version: sorted keys, UTF-8, one line, the canary in it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from django.db.models import QuerySet

from examples.exporting.benchwright import dump, record_of
from examples.models import Release, ReleaseItem, Version

BATCH = 100


def identity(version: Version) -> str:
    """Return the name of a version in a release, such as EX-0417@2."""
    return f"{version.example.label}@{version.number}"


def release_record(item: ReleaseItem, release: Release) -> dict[str, Any]:
    """Return what a line says: the version's record, where it stands, and the image it was checked in."""
    version = item.version
    environment = version.environment
    return {
        **record_of(version),
        "id": identity(version),
        "version": version.number,
        "dataset": version.example.dataset.name,
        "release": str(release),
        "split": item.split.name,
        "canary": release.canary,
        "cpu_limit_seconds": version.cpu_limit_seconds,
        "image": environment.image_digest,
        "packages": environment.packages,
    }


def release_line(item: ReleaseItem, release: Release) -> str:
    """Return the item's line, without its line break."""
    return dump(release_record(item, release))


def items_in_order(items: QuerySet[ReleaseItem]) -> Iterator[list[ReleaseItem]]:
    """Yield the items in batches by position, from where the last batch ended: flat memory, no long cursor."""
    last = -1
    while batch := list(items.filter(position__gt=last).order_by("position")[:BATCH]):
        yield batch
        last = batch[-1].position
