"""CHECK: execute a reference more often where a curator asked for it: the request is a row, done once, whoever dies."""

from __future__ import annotations

import secrets
from functools import partial

from django.utils import timezone

from examples.checking.run import LEASE, CheckLost, repeat_reference
from examples.models import Repeats, RepeatsQuerySet


def due_repeats(*, at_most: int) -> list[int]:
    """Return requests that wait for a worker, and those whose worker is gone, oldest first."""
    due = Repeats.objects.free(timezone.now()).checked().order_by("pk")
    return list(due.values_list("pk", flat=True)[:at_most])


def run_repeats(pk: int) -> bool:
    """Do what was asked for and return whether it is done now; False where another has it, or it has been done.

    Executes in this process, so it belongs into a worker. Safe to call twice: the request is claimed first, and what
    was found is kept only under that claim.
    """
    claim, now = secrets.token_hex(8), timezone.now()
    if not Repeats.objects.checked().filter(pk=pk).exists():
        return False
    if not Repeats.objects.free(now).filter(pk=pk).update(claim=claim, lease_end=now + LEASE):
        return False
    asked = Repeats.objects.select_related("version__example__dataset", "version__environment").get(pk=pk)
    try:
        repeat_reference(asked.version, times=asked.times, hold=partial(_hold, pk, claim))
    except CheckLost:
        return False
    return bool(_mine(pk, claim).update(done_at=timezone.now(), claim="", lease_end=None))


def _hold(pk: int, claim: str) -> None:
    if not _mine(pk, claim).update(lease_end=timezone.now() + LEASE):
        raise CheckLost


def _mine(pk: int, claim: str) -> RepeatsQuerySet:
    return Repeats.objects.filter(pk=pk, claim=claim, done_at=None)
