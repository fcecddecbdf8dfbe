"""Ask for an execution: save it, then wake a worker once that is committed."""

from __future__ import annotations

import time
from functools import partial

from django.db import transaction
from django.db.models import F, QuerySet
from django.db.models.functions import Now

from runner import boxes
from runner.events import announce
from runner.execution import execute
from runner.models import Environment, Execution
from runner.sandbox.base import Job
from runner.waking import wake

LOOK_AGAIN_SECONDS = 0.2
REPLACED = "Replaced by a newer run before it started."


def enqueue(job: Job, *, environment: Environment, queue: str, listener: str = "") -> Execution:
    """Save an execution of the job and return it; a worker of the queue is woken when the transaction commits.

    A broker that is down neither fails the request nor loses it: the reconciler wakes a worker later. An environment
    without an image is refused by no one here: the execution is tried, says what to build, and is unjudged in the end.
    """
    execution = _save(job, environment=environment, queue=queue, listener=listener)
    transaction.on_commit(partial(wake, execution.pk, queue=queue))
    return execution


def execute_now(job: Job, *, environment: Environment, queue: str = Execution.Queue.BULK) -> Execution:
    """Execute the job in this process, which is a worker or a command, and return it finished or unjudged.

    Raises boxes.Closing where the process is about to end; the execution then stays in the queue.
    """
    execution = _save(job, environment=environment, queue=queue, listener="")
    while execution.is_open:
        if boxes.closing():
            raise boxes.Closing
        if not execute(execution.pk):
            time.sleep(LOOK_AGAIN_SECONDS)
        execution.refresh_from_db()
    return execution


def supersede(listener: str, *, among: QuerySet[Execution] | None = None) -> int:
    """End the interactive executions of a listener that have not started, and return how many they were.

    For runs, of which a person has one under way and one waiting; `among` leaves out what is for the record. One that
    a worker takes at this moment runs on: the UPDATE's condition decides.
    """
    queued = (Execution.objects.all() if among is None else among).filter(
        listener=listener, queue=Execution.Queue.INTERACTIVE, state=Execution.State.QUEUED
    )
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


def try_again(execution: Execution) -> bool:
    """Put an unjudged execution back into the queue with all its tries, and return whether it was one.

    For when the cause is gone: an engine that is back, an environment that is built by now.
    """
    again = Execution.objects.filter(pk=execution.pk, state=Execution.State.UNJUDGED).update(
        state=Execution.State.QUEUED,
        reason="",
        tries=0,
        retry_at=None,
        finished_at=None,
        sequence=F("sequence") + 1,
    )
    if again:
        execution.refresh_from_db()
        transaction.on_commit(partial(wake, execution.pk, queue=execution.queue))
        transaction.on_commit(partial(announce, execution))
    return bool(again)


def ahead_of(execution: Execution) -> int:
    """Return how many executions of the same queue were asked for earlier and have not started."""
    queued = Execution.objects.filter(queue=execution.queue, state=Execution.State.QUEUED)
    return queued.filter(pk__lt=execution.pk).count()


def _save(job: Job, *, environment: Environment, queue: str, listener: str) -> Execution:
    """Save a queued execution and return it as the database has it."""
    execution = Execution(environment=environment, queue=queue, job_data=job.as_json(), listener=listener)
    execution.save(force_insert=True)
    return execution
