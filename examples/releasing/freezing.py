"""RELEASE: freeze a draft: every condition met, every line hashed, then one UPDATE, after which nothing changes."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from examples.models import Release, ReleaseFile, ReleaseItem, Split, audit
from examples.releasing.documents import LICENCES, MANIFEST, README, licences_text, manifest, readme_text
from examples.releasing.drafting import DraftRefused, lock_draft
from examples.releasing.evidence import HumanRecord
from examples.releasing.facts import gate_report
from examples.releasing.gate import GateReport
from examples.releasing.lines import items_in_order, release_line
from examples.releasing.numbering import must_grow


class GateClosed(Exception):
    """The gate blocks; `report` says which conditions, which versions, and the way out."""

    def __init__(self, report: GateReport) -> None:
        names = ", ".join(line.condition.title for line in report.closed) or "there is no version in it"
        super().__init__(f"The gate is closed: {names}.")
        self.report = report


@dataclass
class SplitText:
    """The text of a split's file while it is being written: how many lines, how long, hashed so far."""

    split: Split
    examples: int = 0
    size_bytes: int = 0
    digest: Any = field(default_factory=hashlib.sha256)

    def add(self, line: str) -> str:
        """Take a line in and return its own sha256 (with its line break, as `sha256sum` of that line says)."""
        data = line.encode() + b"\n"
        self.examples += 1
        self.size_bytes += len(data)
        self.digest.update(data)
        return hashlib.sha256(data).hexdigest()

    def as_file(self) -> ReleaseFile:
        """Return the row of the split's file."""
        return ReleaseFile(
            release_id=self.split.release_id,
            split=self.split,
            name=f"{self.split.name}.jsonl",
            size_bytes=self.size_bytes,
            sha256=self.digest.hexdigest(),
        )


def freeze(release: Release, *, by: Any, people: HumanRecord) -> Release:
    """Freeze a draft and return it.

    Lines are written in short batches while it is still a draft; then, in one transaction, the files are stored and
    the state changes, provided that nobody touched the draft meanwhile. Of two who freeze at once the slower is refused.
    Raises GateClosed, NumberRefused, DraftRefused.
    """
    with transaction.atomic():
        lock_draft(release)
    must_grow(release.number, _published(release))
    report = gate_report(release, people)
    if not report.is_open:
        raise GateClosed(report)
    texts, written = _write_lines(release)
    release.frozen_at = timezone.now()
    files = [*(text.as_file() for text in texts), *_files(release, texts, people)]
    _close(release, files, written=written, by=by)
    return release


def _published(release: Release) -> list[str]:
    others = Release.objects.frozen().filter(name=release.name).exclude(pk=release.pk)
    return list(others.values_list("number", flat=True))


class Written(NamedTuple):
    """The text of each split, empty ones too, and the fingerprint of the items as they were written."""

    texts: list[SplitText]
    fingerprint: str


def _write_lines(release: Release) -> Written:
    """Write every item's line and hash, in short batches. Raises DraftRefused once it is no draft any more."""
    digest = hashlib.sha256()
    texts = {split.pk: SplitText(split) for split in release.splits.all()}
    items = release.items.select_related("version__example__dataset", "version__environment", "split")
    for batch in items_in_order(items):
        for item in batch:
            item.line = release_line(item, release)
            item.sha256 = texts[item.split_id].add(item.line)
            digest.update(repr((item.pk, item.split_id, item.position, item.sha256)).encode())
        with transaction.atomic():
            lock_draft(release)
            ReleaseItem.objects.bulk_update(batch, ["line", "sha256"])
    return Written(list(texts.values()), digest.hexdigest())


def _files(release: Release, texts: list[SplitText], people: HumanRecord) -> list[ReleaseFile]:
    """Return the files beside the splits: manifest, licences, card."""
    facts = manifest(release, texts, people)
    documents = {MANIFEST: facts.text, LICENCES: licences_text(facts.value), README: readme_text(facts.value)}
    return [
        ReleaseFile(
            release=release,
            name=name,
            size_bytes=len(text.encode()),
            sha256=hashlib.sha256(text.encode()).hexdigest(),
            content=text,
        )
        for name, text in documents.items()
    ]


def _fingerprint(items: QuerySet[ReleaseItem]) -> str:
    """Return a hash of which items there are, where they stand and what their lines are, as `_write_lines` does."""
    digest = hashlib.sha256()
    for row in items.order_by("position").values_list("pk", "split_id", "position", "sha256"):
        digest.update(repr(tuple(row)).encode())
    return digest.hexdigest()


def _close(release: Release, files: list[ReleaseFile], *, written: str, by: Any) -> None:
    """Store the files and freeze, in one transaction. Raises DraftRefused when the draft changed meanwhile."""
    with transaction.atomic():
        lock_draft(release)
        must_grow(release.number, _published(release))
        if _fingerprint(release.items.all()) != written:
            raise DraftRefused(
                "The draft was changed while it was being frozen. Look at it and freeze it again."
            )
        ReleaseFile.objects.bulk_create(files)
        release.state = Release.State.FROZEN
        release.manifest_sha256 = next(file.sha256 for file in files if file.name == MANIFEST)
        release.save(update_fields=["state", "frozen_at", "manifest_sha256"])
        audit(
            by, "release frozen", f"release:{release.pk}", name=str(release), manifest=release.manifest_sha256
        )
