"""ATTEMPT: how often an attempt's code is saved and run: far beyond what a person does, so that no script fills the disk."""

from __future__ import annotations

from datetime import datetime, timedelta
from math import ceil

from django.db.models import Q

from annotation.attempts import Refused
from annotation.models import Attempt, Run
from runner.models import Execution
from runner.queueing import REPLACED

MINUTE = timedelta(minutes=1)
# The page saves a second after the last key at the earliest. Long texts are kept less often: they weigh more.
DRAFTS_PER_MINUTE, DRAFTS, LONG_DRAFTS = 60, 3000, 300
LONG = 20_000  # characters
RUNS_PER_MINUTE, RUNS = 30, 1000


class TooMany(Refused):
    """Too much in too short a time, or of one attempt; `seconds` says when to try again."""

    def __init__(self, message: str, seconds: int) -> None:
        super().__init__(message)
        self.seconds = seconds


def refuse_draft(attempt: Attempt, *, revision: int, size: int, now: datetime) -> None:
    """Raise TooMany where a draft upon this revision is one too many: of a minute, or of the attempt."""
    most = LONG_DRAFTS if size > LONG else DRAFTS
    if revision >= most:
        raise TooMany(
            f"{most:,} revisions{' of so long a text' if size > LONG else ''} are the most that is kept. What you "
            "write now stays on this computer, and a run or submission takes it along.",
            60,
        )
    before = attempt.drafts.filter(revision=revision - DRAFTS_PER_MINUTE + 1).first()
    if before and before.saved_at > now - MINUTE:
        seconds = _until(before.saved_at, now)
        raise TooMany(
            f"Saved {DRAFTS_PER_MINUTE} times in a minute. Kept on this computer, saved again in {seconds} s.",
            seconds,
        )


def refuse_run(attempt: Attempt, *, key: str, now: datetime) -> None:
    """Raise TooMany where a run on demand is one too many; the same key again is the same run, and never is.

    What we could not judge is our failure and is not reckoned, unless the person's own next run has replaced it.
    """
    unjudged = Q(execution__state=Execution.State.UNJUDGED)
    reckoned = attempt.runs.exclude(kind=Run.Kind.SUBMISSION).exclude(
        unjudged & ~Q(execution__reason=REPLACED)
    )
    newest = list(reckoned.order_by("-number").values_list("created_at", flat=True)[:RUNS_PER_MINUTE])
    full = len(newest) == RUNS_PER_MINUTE and newest[-1] > now - MINUTE
    used_up = len(newest) == RUNS_PER_MINUTE and reckoned.count() >= RUNS
    if not (full or used_up) or attempt.runs.filter(key=key).exists():
        return
    if used_up:
        raise TooMany(f"{RUNS:,} runs of one example are the most. You can still submit, or give up.", 60)
    seconds = _until(newest[-1], now)
    raise TooMany(f"{RUNS_PER_MINUTE} runs in a minute are the most. Run again in {seconds} s.", seconds)


def _until(since: datetime, now: datetime) -> int:
    """Return the whole seconds until a minute has passed since then, at least 1."""
    return max(1, ceil((since + MINUTE - now).total_seconds()))
