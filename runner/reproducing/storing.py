"""A place that goes the site's own way: executions are saved, claimed, run, judged, and read back."""

from __future__ import annotations

import secrets
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from django.db import connection

from runner.bulk import BATCH, enqueue_many, execute_batch
from runner.models import Environment, Execution
from runner.outcome import Outcome
from runner.queueing import LOOK_AGAIN_SECONDS, execute_now
from runner.reproducing.running import Came
from runner.sandbox.base import Job


@dataclass(frozen=True)
class Stored:
    """Executions of a queue, executed by this process, or by whatever worker is faster; they stay in the database.

    All of one object share a scope, so that their samples share containers with each other and nobody else.
    """

    environment: Environment
    queue: str
    scope: str = field(default_factory=lambda: f"reproduce-{secrets.token_hex(6)}")

    @property
    def takes(self) -> int:
        """Return how many jobs it is best given at a time."""
        return BATCH if self.queue == Execution.Queue.BULK else 1

    def run(self, jobs: Sequence[Job]) -> Iterator[Came]:
        """Yield what came of each job, all at the end of the batch."""
        try:
            if self.queue == Execution.Queue.BULK:
                done = self._batch(jobs)
            else:
                done = [execute_now(job, environment=self.environment, queue=self.queue) for job in jobs]
        finally:
            if not connection.in_atomic_block:
                connection.close()  # this thread's own
        for number, execution in enumerate(done):
            yield _came(number, execution)

    def _batch(self, jobs: Sequence[Job]) -> list[Execution]:
        """Return the executions of a batch when all have ended."""
        made = enqueue_many(jobs, environment=self.environment, scope=self.scope)
        ids = [execution.pk for execution in made]
        while Execution.objects.filter(pk__in=ids).open().exists():
            if not execute_batch(ids):
                time.sleep(LOOK_AGAIN_SECONDS)
        return list(Execution.objects.filter(pk__in=ids).order_by("pk"))


def _came(number: int, execution: Execution) -> Came:
    return Came(
        number,
        Outcome(execution.outcome) if execution.outcome else None,
        execution.cpu_seconds or 0.0,
        execution.wall_seconds or 0.0,
        execution.memory_bytes or 0,
        str(execution.facts.get("mode", "")),
        reason=execution.reason,
    )
