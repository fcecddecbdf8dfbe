"""Celery: check versions that wait for it."""

from __future__ import annotations

from time import monotonic

from celery import shared_task

from examples.checking.run import check_version, repeat_reference, waiting
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


def wake_checks() -> None:
    """Wake as many workers as may check at once, where a version waits; called every few seconds by the worker."""
    for _ in waiting(at_most=AT_ONCE):
        check_waiting.delay()
