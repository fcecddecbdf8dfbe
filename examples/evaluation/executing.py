"""EVALUATE: execute an evaluation's samples in this process, beside whatever workers there are."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor

from django.db import connection

from examples.models import Evaluation
from runner import boxes, reconcile
from runner.bulk import BATCH, batches, execute_batch
from runner.models import Execution

LOOK_AGAIN_SECONDS = 0.5
# Smaller than a worker's, so that the end of a run keeps every thread busy.
AT_A_TIME = BATCH // 4


def open_executions(evaluation: Evaluation) -> int:
    """Return how many executions of the evaluation's samples are queued or running."""
    return Execution.objects.open().filter(samples__item__evaluation=evaluation).distinct().count()


def execute_here(evaluation: Evaluation, *, at_once: int) -> None:
    """Execute what is due of the evaluation in `at_once` threads, and return when all has ended, here or elsewhere.

    What a process that is gone had claimed is taken back once its lease is over.
    """
    boxes.keep_warm()
    pool = ThreadPoolExecutor(at_once)
    try:
        while open_executions(evaluation):
            due = Execution.objects.due().filter(samples__item__evaluation=evaluation).order_by("pk")
            parts = [
                part[at : at + AT_A_TIME]
                for part in batches(due.distinct())
                for at in range(0, len(part), AT_A_TIME)
            ]
            if not sum(pool.map(_execute, parts)):
                reconcile.requeue_stale()
                time.sleep(LOOK_AGAIN_SECONDS)
        boxes.lines().close_idle(seconds=0)
    except BaseException:
        pool.shutdown(wait=False, cancel_futures=True)
        boxes.close()  # what is under way is put back at once, so that the next call or a worker goes on
        raise
    finally:
        pool.shutdown()


def _execute(ids: list[int]) -> int:
    try:
        return execute_batch(ids)
    finally:
        if not connection.in_atomic_block:
            connection.close()  # this thread's own
