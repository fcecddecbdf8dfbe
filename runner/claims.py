"""Claims: who may write to an execution. Taking one and every later write is a conditional UPDATE."""

from __future__ import annotations

import platform
import secrets
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from django.conf import settings
from django.db import DatabaseError, IntegrityError, connections, transaction
from django.db.models import DateTimeField, Exists, ExpressionWrapper, F, OuterRef, Q
from django.db.models.expressions import CombinedExpression
from django.db.models.functions import Now

from runner.models import Execution, Fault, TestRow

REPLACED = "Replaced by a newer run before it started."
KEPT_AT_MOST_SECONDS = 3600.0
# Made at the start of this process. Claims begin with it and containers carry it, so that what a dead worker
# left behind is known at once when its successor starts.
BOOT = secrets.token_hex(6)


class ClaimLost(Exception):
    """Somebody else has the execution now: discard what was found and remove the container."""


def now_plus(seconds: float) -> ExpressionWrapper[CombinedExpression]:
    """Return the database's clock plus (or minus) so many seconds; workers' clocks may differ."""
    return ExpressionWrapper(Now() + timedelta(seconds=seconds), output_field=DateTimeField())


@dataclass(frozen=True)
class Claim:
    """The right to write to one execution, as long as its row carries this token."""

    execution_id: int
    token: str

    def change(self, **changes: Any) -> None:
        """Write the changes and let the sequence grow. Raises ClaimLost when the row carries another claim."""
        held = Execution.objects.filter(pk=self.execution_id, claim=self.token)
        if not held.update(sequence=F("sequence") + 1, **changes):
            raise ClaimLost(self.token)

    def renew(self) -> None:
        """Move the lease's end on. Raises ClaimLost when the row carries another claim."""
        held = Execution.objects.filter(pk=self.execution_id, claim=self.token)
        if not held.update(lease_end=now_plus(settings.RUNNER_LEASE_SECONDS)):
            raise ClaimLost(self.token)


def take(execution_id: int) -> Claim | None:
    """Claim a due execution by one conditional UPDATE; None when it is not due or somebody else was first.

    None as well while another execution of the same asker runs: `execution.execute` wakes a worker when that ends.
    """
    token = BOOT + secrets.token_hex(10)
    runs = Execution.objects.filter(state=Execution.State.RUNNING, asker=OuterRef("asker"))
    free = Execution.objects.due().filter(Q(asker=None) | ~Exists(runs), pk=execution_id)
    try:
        with transaction.atomic():
            taken = free.update(
                state=Execution.State.RUNNING,
                claim=token,
                lease_end=now_plus(settings.RUNNER_LEASE_SECONDS),
                leased_at=Now(),
                tries=F("tries") + 1,
                retry_at=None,
                reason="",
                sequence=F("sequence") + 1,
            )
    except IntegrityError:  # execution_one_running_per_asker: another was taken at this very moment
        return None
    return Claim(execution_id, token) if taken else None


def take_many(execution_ids: Sequence[int]) -> list[Execution]:
    """Claim those that are due, all under one token by one conditional UPDATE, and return them with their environment.

    For samples of evaluation runs (`scope`), which nobody asked for as a person: no asker's turn is to be kept.
    """
    token = BOOT + secrets.token_hex(10)
    due = Execution.objects.due().filter(pk__in=execution_ids).exclude(scope="")
    due.update(
        state=Execution.State.RUNNING,
        claim=token,
        lease_end=now_plus(settings.RUNNER_LEASE_SECONDS),
        leased_at=Now(),
        tries=F("tries") + 1,
        retry_at=None,
        reason="",
        sequence=F("sequence") + 1,
    )
    taken = Execution.objects.filter(pk__in=execution_ids, claim=token)
    return list(taken.select_related("environment").order_by("pk"))


def renew_many(token: str) -> int:
    """Move the lease's end on for all that still carry the token, and return how many do."""
    return Execution.objects.filter(state=Execution.State.RUNNING, claim=token).update(
        lease_end=now_plus(settings.RUNNER_LEASE_SECONDS)
    )


@contextmanager
def kept(token: str) -> Iterator[None]:
    """Renew the leases of all that carry the token, beside whatever the block does, until it ends.

    What comes before the first sample of a batch, and a sample that takes long, hold up all that were claimed with it.
    After an hour the leases are left to their holder, so that a block which never ends keeps nothing for ever.
    """
    ended = threading.Event()

    def renew() -> None:
        until = time.monotonic() + KEPT_AT_MOST_SECONDS
        while not ended.wait(settings.RUNNER_LEASE_SECONDS / 3) and time.monotonic() < until:
            with suppress(DatabaseError):  # one that is away is asked again
                renew_many(token)
            connections.close_all()

    keeper = threading.Thread(target=renew, name="lease", daemon=True)
    keeper.start()
    try:
        yield
    finally:
        ended.set()


def give_back(execution: Execution, *, reason: str, counted: bool = True, pause: float = 0.0) -> float | None:
    """Put a claimed execution back into the queue, or to `unjudged` after the last try; its rows are removed.

    Fenced by the claim that `execution` was read with: raises ClaimLost when the row carries another. Returns the
    seconds until the next try, None when there is none. A try that is not `counted` was ended by us, not by a fault,
    or never began; the next comes after `pause`. One whose asker has a newer one waiting is replaced by that.
    """
    claim = Claim(execution.pk, execution.claim)
    last = counted and execution.tries >= settings.RUNNER_MAX_TRIES
    pause = float(4 ** (execution.tries - 1)) if counted else pause
    changes: dict[str, Any] = {
        "state": Execution.State.UNJUDGED if last else Execution.State.QUEUED,
        "reason": reason,
        "retry_at": None if last or not pause else now_plus(pause),
        "tries": F("tries") if counted else F("tries") - 1,
        "finished_at": Now() if last else None,
    }
    try:
        _give_up(claim, execution, changes)
    except IntegrityError:  # execution_one_waiting_per_asker
        replaced = {"state": Execution.State.UNJUDGED, "reason": REPLACED, "finished_at": Now()}
        _give_up(claim, execution, replaced)
        return None
    return None if last else pause


def _give_up(claim: Claim, execution: Execution, changes: dict[str, Any]) -> None:
    """Write the changes, drop the claim and remove the rows."""
    with transaction.atomic():
        claim.change(claim="", lease_end=None, started_at=None, first_row_at=None, **changes)
        TestRow.objects.filter(execution=execution).delete()


def note_fault(execution: Execution, reason: str, *, last: bool) -> None:
    """Keep that a try ended by our fault, for those who operate."""
    Fault.objects.create(execution=execution, host=platform.node()[:100], reason=reason, last=last)
