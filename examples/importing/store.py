"""IMPORT: records become examples and versions, a batch at a time; the same record twice changes nothing."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from datetime import timedelta
from itertools import islice
from typing import Any, BinaryIO

from django.db import transaction
from django.db.models import Q
from django.utils import timezone

from examples.importing.base import Problem, Record, segments_as_json, third_party
from examples.importing.detect import read
from examples.importing.environments import Environments
from examples.models import Dataset, Example, ImportProblem, ImportReport, Library, Version, audit

# Records stored in one transaction: few, so that a person who saves meanwhile does not wait for us.
BATCH = 50
SILENT_AFTER = timedelta(seconds=60)
State = ImportReport.State


def store(items: Iterable[Record | Problem], report: ImportReport) -> ImportReport:
    """Store every record and problem, and return the report, finished, its counts saved batch by batch.

    An example is known by dataset and key. A record with the content of any of its versions changes nothing; one
    with other content becomes a new version. A dry run stores problems and counts only.
    """
    environments = Environments()
    for batch in _batches(islice(items, report.read, None)):
        with transaction.atomic():
            _store_batch(batch, report, environments)
            report.seen_at = timezone.now()
            report.save()
    report.state = State.FINISHED
    report.finished_at = timezone.now()
    report.save(update_fields=["state", "finished_at"])
    return report


def store_stream(stream: BinaryIO, report: ImportReport) -> ImportReport:
    """Store a file's records; a refused file ends as `failed`, with the reason and the remedy as its message."""
    store(read(stream), report)
    if report.read == report.problem_count:
        whole = report.problems.filter(number=0).first()
        report.state = State.FAILED
        report.message = f"{whole.message}. {whole.remedy}" if whole else "No record could come in."
        report.save(update_fields=["state", "message"])
    if not report.dry_run:
        subject = f"dataset:{report.dataset_name}"
        counts = {"added": report.added, "changed": report.changed, "problems": report.problem_count}
        audit(
            report.started_by, "records imported", subject, file=report.file_name, report=report.pk, **counts
        )
    return report


def claim_report(report_id: int) -> ImportReport | None:
    """Take a queued import, or one whose worker fell silent; None when it is not to be had."""
    taken = ImportReport.objects.filter(_waiting(), pk=report_id).update(
        state=State.RUNNING, seen_at=timezone.now()
    )
    return ImportReport.objects.get(pk=report_id) if taken else None


def waiting_reports() -> list[int]:
    """Return the imports that wait for a worker, oldest first."""
    return list(ImportReport.objects.filter(_waiting()).order_by("pk").values_list("pk", flat=True))


def _waiting() -> Q:
    return Q(state=State.QUEUED) | Q(state=State.RUNNING, seen_at__lt=timezone.now() - SILENT_AFTER)


def _batches(items: Iterable[Record | Problem]) -> Iterator[list[Record | Problem]]:
    iterator = iter(items)
    while batch := list(islice(iterator, BATCH)):
        yield batch


def _store_batch(batch: Sequence[Record | Problem], report: ImportReport, environments: Environments) -> None:
    problems = [item for item in batch if isinstance(item, Problem)]
    records = [item for item in batch if isinstance(item, Record)]
    _keep_problems(problems, report)
    known = _known(records, report)
    new = [record for record in records if record.key not in known]
    changed = [
        record
        for record in records
        if record.content_hash not in known.get(record.key, [record.content_hash])
    ]
    report.read += len(batch)
    report.problem_count += len(problems)
    report.added += len(new)
    report.changed += len(changed)
    report.unchanged += len(records) - len(new) - len(changed)
    report.duplicates += _count_duplicates(new)
    if report.dry_run or not (new or changed):
        return
    dataset = _dataset(report)
    examples = [*_add_examples(new, dataset), *_existing(changed, dataset)]
    _add_versions([*new, *changed], examples, report, environments)


