"""EXECUTE: claim, run in a sandbox, judge, save, announce."""

from __future__ import annotations

import logging
import time
from dataclasses import asdict, replace
from itertools import count
from typing import Any

from django.conf import settings
from django.db import transaction
from django.db.models.functions import Now

from runner import boxes, claims, obstacles
from runner.claims import Claim, ClaimLost
from runner.confirming import Confirmation, confirmed, to_run_inside
from runner.events import announce
from runner.models import Execution, TestRow, bounded
from runner.outcome import Judgement, Measurement, Outcome, judge
from runner.recording import Recorder, Unrecorded
from runner.running import Arrived, Ended, Run, Started
from runner.sandbox.base import ImageAbsent, Job, NotBegun, NotStarted, SandboxUnavailable
from runner.waking import wake

logger = logging.getLogger(__name__)

# A wall timeout that used less than this share of its CPU limit may be the machine's doing.
IDLE_SHARE = 0.8
# How often a host may turn out unfit before that counts as a try: about five minutes for one execution alone.
UNFIT_AT_MOST = 60
PAUSES: dict[type[NotBegun], float] = {ImageAbsent: 5.0, NotStarted: 1.0}


def execute(execution_id: int) -> bool:
    """Execute a due execution and return whether it was this call's to execute.

    Safe to call twice: one conditional UPDATE decides, and a second call does nothing. Whatever goes wrong on our
    side puts the execution back into the queue, and to `unjudged` after the last try. While this host can run nothing,
    nothing is claimed (obstacles.py).
    """
    claim = None if boxes.closing() or obstacles.trouble() else claims.take(execution_id)
    if claim is None:
        return False
    execute_claimed(Execution.objects.select_related("environment").get(pk=execution_id), claim)
    return True


def execute_claimed(execution: Execution, claim: Claim, *, alone: bool = False) -> None:
    """Run a claimed execution in a box of its own and save what came of it, or put it back.

    `alone` where it ran before and only the machine's slowness may have ended it: the repetition decides.
    """
    try:
        _execute(execution, claim, alone=alone)
    except ClaimLost:
        logger.warning(
            "Execution %s is somebody else's now; what came of it here is discarded.", execution.pk
        )
    except boxes.Closing:
        put_back(execution, reason="The worker was stopped; another try follows.", counted=False)
    except NotBegun as why:
        obstacles.note(why)
        put_back_untried(execution, why)
    except SandboxUnavailable as error:
        put_back(execution, reason=str(error))
    except Exception as error:
        logger.exception("Execution %s failed on our side.", execution.pk)
        put_back(execution, reason=f"An error of ours: {type(error).__name__}: {error}")
    _wake_next(execution)


def _execute(execution: Execution, claim: Claim, *, alone: bool) -> None:
    """Run the claimed execution, once more where only the machine was slow, and save what came of it."""
    job = execution.job
    recorder = Recorder(execution, claim)
    measurement = _run(recorder, job, container_name(execution, claim), alone=alone)
    judgement = judge(measurement, job.expected)
    repeated = not alone and waited(measurement, judgement, job)
    if repeated:
        recorder.drop()
        recorder = Recorder(execution, claim)
        measurement = _run(recorder, job, container_name(execution, claim, "again"), alone=True)
        judgement = judge(measurement, job.expected)
    inside = to_run_inside(job, measurement)
    if inside is not None:
        recorder.drop()
        recorder, job = Recorder(execution, claim), inside
        measurement = _run(recorder, job, container_name(execution, claim, "inside"))
        measurement = replace(measurement, facts=measurement.facts | {"compared": "inside"})
        judgement = judge(measurement, job.expected)
    confirmation = _confirmation(recorder, job, judgement)
    _finish(recorder, measurement, judgement, confirmation, repeated=repeated or alone)


def container_name(execution: Execution, claim: Claim, again: str = "") -> str:
    """Return the container's name, which carries the claim; a batch has one for all, so the execution stands in it too.

    `again` tells those of one execution apart.
    """
    return f"benchwright-{claim.token}-{execution.pk}{again and '-'}{again}"


def _confirmation(recorder: Recorder, job: Job, judgement: Judgement) -> Confirmation | None:
    """Run the job's canaries, one of each kind, after it has PASSED; their rows are nobody's."""
    unseen, numbers = Unrecorded(recorder.execution, recorder.claim), count(1)

    def run(changed: Job) -> Measurement:
        return _run(
            unseen, changed, container_name(recorder.execution, recorder.claim, f"canary-{next(numbers)}")
        )

    return confirmed(job, judgement, run)


def waited(measurement: Measurement, judgement: Judgement, job: Job) -> bool:
    """Return whether wall time alone decided while the CPU limit was far: then the run is repeated once, alone."""
    idle = measurement.cpu_seconds < IDLE_SHARE * job.limits.cpu_seconds
    return judgement.outcome == Outcome.TIMEOUT_WALL and idle


def _run(recorder: Recorder, job: Job, name: str, *, alone: bool = False) -> Measurement:
    """Run the job and record what arrives. Raises SandboxUnavailable, boxes.Closing or ClaimLost."""
    environment = recorder.execution.environment
    if not environment.image_digest:
        raise SandboxUnavailable(
            f"The environment {environment.name} is not built yet. "
            f"Run: python manage.py build_environments --name {environment.name}"
        )
    with boxes.lent(recorder.execution.queue, alone=alone) as sandbox:
        run = Run(sandbox, job, image=environment.image_digest, name=name)
        run.start()
        try:
            return _record(run, recorder)
        except BaseException:
            run.abandon()
            boxes.remove(name)
            raise


