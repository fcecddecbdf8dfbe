"""Doors for workers: execute by id. Messages may come twice, late or never."""

from __future__ import annotations

import time

from celery import shared_task

from runner import bulk, execution, obstacles
from runner.models import Execution
from runner.waking import BATCH_TASK, TASK, wake

# A host that leaves work to others must not take every message the moment it is sent.
PASS_ON_AFTER_SECONDS = 0.25


@shared_task(name=TASK)
def execute(execution_id: int) -> None:
    """Execute an execution if it is due, or leave it to a worker elsewhere where this host cannot."""
    if obstacles.any_here() and _passed_on(execution_id):
        return
    execution.execute(execution_id)


def _passed_on(execution_id: int) -> bool:
    """Send the message on to workers elsewhere, if one of them can run the execution; return whether that was done."""
    due = Execution.objects.due().select_related("environment").filter(pk=execution_id).first()
    if due is None or not obstacles.for_others(due):
        return False
    time.sleep(PASS_ON_AFTER_SECONDS)
    return wake(due.pk, queue=due.queue)


@shared_task(name=BATCH_TASK)
def execute_batch(execution_ids: list[int]) -> None:
    """Execute those samples of an evaluation run that are due."""
    bulk.execute_batch(execution_ids)
