"""Celery: import uploaded files, and check versions that wait for it."""

from __future__ import annotations

from time import monotonic

from celery import shared_task

from examples.checking.run import check_version, repeat_reference, waiting
from examples.importing.store import waiting_reports
from examples.importing.uploads import run_import
from examples.models import Version

TURN_SECONDS = 5
AT_ONCE = 2


@shared_task(queue="bulk", name="examples.check_waiting")
def check_waiting() -> int:
    """Check waiting versions for one turn and return how many; what is left comes with the next wake-up."""
    end = monotonic() + TURN_SECONDS
    done = 0
    for version_id in waiting(at_most=50):
        done += check_version(version_id) is not None
        if monotonic() >= end:
            break
    return done


@shared_task(queue="bulk", name="examples.repeat")
def repeat(version_id: int, times: int) -> None:
    """Execute a version's reference `times` more."""
    repeat_reference(
        Version.objects.select_related("example__dataset", "environment").get(pk=version_id), times=times
    )


@shared_task(queue="bulk", name="examples.import_file")
def import_file(report_id: int) -> None:
    """Import an uploaded file, unless another worker has it; goes on behind the records that are in already."""
    run_import(report_id)


def wake_bulk_work() -> None:
    """Wake a worker for each import that waits, and as many as may check at once; called every few seconds."""
    for report_id in waiting_reports():
        import_file.delay(report_id)
    for _ in waiting(at_most=AT_ONCE):
        check_waiting.delay()
