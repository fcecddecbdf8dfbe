"""Ask for an execution: save it, then wake a worker once that is committed."""

from __future__ import annotations

import time
from functools import partial

from django.db import IntegrityError, transaction
from django.db.models import F
from django.db.models.functions import Now

from runner import boxes, claims
from runner.events import announce
from runner.execution import execute
from runner.models import Environment, Execution
from runner.sandbox.base import Job
from runner.waking import wake

LOOK_AGAIN_SECONDS = 0.2
REPLACED = claims.REPLACED
ATTEMPTS = 20


def enqueue(
    job: Job,
    *,
    environment: Environment,
    queue: str,
    listener: str = "",
    asker: str | None = None,
    replaceable: bool = False,
) -> Execution:
    """Save an execution of the job and return it; a worker of the queue is woken when the transaction commits.

    An `asker` has one execution running, and one waiting of those that are `replaceable`: this one ends that, whatever
    it is itself. What is for the record is not replaceable, and waits beside. Both are rules of the database.

    A broker that is down neither fails the request nor loses it: the reconciler wakes a worker later. An environment
    without an image is refused by no one here: the execution is tried, says what to build, and is unjudged in the end.
    """
    execution = Execution(
        environment=environment,
        queue=queue,
        job_data=job.as_json(),
        listener=listener,
        asker=asker,
        replaceable=replaceable,
    )
    if asker is not None:
        _save_in_turn(execution, asker)
    else:
        execution.save(force_insert=True)
    transaction.on_commit(partial(wake, execution.pk, queue=queue))
    transaction.on_commit(partial(announce, execution))
    return execution


def execute_now(job: Job, *, environment: Environment, queue: str = Execution.Queue.BULK) -> Execution:
    """Execute the job in this process, which is a worker or a command, and return it finished or unjudged.

    Raises boxes.Closing where the process is about to end; the execution then stays in the queue.
    """
    execution = Execution(environment=environment, queue=queue, job_data=job.as_json())
    execution.save(force_insert=True)
    while execution.is_open:
        if boxes.closing():
            raise boxes.Closing
        if not execute(execution.pk):
            time.sleep(LOOK_AGAIN_SECONDS)
        execution.refresh_from_db()
    return execution


def supersede(asker: str) -> int:
    """End the asker's replaceable executions that have not started, and return how many they were (at most one).

    One that a worker takes at this moment runs on: the UPDATE's condition decides.
    """
    queued = Execution.objects.filter(asker=asker, replaceable=True, state=Execution.State.QUEUED)
    replaced = 0
    for execution in list(queued):
        ended = Execution.objects.filter(pk=execution.pk, state=Execution.State.QUEUED).update(
            state=Execution.State.UNJUDGED,
            reason=REPLACED,
            retry_at=None,
            finished_at=Now(),
            sequence=F("sequence") + 1,
        )
        if ended:
            replaced += 1
            execution.refresh_from_db(fields=["sequence", "state"])
            transaction.on_commit(partial(announce, execution))
    return replaced


def _save_in_turn(execution: Execution, asker: str) -> None:
    """Insert the execution in the place of the one that its asker has waiting.

    Where two requests of one asker meet, the database refuses the second row, and that request replaces the first.
    """
    for left in reversed(range(ATTEMPTS)):
        try:
            with transaction.atomic():
                supersede(asker)
                execution.save(force_insert=True)
        except IntegrityError:
            if not left:
                raise
        else:
            return


def try_again(execution: Execution) -> bool:
    """Put an unjudged execution back into the queue with all its tries, and return whether it was one.

    For when the cause is gone: an engine that is back, an environment that is built by now. Whether the execution still
    counts for somebody is the caller's to know. False as well where its asker has a newer one waiting.
    """
    unjudged = Execution.objects.filter(pk=execution.pk, state=Execution.State.UNJUDGED)
    try:
        with transaction.atomic():
            again = unjudged.update(
                state=Execution.State.QUEUED,
                reason="",
                tries=0,
                retry_at=None,
                finished_at=None,
                sequence=F("sequence") + 1,
            )
    except IntegrityError:  # execution_one_waiting_per_asker: a newer one waits
        return False
    if again:
        execution.refresh_from_db()
        transaction.on_commit(partial(wake, execution.pk, queue=execution.queue))
        transaction.on_commit(partial(announce, execution))
    return bool(again)


def ahead_of(execution: Execution) -> int:
    """Return how many executions of the same queue were asked for earlier and have not started."""
    queued = Execution.objects.filter(queue=execution.queue, state=Execution.State.QUEUED)
    return queued.filter(pk__lt=execution.pk).count()
