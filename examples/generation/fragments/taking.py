"""FRAGMENTS: what was found becomes rows of a run, with what was left out and why; the same source twice adds nothing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Any

from django.db import transaction
from django.db.models import Max

from examples.generation.fragments.base import Candidate, LeftOut, Origin, SourceFile
from examples.generation.fragments.screening import Wanted, screen, touched
from examples.generation.plain import needs_of_examples
from examples.generation.slicing import slice_function
from examples.models import Fragment, GenerationRun, audit

BATCH = 50
Row = tuple[str, str, str]


@dataclass
class Taken:
    """What was taken: how many fragments wait now, how many were left out by reason, how many were there before."""

    waiting: int = 0
    left_out: Counter[str] = field(default_factory=Counter)
    known: int = 0


def take_fragments(
    run: GenerationRun, files: Iterable[SourceFile | LeftOut], wanted: Wanted, *, by: Any = None
) -> Taken:
    """Screen the files' functions and add each to the run, waiting or left out, a batch at a time."""
    taken = Taken()
    known = set(run.fragments.values_list("path", "function", "origin"))
    number = run.fragments.aggregate(last=Max("number"))["last"] or 0
    found = cut_down(screen(files, wanted, _shapes(run)))
    rows = (row for row in map(_row, found) if _is_new(row, known, taken))
    while batch := list(islice(rows, BATCH)):
        for row in batch:
            number += 1
            row.run, row.number = run, number
        with transaction.atomic():
            Fragment.objects.bulk_create(batch)
        taken.waiting += sum(row.state == Fragment.State.WAITING for row in batch)
        taken.left_out.update(row.reason_code for row in batch if row.state == Fragment.State.LEFT_OUT)
    audit(
        by, "fragments taken", f"generation:{run.name}", waiting=taken.waiting, left_out=dict(taken.left_out)
    )
    return taken


def _shapes(run: GenerationRun) -> dict[str, str]:
    """Return the structures that the run has, with where each was found."""
    rows = run.fragments.exclude(structure_hash="").values_list("structure_hash", "path", "function")
    return {shape: f"{path}, {function}" for shape, path, function in rows}


def _is_new(row: Fragment, known: set[Row], taken: Taken) -> bool:
    key = (row.path, row.function, row.origin)
    if key in known:
        taken.known += 1
        return False
    known.add(key)
    return True


def _row(found: Candidate | LeftOut) -> Fragment:
    if isinstance(found, LeftOut):
        return Fragment(
            path=found.path[:500],
            function=found.name[:300],
            origin=(found.key or "")[:300],
            state=Fragment.State.LEFT_OUT,
            reason_code=found.reason.value,
            reason=found.sentence,
        )
    origin = found.file.origin
    return Fragment(
        source=found.file.text,
        path=found.file.path[:500],
        function=found.name,
        repository=origin.repository[:300],
        licence=origin.licence[:100],
        origin=_told(origin)[:300],
        structure_hash=found.structure,
        touches=touched(found),
    )


def cut_down(found: Iterable[Candidate | LeftOut]) -> Iterator[Candidate | LeftOut]:
    """Yield what was found, a candidate of a package with a file that holds only what the function needs.

    Of a file of 5,000 lines nobody could see what was changed, and no model could take it. What was published as one
    function, or pasted, stays as it is.
    """
    for each in found:
        yield each if isinstance(each, LeftOut) or not each.file.module else _cut(each)


def _cut(candidate: Candidate) -> Candidate:
    file = candidate.file
    also = needs_of_examples(file.text, candidate.name, file.module.partition(".")[0])
    made = slice_function(file.text, candidate.name, module=file.module, siblings=file.siblings, also=also)
    return replace(candidate, file=replace(file, text=made.source))


def _told(origin: Origin) -> str:
    """Return where exactly a file is from: its address, its commit, or the file that it came in."""
    facts = origin.facts
    return str(facts.get("url") or facts.get("commit") or facts.get("file") or "")
