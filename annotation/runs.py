"""ATTEMPT: runs on demand, and submissions for the record."""

from __future__ import annotations

import hashlib
from datetime import datetime
from typing import Any

from django.db import transaction
from django.db.models import Max

from annotation.attempts import AttemptOver, Refused, settle, submissions_of
from annotation.beats import is_paused
from annotation.drafts import refuse_unfit
from annotation.extra import keep_late
from annotation.limits import refuse_run
from annotation.models import Attempt, Run, Study, Withdrawal
from examples.assembly import Answer, Assembled, Origin
from examples.jobs import full_job, scratch_job, visible_job, visible_of
from examples.languages.ways import ways
from runner.models import Execution
from runner.queueing import enqueue
from runner.sandbox.base import Job
from runner.sandbox.stream import BOX_ENDED

LOST_ALLOWED = 2


def run_visible(attempt: Attempt, *, function: str, module: str, key: str, now: datetime) -> Run:
    """Run the visible tests on what the editor holds, and return the run; the same key again returns the same run."""
    if not attempt.protocol.shows_visible_tests:
        raise Refused("This study shows no tests. Try your function by a scratch run.")
    return _start(attempt, Run.Kind.VISIBLE, function=function, module=module, key=key, now=now)


def run_scratch(
    attempt: Attempt, *, function: str, module: str, snippet: str, key: str, now: datetime
) -> Run:
    """Run the annotator's own snippet behind the program, and return the run."""
    if not snippet.strip():
        raise Refused("Write a line to run first, such as a call with print around it.")
    return _start(
        attempt, Run.Kind.SCRATCH, function=function, module=module, snippet=snippet, key=key, now=now
    )


def submit(attempt: Attempt, *, function: str, module: str, key: str, now: datetime) -> Run:
    """Execute everything on the code of this very request, for the record, and return the run.

    At most `Protocol.submissions` count; one that stayed unjudged does not. The same key again returns the same run.
    """
    return _start(attempt, Run.Kind.SUBMISSION, function=function, module=module, key=key, now=now)


def _start(
    attempt: Attempt,
    kind: Run.Kind,
    *,
    function: str,
    module: str,
    key: str,
    now: datetime,
    snippet: str = "",
) -> Run:
    """Store a run with its execution, in one transaction that holds the attempt's row."""
    refuse_unfit(function, module, snippet)
    if settle(attempt, now=now):
        known = attempt.runs.filter(key=key).first()
        if known is None:
            raise AttemptOver("The work on this example has ended: the verdict is due.")
        return known
    assembled, job = _program(attempt, kind, Answer(function, module), snippet)
    with transaction.atomic():
        locked = (
            Attempt.objects.select_for_update(of=("self",))
            .select_related("slot__study", "protocol")
            .get(pk=attempt.pk)
        )
        if known := locked.runs.filter(key=key).first():
            return known
        if kind == Run.Kind.SUBMISSION and _came_late(locked):
            keep_late(locked, now=now)
        _refuse_if_over(locked)
        if kind == Run.Kind.SUBMISSION:
            _refuse_if_lost(locked)
        else:
            refuse_run(locked, key=key, now=now)
        return Run.objects.create(
            attempt=locked,
            kind=kind,
            number=(locked.runs.aggregate(last=Max("number"))["last"] or 0) + 1,
            key=key,
            function=function,
            module=module,
            snippet=snippet,
            sha256=fingerprint(function, module),
            lines=packed(assembled.lines),
            warnings=list(assembled.warnings),
            created_at=now,
            execution=enqueue(
                job,
                environment=attempt.slot.version.environment,
                queue=Execution.Queue.INTERACTIVE,
                listener=listener_of(attempt),
                asker=asker_of(attempt),
                replaceable=kind != Run.Kind.SUBMISSION,
            ),
        )


def _came_late(attempt: Attempt) -> bool:
    """Return whether the place went back while its person worked on: a submission is kept all the same, as surplus.

    Not in a closed study, and not from who has left the study.
    """
    if attempt.state != Attempt.State.RELEASED or attempt.slot.study.state == Study.State.CLOSED:
        return False
    return not Withdrawal.objects.filter(
        member__study=attempt.slot.study_id, member__person=attempt.annotator_id
    ).exists()


