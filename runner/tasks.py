"""Doors for workers: execute by id. Messages may come twice, late or never."""

from __future__ import annotations

from celery import shared_task

from runner import execution
from runner.waking import TASK


@shared_task(name=TASK)
def execute(execution_id: int) -> None:
    """Execute an execution if it is due."""
    execution.execute(execution_id)


@shared_task(name="runner.execute_batch")
def execute_batch(execution_ids: list[int]) -> None:
    """Execute those of a batch that are due, one after the other."""
    for execution_id in execution_ids:
        execution.execute(execution_id)
