"""Claims: who may write to an execution. Taking one and every later write is a conditional UPDATE."""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from django.conf import settings
from django.db import transaction
from django.db.models import DateTimeField, ExpressionWrapper, F
from django.db.models.expressions import CombinedExpression
from django.db.models.functions import Now

from runner.models import Execution, TestRow

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
    """Claim a due execution by one conditional UPDATE; None when it is not due or somebody else was first."""
    token = BOOT + secrets.token_hex(10)
    taken = (
        Execution.objects.due()
        .filter(pk=execution_id)
        .update(
            state=Execution.State.RUNNING,
            claim=token,
            lease_end=now_plus(settings.RUNNER_LEASE_SECONDS),
            leased_at=Now(),
            tries=F("tries") + 1,
            retry_at=None,
            reason="",
            sequence=F("sequence") + 1,
        )
    )
    return Claim(execution_id, token) if taken else None


def give_back(execution: Execution, *, reason: str, counted: bool = True) -> float | None:
    """Put a claimed execution back into the queue, or to `unjudged` after the last try; its rows are removed.

    Fenced by the claim that `execution` was read with: raises ClaimLost when the row carries another. Returns the
    seconds until the next try, None when there is none. A try that is not `counted` was ended by us, not by a fault.
    """
    claim = Claim(execution.pk, execution.claim)
    last = counted and execution.tries >= settings.RUNNER_MAX_TRIES
    pause = float(4 ** (execution.tries - 1)) if counted else 0.0
    with transaction.atomic():
        claim.change(
            state=Execution.State.UNJUDGED if last else Execution.State.QUEUED,
            reason=reason,
            claim="",
            lease_end=None,
            retry_at=None if last or not counted else now_plus(pause),
            tries=F("tries") if counted else F("tries") - 1,
            started_at=None,
            first_row_at=None,
            finished_at=Now() if last else None,
        )
        TestRow.objects.filter(execution=execution).delete()
    return None if last else pause
