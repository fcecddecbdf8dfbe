"""ATTEMPT: how far it has come, when its work ends, giving up, and the verdict that closes it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from django.db import transaction

from annotation.answers import add_step, as_said
from annotation.beats import active_seconds
from annotation.leases import VERDICT_LEASE, hold
from annotation.models import Attempt, Run, Slot, Verdict, VerdictStep
from annotation.transitions import Actor, move
from config.parts.values import clock
from runner.models import Execution


class Refused(Exception):
    """Not possible as things stand; the message tells the annotator why."""


class AttemptOver(Refused):
    """The work on this attempt has ended, or its slot has gone to somebody else."""


@dataclass(frozen=True)
class Submissions:
    """What has been submitted: how many were judged, wait, or stayed unjudged, of how many allowed.

    `awaits_curator` says that none passed, and that one PASSED and could not be confirmed.
    """

    allowed: int
    counted: int
    waiting: int
    unjudged: int
    passed_at: datetime | None
    last_counted_at: datetime | None
    awaits_curator: bool = False

    @property
    def left(self) -> int:
        """Return how many are left; one that waits is reckoned in, an unjudged one never counts."""
        return max(self.allowed - self.counted - self.waiting, 0)


@dataclass(frozen=True)
class Progress:
    """How far an attempt has come: its submissions, and its active seconds against the limit."""

    submissions: Submissions
    active_seconds: float
    limit_seconds: int

    @property
    def out_of_time(self) -> bool:
        """Whether the limit on active time is reached."""
        return self.active_seconds >= self.limit_seconds


def submissions_of(attempt: Attempt) -> Submissions:
    """Return what has been submitted. An unjudged submission is our failure: it never counts."""
    runs = list(
        attempt.runs.filter(kind=Run.Kind.SUBMISSION)
        .select_related("execution")
        .only(
            "attempt", "kind", "created_at", "execution__state", "execution__outcome", "execution__tampered"
        )
    )
    return submissions_among(runs, allowed=attempt.protocol.submissions)


def submissions_among(runs: Iterable[Run], *, allowed: int) -> Submissions:
    """Return the same of runs that are at hand, in their order, each with its execution."""
    runs = [run for run in runs if run.kind == Run.Kind.SUBMISSION]
    judged = [run for run in runs if run.execution.state == Execution.State.FINISHED]
    return Submissions(
        allowed=allowed,
        counted=len(judged),
        waiting=sum(run.execution.is_open for run in runs),
        unjudged=sum(run.execution.state == Execution.State.UNJUDGED for run in runs),
        passed_at=next((run.created_at for run in judged if run.passed), None),
        last_counted_at=judged[-1].created_at if judged else None,
        awaits_curator=not any(run.passed for run in judged) and any(run.awaits_curator for run in judged),
    )


def progress_of(attempt: Attempt) -> Progress:
    """Return how far the attempt has come, by the last sign of life."""
    limit = attempt.protocol.active_limit_seconds
    return Progress(submissions_of(attempt), active_seconds(attempt), limit)


def settle(attempt: Attempt, *, now: datetime, progress: Progress | None = None) -> bool:
    """Move an open attempt whose work has ended to `submitted`, and return whether its work has ended.

    It ends with a submission that PASSED, with the last one allowed, or at the limit on active time; while a
    submission is being judged its outcome is awaited. Nothing is submitted here: a draft stays a draft.
    """
    if attempt.state != Attempt.State.OPEN:
        return attempt.state in (Attempt.State.SUBMITTED, Attempt.State.CLOSED)
    progress = progress or progress_of(attempt)
    if _ended_at(progress, now) is None:
        return False
    with transaction.atomic():
        Attempt.objects.select_for_update().get(pk=attempt.pk)  # a submission is taken under the same lock
        ended_at = _ended_at(replace(progress, submissions=submissions_of(attempt)), now)
        return ended_at is not None and _end(attempt, ended_at=ended_at, now=now)


def _ended_at(progress: Progress, now: datetime) -> datetime | None:
    """Return when the work on the code ended, None while it goes on."""
    done = progress.submissions
    if done.passed_at:
        return done.passed_at
    if done.waiting:
        return None
    if done.counted >= done.allowed:
        return done.last_counted_at
    return now if progress.out_of_time else None


def _end(attempt: Attempt, *, ended_at: datetime, now: datetime, gave_up_reason: str = "") -> bool:
    """End the work of an open attempt once; later calls change nothing and return False."""
    open_one = Attempt.objects.filter(pk=attempt.pk, state=Attempt.State.OPEN)
    ended_at = max(ended_at, attempt.started_at)  # clocks of two web processes may differ a little
    with transaction.atomic():
        by = Actor.ANNOTATOR if gave_up_reason else Actor.WORK
        ended = move(
            open_one,
            to=Attempt.State.SUBMITTED,
            by=by,
            now=now,
            ended_at=ended_at,
            gave_up_reason=gave_up_reason,
        )
        if ended:
            attempt.pauses.filter(ended_at=None).update(ended_at=now)
            hold(attempt, until=now + VERDICT_LEASE)
            attempt.slot.lease_end = now + VERDICT_LEASE
    attempt.refresh_from_db(fields=["state", "ended_at", "gave_up_reason"])
    return bool(ended)


def give_up(attempt: Attempt, *, reason: str, now: datetime) -> None:
    """End the work without a solution; the reason is kept.

    Raises Refused without one, and before the protocol offers it; AttemptOver after the end.
    """
    if not reason.strip():
        raise Refused("Say in a few words what stopped you.")
    earliest = attempt.protocol.give_up_after_seconds
    if earliest and attempt.state == Attempt.State.OPEN and active_seconds(attempt) < earliest:
        raise Refused(
            f"In this study giving up is offered after {clock(earliest)} of active time, not before."
        )
    with transaction.atomic():
        Attempt.objects.select_for_update().get(pk=attempt.pk)  # a submission is taken under the same lock
        if submissions_of(attempt).waiting:
            raise Refused("Your submission is being judged; wait for its outcome.")
        if attempt.state != Attempt.State.OPEN or not _end(
            attempt, ended_at=now, now=now, gave_up_reason=reason.strip()
        ):
            raise AttemptOver("The work on this example has ended already.")


def close_attempt(attempt: Attempt, *, answers: Mapping[str, Any], now: datetime) -> Verdict:
    """Store the verdict and close attempt and slot together. `answers` are the fields of Verdict.

    What the machine found is written beside what was said, from the executions. A verdict that a curator had re-opened
    is written anew as its next revision; its place was closed all the while. Raises AttemptOver where the verdict is
    not due, was given, or the slot has gone to somebody else.
    """
    solved = submissions_of(attempt).passed_at is not None
    # All that can be asked before is: others who write wait for this transaction.
    earlier, person = Verdict.objects.filter(attempt=attempt).first(), attempt.annotator
    verdict = earlier or Verdict(attempt=attempt, revision=0)
    with transaction.atomic():
        due = Attempt.objects.filter(pk=attempt.pk)
        theirs = Slot.objects.filter(pk=attempt.slot_id, annotator=attempt.annotator_id)
        held = theirs.filter(state__in=[Slot.State.TAKEN, Slot.State.CLOSED])
        closed = move(due, to=Attempt.State.CLOSED, by=Actor.ANNOTATOR, now=now)
        if not closed or not held.update(state=Slot.State.CLOSED, lease_end=None):
            raise AttemptOver("This attempt waits for no verdict.")
        said = {**answers, "solved": solved, "created_at": now, "revision": verdict.revision + 1}
        for name, value in said.items():
            setattr(verdict, name, value)
        verdict.save(update_fields=list(said) if earlier else None)
        add_step(attempt, VerdictStep.Kind.CLOSED, by=person, now=now, changed=as_said(answers))
    attempt.refresh_from_db(fields=["state"])
    return verdict


def suggested_outcome(attempt: Attempt, progress: Progress) -> str:
    """Return the verdict's outcome that the facts suggest."""
    done = progress.submissions
    if done.passed_at or done.awaits_curator:
        return Verdict.Outcome.SOLVED
    if not attempt.gave_up_reason and done.counted < done.allowed:
        return Verdict.Outcome.OUT_OF_TIME
    return Verdict.Outcome.GAVE_UP