def _record(run: Run, recorder: Recorder) -> Measurement:
    """Save rows as they arrive and renew the lease until the run ends; return what was measured."""
    renewed = time.monotonic()
    while True:
        renewal = renewed + settings.RUNNER_LEASE_SECONDS / 3 - time.monotonic()
        due = recorder.due_in()
        event = run.next(renewal if due is None else min(due, renewal))
        match event:
            case Started(at):
                recorder.started(at)
            case Arrived(row, at):
                recorder.add(row, at)
            case Ended(measurement, error):
                return _measured(measurement, error)
            case None if recorder.due_in() == 0:
                recorder.write()
            case None:
                recorder.claim.renew()
                renewed = time.monotonic()


def _measured(measurement: Measurement | None, error: Exception | None) -> Measurement:
    """Return the measurement, or raise what the sandbox raised."""
    if measurement is not None:
        return measurement
    if boxes.closing():
        raise boxes.Closing from error
    raise error or SandboxUnavailable("The sandbox ended without a word.")


def _finish(
    recorder: Recorder,
    measurement: Measurement,
    judgement: Judgement,
    confirmation: Confirmation | None,
    *,
    repeated: bool,
) -> None:
    """Save the last rows, the outcome and the measurement in one transaction, and give up the claim."""
    execution = recorder.execution
    last = recorder.write_all_but_a_batch(measurement.rows)
    with transaction.atomic():
        recorder.claim.change(
            state=Execution.State.FINISHED,
            outcome=judgement.outcome,
            claim="",
            lease_end=None,
            finished_at=Now(),
            tampered=confirmation is not None and confirmation.tampered,
            facts=conditions(execution, measurement, repeated=repeated, confirmation=confirmation),
            **recorder.times(),
            **measures(measurement),
        )
        recorder.insert(last)
        _settle_tests(recorder, judgement)
    execution.refresh_from_db(fields=["sequence", "state"])
    announce(execution)


def _settle_tests(recorder: Recorder, judgement: Judgement) -> None:
    """Let every expected test have one row with its judged outcome, those without an authentic record included."""
    functions = TestRow.objects.filter(execution=recorder.execution, assertion=None)
    said = {row.test: row for row in functions}
    recorder.insert(row for row in judgement.tests if row.test not in said)
    for row in judgement.tests:
        if row.test in said and said[row.test].outcome != row.outcome:
            functions.filter(test=row.test).update(outcome=row.outcome, message=bounded(row.message))


def measures(measurement: Measurement) -> dict[str, Any]:
    """Return the measurement as the execution's columns."""
    return {
        "exit_status": measurement.exit_status,
        "signal": measurement.signal,
        "cpu_seconds": measurement.cpu_seconds,
        "wall_seconds": measurement.wall_seconds,
        "memory_bytes": measurement.memory_bytes,
        "stdout": bounded(measurement.stdout),
        "stderr": bounded(measurement.stderr),
        "load_error": bounded(measurement.load_error),
    }


def conditions(
    execution: Execution,
    measurement: Measurement,
    *,
    repeated: bool,
    confirmation: Confirmation | None = None,
) -> dict[str, Any]:
    """Return under which conditions it ran, so that the outcome can be questioned later."""
    job = execution.job
    ours = {
        "image": execution.environment.image_digest,
        "environment": execution.environment.name,
        "seed": job.seed,
        "limits": asdict(job.limits),
        "repeated_alone": repeated,
    }
    if confirmation is not None:
        ours["canary"] = confirmation.facts()
    return {**ours, **{name: bounded(str(value), 1000) for name, value in measurement.facts.items()}}


def put_back_untried(execution: Execution, why: NotBegun) -> None:
    """Put back what could not begin here. It uses up a try only where that has gone on for long."""
    counted = execution.faults.count() >= UNFIT_AT_MOST
    pause = PAUSES.get(type(why), 0.0)
    put_back(execution, reason=str(why), counted=counted, pause=pause, fault=True)


def put_back(
    execution: Execution,
    *,
    reason: str,
    counted: bool = True,
    pause: float = 0.0,
    fault: bool | None = None,
) -> None:
    """Put the execution back and wake a worker for the next try; nothing where the claim is lost."""
    reason = bounded(reason, 2000)
    try:
        wait = claims.give_back(execution, reason=reason, counted=counted, pause=pause)
    except ClaimLost:
        return
    execution.refresh_from_db(fields=["sequence", "state"])
    if counted if fault is None else fault:
        claims.note_fault(execution, reason, last=not execution.is_open)
    announce(execution)
    if wait is not None and not execution.scope:  # samples are woken by the batch: reconcile.wake_forgotten
        wake(execution.pk, queue=execution.queue, after_seconds=wait)


def _wake_next(execution: Execution) -> None:
    """Wake a worker for what the asker has waiting: its own message came while this one ran."""
    if execution.asker is None:
        return
    waiting = Execution.objects.due().filter(asker=execution.asker).exclude(pk=execution.pk)
    for pk, queue in waiting.values_list("pk", "queue")[:1]:
        wake(pk, queue=queue)
