"""IMPORT: a file sent by a page: kept until it is imported, then removed."""

from __future__ import annotations

import logging
import secrets
from collections.abc import Iterable
from pathlib import Path
from typing import Any, BinaryIO, Protocol

from django.conf import settings
from django.db import InterfaceError, OperationalError, transaction
from django.utils import timezone

from examples.importing.store import BATCH, State, claim_report, store_stream
from examples.models import Dataset, ImportReport
from examples.waking import wake_on_commit

logger = logging.getLogger(__name__)


class Upload(Protocol):
    """A file as a form hands it over."""

    name: str | None

    def chunks(self) -> Iterable[bytes]:
        """Yield its bytes, piece by piece."""
        ...


def queue_import(upload: Upload, *, dataset: str, licence: str, dry_run: bool, by: Any) -> ImportReport:
    """Keep the file, and return a queued import of it; a worker is woken when the transaction commits."""
    from examples.tasks import import_file

    stored = keep(upload)
    with transaction.atomic():
        if licence and not dry_run:
            Dataset.objects.get_or_create(
                name=dataset, defaults={"title": dataset, "source": upload.name or ""}
            )
            Dataset.objects.filter(name=dataset, licence="").update(licence=licence)
        report = ImportReport.objects.create(
            dataset_name=dataset,
            dataset=Dataset.objects.filter(name=dataset).first(),
            file_name=(upload.name or "upload")[:200],
            stored_as=stored.name,
            dry_run=dry_run,
            started_by=by,
        )
        wake_on_commit(import_file, report.pk)
    return report


def keep(upload: Upload) -> Path:
    """Write the upload under a name of our own and return its path."""
    folder = _folder()
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / secrets.token_hex(16)
    with path.open("wb") as file:
        for chunk in upload.chunks():
            file.write(chunk)
    return path


def run_import(report_id: int) -> ImportReport | None:
    """Import the file of a queued report and return it, or None when another worker has it."""
    report = claim_report(report_id)
    if report is None:
        return None
    path = _folder() / Path(report.stored_as).name  # never a path: the worker may open more than the site may
    try:
        stream = path.open("rb")
    except OSError:
        report.state, report.message = State.FAILED, "The uploaded file is gone. Send it again."
        report.save(update_fields=["state", "message"])
        return report
    with stream:
        _store(stream, report)
    path.unlink(missing_ok=True)
    return report


def _store(stream: BinaryIO, report: ImportReport) -> None:
    """Import the stream; an error of ours ends the import as failed, or it would be taken again without end.

    A database that is away is no such error: the import waits, and goes on behind what is in.
    """
    try:
        store_stream(stream, report)
    except (OperationalError, InterfaceError):
        raise
    except Exception as error:
        logger.exception("Import %s stopped by an error of ours.", report.pk)
        report.refresh_from_db()
        report.state, report.finished_at = State.FAILED, timezone.now()
        report.message = (
            f"Stopped by an error of ours ({type(error).__name__}) in one of the {BATCH} records behind record "
            f"{report.read}. What came before is in. Leave those records out, or tell who runs this site."
        )
        report.save(update_fields=["state", "message", "finished_at"])


def _folder() -> Path:
    return Path(settings.MEDIA_ROOT) / "imports"
