"""EXPORT: one module per format, streamed in batches; `FORMATS` names them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

from django.db.models import QuerySet

from examples.exporting import benchwright, humaneval
from examples.models import Example, Version

BATCH, BLOCK = 100, 5000


class Format(NamedTuple):
    """A format: what people call it, and the function that gives a version's line ("" leaves it out)."""

    title: str
    line: Callable[[Version], str]


FORMATS = {
    "benchwright": Format("Benchwright JSONL", benchwright.line),
    "humaneval": Format("HumanEval JSONL", humaneval.line),
}


def export(versions: QuerySet[Version], style: str) -> Iterator[bytes]:
    """Yield the versions in a format, a batch at a time; those of retired examples are left out.

    Memory stays flat and no cursor stays open. Raises KeyError for a format there is none of.
    """
    line = FORMATS[style].line
    return _batches(versions.exclude(example__status=Example.Status.RETIRED), line)


def _batches(versions: QuerySet[Version], line: Callable[[Version], str]) -> Iterator[bytes]:
    whole = Version.objects.select_related("example__dataset", "environment").order_by("pk")
    for ids in _ids(versions):
        for at in range(0, len(ids), BATCH):
            yield "".join(map(line, whole.filter(pk__in=ids[at : at + BATCH]))).encode()


def _ids(versions: QuerySet[Version]) -> Iterator[list[int]]:
    """Yield the ids in blocks: which versions there are is found and sorted once a block, not once a batch."""
    last = 0
    rows = versions.order_by("pk").values_list("pk", flat=True)
    while block := list(rows.filter(pk__gt=last)[:BLOCK]):
        yield block
        last = block[-1]
