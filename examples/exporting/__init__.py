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


def export(examples: QuerySet[Example], style: str) -> Iterator[bytes]:
    """Yield the current versions of the examples in a format, a batch at a time; retired examples are left out.

    Memory stays flat and no cursor stays open. Raises KeyError for a format there is none of.
    """
    line = FORMATS[style].line
    return _batches(examples.exclude(status=Example.Status.RETIRED), line)


def _batches(examples: QuerySet[Example], line: Callable[[Version], str]) -> Iterator[bytes]:
    whole = Version.objects.select_related("example__dataset", "environment").order_by("example_id")
    for ids in _current(examples):
        for at in range(0, len(ids), BATCH):
            yield "".join(map(line, whole.filter(pk__in=ids[at : at + BATCH]))).encode()


def _current(examples: QuerySet[Example]) -> Iterator[list[int]]:
    """Yield the ids of the current versions in blocks, by example: that order an index already has."""
    last = 0
    rows = examples.filter(current__isnull=False).order_by("pk").values_list("pk", "current_id")
    while block := list(rows.filter(pk__gt=last)[:BLOCK]):
        yield [version for _, version in block if version is not None]
        last = block[-1][0]