def _refuse_if_over(attempt: Attempt) -> None:
    """Raise where no run may start: slot lost, study closed, clock stopped, submissions used."""
    slot = attempt.slot
    if attempt.state in (
        Attempt.State.SUBMITTED,
        Attempt.State.CLOSED,
    ):  # by another request, since we settled
        raise AttemptOver("The work on this example has ended: the verdict is due.")
    if attempt.state == Attempt.State.RELEASED or slot.annotator_id != attempt.annotator_id:
        raise AttemptOver(
            "Your place went back after a long silence, and your draft is kept. Take it again from My work."
        )
    if slot.study.state == Study.State.CLOSED:
        raise AttemptOver("The study is closed; your draft is kept.")
    if is_paused(attempt):
        raise Refused("Your clock is stopped. Go on first, then run.")
    done = submissions_of(attempt)
    if done.waiting:
        raise Refused("Your submission is being judged; wait for its outcome.")
    if not done.left:
        raise AttemptOver("All submissions are used: the verdict is due.")


def _refuse_if_lost(attempt: Attempt) -> None:
    """Raise where the boxes of too many submissions ended in the midst, which a program can bring about by itself.

    Such a submission is unjudged and does not count; but that and its time tell a few bits of the hidden tests, which
    must not be had without end. What failed for another reason of ours is never limited.
    """
    lost = attempt.runs.filter(
        kind=Run.Kind.SUBMISSION,
        execution__state=Execution.State.UNJUDGED,
        execution__reason__startswith=BOX_ENDED,
    )
    if lost.count() >= LOST_ALLOWED:
        raise Refused(
            f"The boxes of {LOST_ALLOWED} submissions ended in the midst, so a curator has to look first. Does your "
            "program use very much memory? You can also give up and say that the environment is broken."
        )


def _program(attempt: Attempt, kind: Run.Kind, answer: Answer, snippet: str) -> tuple[Assembled, Job]:
    """Return the assembled program and the job for a kind of run."""
    version = attempt.slot.version
    names = visible_of(version).expected if attempt.protocol.shows_visible_tests else ()
    assembled = ways(version.language).assemble(version.context, version.gap, answer, tests=names)
    if kind == Run.Kind.SUBMISSION:
        return assembled, full_job(version, assembled.program)
    if kind == Run.Kind.VISIBLE:
        return assembled, visible_job(version, assembled.program)
    return assembled, scratch_job(version, assembled.program, snippet)


def listener_of(attempt: Attempt) -> str:
    """Return the channel group that hears of the attempt's executions."""
    return f"attempt-{attempt.pk}"


def asker_of(attempt: Attempt) -> str:
    """Return whose share of the runner the attempt's executions are: a person has one running and one waiting."""
    return f"person-{attempt.annotator_id}"


def fingerprint(function: str, module: str) -> str:
    """Return the sha256 of function, NUL, module: shown back, so that one can see what was submitted."""
    return hashlib.sha256(f"{function}\x00{module}".encode(errors="surrogatepass")).hexdigest()


def refuse_other(*, function: str, module: str, sha256: str) -> None:
    """Raise Refused where the page has sent a hash and what has arrived has another one."""
    if sha256 and sha256 != fingerprint(function, module):
        raise Refused("What arrived is not what the page has sent. Nothing was started; do it once more.")


def packed(lines: tuple[Origin, ...]) -> list[list[Any]]:
    """Return the origins as stretches [region, first line, length]: a long context is one or two of them."""
    stretches: list[list[Any]] = []
    for origin in lines:
        last = stretches[-1] if stretches else None
        if last and last[0] == origin.region and last[1] + last[2] == origin.line:
            last[2] += 1
        else:
            stretches.append([origin.region, origin.line, 1])
    return stretches


def unpacked(stretches: list[list[Any]]) -> tuple[Origin, ...]:
    """Return the origin of each program line, from what `packed` made."""
    return tuple(Origin(region, first + at) for region, first, length in stretches for at in range(length))
