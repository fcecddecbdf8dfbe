"""EVALUATE: samples from a file come into an evaluation; the same file twice changes nothing."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Sequence
from itertools import islice
from typing import Any, BinaryIO

from django.db import transaction

from examples.evaluation.answers import read
from examples.evaluation.creating import Rules, evaluation_named, existing, versions_over
from examples.evaluation.placing import Incoming, Placed, place
from examples.importing.base import Problem
from examples.models import Dataset, Evaluation, EvaluationItem, ModelSample, Split, Version, audit

# Samples stored in one transaction: few, so that a person who saves meanwhile does not wait for us.
BATCH = 200


def import_file(
    stream: BinaryIO,
    over: Dataset | Split,
    *,
    name: str,
    model_name: str,
    rules: Rules,
    file_name: str,
    by: Any,
    dry_run: bool = False,
    tell: Callable[[Incoming], None] | None = None,
) -> Incoming:
    """Add the file's samples to the evaluation of that name, made where there is none, and return what came of it.

    Where no sample can come in, or for a dry run, nothing is made. Raises EvaluationRefused.
    """
    made = existing(name, over, model_name=model_name, rules=rules)
    if made is None:
        versions = versions_over(over, unchecked=rules.unchecked)
    else:
        versions = [item.version for item in made.items.select_related("version__example")]
    would = try_samples(stream, versions, evaluation=made)
    if dry_run or would.refused:
        return would
    stream.seek(0)
    evaluation = evaluation_named(
        name, over, model_name=model_name, origin=Evaluation.Origin.FILE, rules=rules, by=by
    )
    return import_samples(stream, evaluation, file_name=file_name, by=by, tell=tell)


def import_samples(
    stream: BinaryIO,
    evaluation: Evaluation,
    *,
    file_name: str,
    by: Any,
    tell: Callable[[Incoming], None] | None = None,
) -> Incoming:
    """Add the file's samples to the evaluation and return what came of each record; good ones come in beside bad ones.

    A sample is known by version and number. One that is there with the same reply changes nothing; with another reply
    it is a problem. `tell` is called after each batch.
    """
    digest = _digest(stream)
    items = {item.version_id: item for item in evaluation.items.select_related("version__example")}
    incoming = Incoming()
    placed = place(read(stream), [item.version for item in items.values()], incoming)
    while batch := list(islice(placed, BATCH)):
        with transaction.atomic():
            _store(batch, items, incoming)
        if tell:
            tell(incoming)
    source = {"name": file_name[:200], "sha256": digest}
    if not incoming.refused and source not in evaluation.sources:
        evaluation.sources = [*evaluation.sources, source]
        evaluation.save(update_fields=["sources"])
    if incoming.added:
        counts = {"added": incoming.added, "problems": len(incoming.problems)}
        audit(
            by,
            "samples imported",
            f"evaluation:{evaluation.pk}",
            file=file_name[:200],
            sha256=digest,
            **counts,
        )
    return incoming


def try_samples(stream: BinaryIO, versions: Sequence[Version], *, evaluation: Evaluation | None) -> Incoming:
    """Return what an import over these versions would do, and change nothing."""
    incoming = Incoming()
    there = _there(evaluation.items.all()) if evaluation else {}
    for each in place(read(stream), versions, incoming):
        _count(each, there, incoming)
    return incoming


def _digest(stream: BinaryIO) -> str:
    """Return the sha256 of the stream's bytes, in hex; the stream stands at its beginning before and after."""
    digest = hashlib.sha256()
    while chunk := stream.read(1 << 20):
        digest.update(chunk)
    stream.seek(0)
    return digest.hexdigest()


def _there(items: Iterable[EvaluationItem]) -> dict[tuple[int, int], str]:
    """Return the hash of each reply that is there, by version and number."""
    rows = ModelSample.objects.filter(item__in=[item.pk for item in items])
    return {
        (version, number): found
        for version, number, found in rows.values_list("item__version_id", "number", "reply_hash")
    }


def _store(batch: Sequence[Placed], items: dict[int, EvaluationItem], incoming: Incoming) -> None:
    there = _there(items[version] for version in {each.version for each in batch})
    ModelSample.objects.bulk_create(
        ModelSample(
            item=items[each.version],
            number=each.number,
            reply=each.reply.text,
            reply_hash=each.reply_hash,
            recorded=each.reply.recorded,
            facts={"record": each.record.number, **each.reply.facts},
        )
        for each in batch
        if _count(each, there, incoming)
    )


def _count(each: Placed, there: dict[tuple[int, int], str], incoming: Incoming) -> bool:
    """Count the sample and return whether it is new; from now on it is there."""
    known = there.setdefault((each.version, each.number), "")
    if not known:
        there[each.version, each.number] = each.reply_hash
        incoming.added += 1
        return True
    if known == each.reply_hash:
        incoming.unchanged += 1
        return False
    name = each.record.key or "the example of this prompt"
    message = f"sample {each.number} of {name} is there with another reply"
    remedy = "Import other samples of the model into an evaluation of their own (--name)."
    incoming.problems.append(Problem(each.record.number, each.record.line, "reply", message, remedy))
    return False
