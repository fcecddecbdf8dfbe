"""CLAIMS: who may write to a fragment: conditional UPDATEs under a claim, as executions have them (runner/claims.py)."""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from typing import Any

from django.conf import settings
from django.db.models import F
from django.db.models.functions import Now

from examples.models import Fragment, GenerationRun
from runner.claims import BOOT, now_plus

# Beyond what one question may take: an execution, and a moment for the database.
SPARE_SECONDS = 120


class ClaimLost(Exception):
    """Somebody else has the fragment now: discard what was found."""


@dataclass(frozen=True)
class Claim:
    """The right to write to one fragment, as long as its row carries this token."""

    fragment_id: int
    token: str

    def renew(self) -> None:
        """Move the lease's end on. Raises ClaimLost."""
        self._change(lease_end=_lease())

    def give_back(self) -> None:
        """Let another worker go on from what is kept. Raises ClaimLost."""
        self._change(state=Fragment.State.WAITING, claim="", lease_end=None)

    def end(self, state: Fragment.State, *, code: str = "", message: str = "", **changes: Any) -> None:
        """Bring the fragment to an end. Raises ClaimLost."""
        self._change(
            state=state,
            claim="",
            lease_end=None,
            finished_at=Now(),
            reason_code=code[:60],
            reason=message,
            **changes,
        )

    def _change(self, **changes: Any) -> None:
        if not Fragment.objects.filter(pk=self.fragment_id, claim=self.token).update(**changes):
            raise ClaimLost(self.token)


def take(fragment_id: int) -> Claim | None:
    """Claim a due fragment of a running run by one conditional UPDATE; None where it is not to be had."""
    token = BOOT + secrets.token_hex(10)
    taken = (
        Fragment.objects.due()
        .filter(pk=fragment_id, run__in=GenerationRun.objects.running())
        .update(
            state=Fragment.State.WORKING,
            claim=token,
            lease_end=_lease(),
            tries=F("tries") + 1,
            reason_code="",
            reason="",
            finished_at=None,
        )
    )
    return Claim(fragment_id, token) if taken else None


def give_back_boot(boot: str) -> int:
    """Give back what a process that has certainly ended had claimed, and return how many fragments that were."""
    if not boot:
        return 0
    lost = Fragment.objects.filter(state=Fragment.State.WORKING, claim__startswith=boot)
    return lost.update(state=Fragment.State.WAITING, claim="", lease_end=None)


def _lease() -> Any:
    return now_plus(settings.LLM_TIMEOUT_SECONDS + SPARE_SECONDS)