def _keep_problems(problems: Sequence[Problem], report: ImportReport) -> None:
    ImportProblem.objects.bulk_create(
        ImportProblem(
            report=report,
            number=problem.number,
            line=problem.line or None,
            field=problem.field[:100],
            message=problem.message,
            remedy=problem.remedy,
        )
        for problem in problems
    )


def _known(records: Sequence[Record], report: ImportReport) -> dict[str, list[str]]:
    """Return the content hashes of all versions, by the keys that the dataset knows already."""
    rows = Version.objects.filter(
        example__dataset__name=report.dataset_name, example__key__in=[record.key for record in records]
    ).values_list("example__key", "content_hash")
    known: dict[str, list[str]] = {}
    for key, content_hash in rows:
        known.setdefault(key, []).append(content_hash)
    return known


def _count_duplicates(new: Sequence[Record]) -> int:
    """Return how many new records have the content of a version that is there already, in whichever dataset."""
    hashes = {record.content_hash for record in new}
    there = set(Version.objects.filter(content_hash__in=hashes).values_list("content_hash", flat=True))
    return sum(record.content_hash in there for record in new)


def _dataset(report: ImportReport) -> Dataset:
    if report.dataset is None:
        report.dataset, _ = Dataset.objects.get_or_create(
            name=report.dataset_name,
            defaults={
                "title": report.dataset_name,
                "source": report.file_name,
                "created_by": report.started_by,
            },
        )
    return report.dataset


def _add_examples(new: Sequence[Record], dataset: Dataset) -> list[Example]:
    examples = Example.objects.bulk_create(
        Example(
            dataset=dataset,
            key=record.key,
            title=record.title,
            repository=record.repository,
            licence=record.licence,
            provenance=dict(record.provenance),
        )
        for record in new
    )
    names = {name for record in new for name in record.libraries}
    standard = names.difference(third_party(names))
    Library.objects.bulk_create(
        (Library(name=name[:100], standard=name in standard) for name in sorted(names)), ignore_conflicts=True
    )
    ids = dict(Library.objects.filter(name__in=names).values_list("name", "pk"))
    link = Example.libraries.through
    link.objects.bulk_create(
        link(example_id=example.pk, library_id=ids[name])
        for example, record in zip(examples, new, strict=True)
        for name in record.libraries
        if name in ids
    )
    return examples


def _existing(changed: Sequence[Record], dataset: Dataset) -> list[Example]:
    by_key = {each.key: each for each in dataset.examples.filter(key__in=[record.key for record in changed])}
    return [by_key[record.key] for record in changed]


def _add_versions(
    records: Sequence[Record], examples: Sequence[Example], report: ImportReport, environments: Environments
) -> None:
    """Add a version of each record to its example, and make it the current one; it waits for its checks."""
    numbers = _next_numbers(examples)
    versions = Version.objects.bulk_create(
        Version(
            example=example,
            number=numbers[example.pk],
            environment=environments.choose(record.needs, named=record.environment, language=record.language),
            author=report.started_by,
            note=f"Imported from {report.file_name}.",
            content_hash=record.content_hash,
            **_columns(record),
        )
        for record, example in zip(records, examples, strict=True)
    )
    for example, version in zip(examples, versions, strict=True):
        example.current = version
    Example.objects.bulk_update(examples, ["current"])


def _next_numbers(examples: Sequence[Example]) -> dict[int, int]:
    numbers = dict.fromkeys((example.pk for example in examples), 1)
    for example_id, number in Version.objects.filter(example__in=examples).values_list(
        "example_id", "number"
    ):
        numbers[example_id] = max(numbers[example_id], number + 1)
    return numbers


def _columns(record: Record) -> dict[str, Any]:
    return {
        "language": record.language,
        "instruction": record.instruction,
        "focal_name": record.focal_name,
        "context": record.context,
        "gap": record.gap,
        "reference": record.reference,
        "segments": segments_as_json(record.tests),
        "block": record.block,
        "expected": list(record.expected),
        "visible": record.visible,
    }
