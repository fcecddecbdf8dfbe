"""RELEASE: hand out the files of a frozen release as streams: single files, their sums, and all of them as one tar."""

from __future__ import annotations

import tarfile
from collections.abc import Iterator
from typing import Any

from django.db.models import QuerySet

from examples.models import Release, ReleaseFile, ReleaseItem, Split
from examples.releasing.documents import SUMS

BATCH = 200


def file_chunks(file: ReleaseFile) -> Iterator[bytes]:
    """Yield the bytes of a file; those of a split's file in batches of lines."""
    if file.split_id is None:
        yield file.content.encode()
        return
    yield from line_chunks(ReleaseItem.objects.filter(split_id=file.split_id))


def split_chunks(split: Split) -> Iterator[bytes]:
    """Yield the bytes of a split's file."""
    return line_chunks(split.items.all())


def line_chunks(items: QuerySet[ReleaseItem]) -> Iterator[bytes]:
    """Yield the lines of the items by position, in batches that start where the last one ended."""
    last = -1
    rows = items.order_by("position").values_list("position", "line")
    while batch := list(rows.filter(position__gt=last)[:BATCH]):
        yield "".join(f"{line}\n" for _, line in batch).encode()
        last = batch[-1][0]


def sums(files: QuerySet[ReleaseFile]) -> str:
    """Return the text of SHA256SUMS over the given files: who may not see a file gets no line of it."""
    rows = files.order_by("name").values_list("sha256", "name")
    return "".join(f"{sha256}  {name}\n" for sha256, name in rows)


def tar_chunks(release: Release, files: QuerySet[ReleaseFile]) -> Iterator[bytes]:
    """Yield a tar of the files and their sums, the same bytes each time."""
    folder = f"{release.name}-{release.number}"
    text = sums(files).encode()
    yield _header(release, f"{folder}/{SUMS}", len(text)) + text + _padding(len(text))
    for file in files.order_by("name"):
        yield _header(release, f"{folder}/{file.name}", file.size_bytes)
        yield from file_chunks(file)
        yield _padding(file.size_bytes)
    yield bytes(2 * tarfile.BLOCKSIZE)


def _header(release: Release, name: str, size: int) -> bytes:
    info = tarfile.TarInfo(name)
    info.size = size
    info.mode = 0o644
    info.mtime = int(release.frozen_at.timestamp()) if release.frozen_at else 0
    return info.tobuf(tarfile.PAX_FORMAT)


def _padding(size: int) -> bytes:
    return bytes(-size % tarfile.BLOCKSIZE)


def newest(name: str, user: Any) -> Release | None:
    """Return the newest frozen release of a name that the user sees, None where there is none."""
    return Release.objects.visible_to(user).frozen().filter(name=name).order_by("-frozen_at").first()
