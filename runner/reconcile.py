"""Make true again what a crash left untrue: claims of dead workers, lost messages, orphaned containers."""

from __future__ import annotations

import logging
import platform
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from datetime import timedelta
from typing import Any, TypeVar

from django.conf import settings
from django.db import connections
from django.db.models import DateTimeField, QuerySet
from django.db.models.functions import Coalesce, Now

from config import cache
from runner import boxes, bulk, claims, modes, obstacles, workers
from runner.claims import ClaimLost
from runner.events import announce
from runner.models import Environment, Execution
from runner.sandbox.base import SandboxUnavailable
from runner.waking import SAMPLES, waiting_messages, wake, wake_batch
from runner.workers import Post

logger = logging.getLogger(__name__)
T = TypeVar("T")

BEAT_SECONDS = 2.0
# A message gets this long to reach a worker before the execution counts as forgotten.
PATIENCE = timedelta(seconds=5)
AT_MOST = 1000
LOST = "The worker was lost while it ran this; another try follows."


def requeue_stale() -> int:
    """Give back executions whose lease is over by the database's clock, and return how many."""
    return _give_back(Execution.objects.stale())


def requeue_boot(boot: str) -> int:
    """Give back what a process that has certainly ended had claimed, and return how many; no lease is waited for."""
    return (
        _give_back(Execution.objects.filter(state=Execution.State.RUNNING, claim__startswith=boot))
        if boot
        else 0
    )


def _give_back(lost: QuerySet[Execution]) -> int:
    """Put each back under the claim it was read with, remove its container, wake a worker."""
    given = 0
    for execution in lost[:AT_MOST]:
        try:
            pause = claims.give_back(execution, reason=LOST)
        except ClaimLost:
            continue
        given += 1
        boxes.remove(f"benchwright-{execution.claim}-{execution.pk}")
        execution.refresh_from_db(fields=["sequence", "state"])
        claims.note_fault(execution, LOST, last=not execution.is_open)
        announce(execution)
        if pause is not None and not execution.scope:  # samples are woken by the batch: wake_forgotten
            wake(execution.pk, queue=execution.queue, after_seconds=pause)
    return given


def wake_forgotten() -> int:
    """Wake a worker for executions that are due while their queue holds fewer messages than that; return how many.

    One too many is harmless, since the claim decides; this keeps a long queue from growing by its own length.
    """
    woken = 0
    since = Coalesce("retry_at", "created_at", output_field=DateTimeField())
    due = Execution.objects.due().alias(since=since).filter(since__lt=Now() - PATIENCE).order_by("pk")
    for queue in Execution.Queue.values:
        single = list(due.filter(queue=queue, scope="").values_list("pk", flat=True)[:AT_MOST])
        woken += sum(wake(pk, queue=queue) for pk in _beyond_messages(single, queue))
    batches = bulk.batches(due.exclude(scope=""))
    return woken + sum(wake_batch(ids) for ids in _beyond_messages(batches, SAMPLES))


def _beyond_messages(forgotten: list[T], queue: str) -> list[T]:
    """Return as many of them as the queue lacks messages for; none where the broker does not answer."""
    waiting = waiting_messages(queue) if forgotten else None
    return [] if waiting is None else forgotten[: max(0, len(forgotten) - waiting)]


def remove_orphans() -> list[str]:
    """Remove containers whose process has ended or whose time is over; none where the engine cannot be reached."""
    with suppress(SandboxUnavailable):
        return boxes.engine().reap()
    return []


def beat(post: Post) -> None:
    """Write the worker's row: alive, what is wrong with its engine, what its host is."""
    facts: dict[str, Any] = {"host": platform.node(), "waiting": boxes.waiting()}
    error = obstacles.look()
    if not error:
        with suppress(SandboxUnavailable):
            facts |= boxes.engine().facts
    facts["images"] = obstacles.images()
    facts["modes"] = modes.known()
    facts["broker"] = cache.answers()
    if not error and not Environment.objects.exclude(image_digest="").exists():
        error = "No environment is built yet. Run: python manage.py build_environments"
    workers.beat(post.worker, engine_error=error, facts=facts)


class Reconciler(threading.Thread):
    """Beats every two seconds and reconciles every RUNNER_RECONCILE_SECONDS, until the process ends.

    `also` is what other apps want done in each round; it must be quick.
    """

    def __init__(self, post: Post, *, also: Sequence[Callable[[], object]] = ()) -> None:
        super().__init__(name="reconciler", daemon=True)
        self.post = post
        self.also = also
        self._ended = threading.Event()
        self._next = 0.0

    def run(self) -> None:
        """Go round until `end()`; a fault is logged and the next round tries again."""
        self._quietly(lambda: requeue_boot(self.post.former_boot))
        while not self._ended.is_set():
            for step in self._steps():
                self._quietly(step)
            connections.close_all()
            self._ended.wait(BEAT_SECONDS)

    def _steps(self) -> list[Callable[[], object]]:
        """Return what this round does."""
        steps: list[Callable[[], object]] = [boxes.follow_environments, lambda: beat(self.post)]
        if time.monotonic() >= self._next:
            self._next = time.monotonic() + settings.RUNNER_RECONCILE_SECONDS
            steps += [requeue_stale, wake_forgotten, remove_orphans, workers.forget_silent, *self.also]
        return steps

    def _quietly(self, step: Callable[[], object]) -> None:
        try:
            step()
        except boxes.Closing:
            self._ended.set()
        except Exception:
            # The database or the engine may be away for a while; this thread must outlive that.
            logger.exception("Reconciling failed and is tried again.")

    def end(self) -> None:
        """Let the thread end after this round."""
        self._ended.set()
