"""Doors for workers: execute by id. Messages may come twice, late or never."""

from __future__ import annotations

import time

from celery import Task, shared_task

from runner import boxes, bulk, execution, obstacles
from runner.models import Execution
from runner.waking import BATCH_TASK, TASK, wake, wake_batch

# A host that leaves work to others must not take every message the moment it is sent.
PASS_ON_AFTER_SECONDS = 0.25


@shared_task(name=TASK, bind=True)
def execute(self: Task[[int], None], execution_id: int) -> None:
    """Execute an execution if it is due, or leave it to a worker elsewhere where this host cannot.

    One that comes by the interactive queue goes before what else this process does.
    """
    with boxes.precedence((self.request.delivery_info or {}).get("routing_key") or ""):
        if due := _for_others([execution_id]):
            wake(due.pk, queue=due.queue)
        else:
            execution.execute(execution_id)


@shared_task(name=BATCH_TASK)
def execute_batch(execution_ids: list[int]) -> None:
    """Execute those samples of an evaluation run that are due, or leave all to a worker elsewhere."""
    if _for_others(execution_ids):
        wake_batch(execution_ids)
    else:
        bulk.execute_batch(execution_ids)


def _for_others(execution_ids: list[int]) -> Execution | None:
    """Return one that is due, after a moment, where this host cannot run it and a worker elsewhere can; else None."""
    if not obstacles.any_here():
        return None
    due = Execution.objects.due().select_related("environment").filter(pk__in=execution_ids).first()
    if due is None or not obstacles.for_others(due):
        return None
    time.sleep(PASS_ON_AFTER_SECONDS)
    return due
