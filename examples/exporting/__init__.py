"""EXPORT: one module per format, streamed in batches; `FORMATS` names them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

from django.db.models import QuerySet

from examples.exporting import benchwright, humaneval
from examples.models import Example, Version

BATCH = 100


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

    Each batch starts behind the last one, so memory stays flat and no cursor stays open. Raises KeyError for a format
    there is none of.
    """
    line = FORMATS[style].line
    kept = versions.exclude(example__status=Example.Status.RETIRED)
    return _batches(kept.select_related("example__dataset", "environment").order_by("pk"), line)


def _batches(versions: QuerySet[Version], line: Callable[[Version], str]) -> Iterator[bytes]:
    last = 0
    while batch := list(versions.filter(pk__gt=last)[:BATCH]):
        yield "".join(map(line, batch)).encode()
        last = batch[-1].pk
