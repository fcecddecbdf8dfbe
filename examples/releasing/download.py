"""RELEASE: hand out the files of a frozen release as streams: single files, their sums, and all of them as one tar."""

from __future__ import annotations

import tarfile
from collections.abc import Iterator

from django.db.models import Max, Min, QuerySet

from examples.models import Release, ReleaseFile, ReleaseItem, Split
from examples.releasing.documents import SUMS

BATCH = 200


def file_chunks(file: ReleaseFile) -> Iterator[bytes]:
    """Yield the bytes of a file; those of a split's file in batches of lines."""
    if file.split is None:
        yield file.content.encode()
    else:
        yield from split_chunks(file.split)


def split_chunks(split: Split) -> Iterator[bytes]:
    """Yield the bytes of a split's file, in batches by position: ranges of an index, so that nothing is sorted."""
    ends = split.items.aggregate(first=Min("position"), last=Max("position"))
    if ends["first"] is None:
        return
    rows = ReleaseItem.objects.filter(release_id=split.release_id, split=split).order_by("position")
    for start in range(ends["first"], ends["last"] + 1, BATCH):
        batch = rows.filter(position__gte=start, position__lt=start + BATCH).values_list("line", flat=True)
        yield "".join(f"{line}\n" for line in batch).encode()


def sums(files: QuerySet[ReleaseFile]) -> str:
    """Return the text of SHA256SUMS over the given files: who may not see a file gets no line of it."""
    rows = files.order_by("name").values_list("sha256", "name")
    return "".join(f"{sha256}  {name}\n" for sha256, name in rows)


def tar_chunks(release: Release, files: QuerySet[ReleaseFile]) -> Iterator[bytes]:
    """Yield a tar of the files and their sums, the same bytes each time."""
    folder = f"{release.name}-{release.number}"
    text = sums(files).encode()
    yield _header(release, f"{folder}/{SUMS}", len(text)) + text + _padding(len(text))
    for file in files.select_related("split").order_by("name"):
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
