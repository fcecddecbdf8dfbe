"""A worker process: consumers that share one sandbox, and the reconciler. `python -m config.work [QUEUE ...]`.

Celery's thread pool is used, so that all threads share the warm boxes. Interactive work has threads and a consumer of
its own: whatever lies in the other queues cannot take its place.
"""

from __future__ import annotations

import logging
import os
import signal
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import django
from celery import Celery
from celery.worker import state
from django.db import DatabaseError, connection, connections
from kombu.asynchronous import set_event_loop

from config.celery import QUEUES, lane

logger = logging.getLogger("config.work")

# How long running executions may go on after SIGTERM before they are put back into the queue.
GRACE_SECONDS = 3.0
CLOSE_SECONDS = 20.0
WAKE_UPS_ENOUGH = 4
# As in config/web.py: a wake-up passes from the loop to a thread, and a row from the box's thread to the database's.
SWITCH_SECONDS = 0.0005


def main(queues: list[str]) -> int:
    """Work until SIGTERM or SIGINT and return the process's exit status."""
    # The checks import every page; they run when the site is prepared, and a worker shows none.
    os.environ.setdefault("CELERY_SKIP_CHECKS", "1")
    django.setup()
    from runner import boxes, events, modes, reconcile, workers

    # One line for every message, twice, would bury what an operator looks for.
    logging.getLogger("celery").setLevel(logging.WARNING)
    sys.setswitchinterval(SWITCH_SECONDS)
    _keep_connections()
    boxes.keep_warm()
    events.keep_loop()
    post = workers.sign_on(queues)
    bulk = "bulk" in queues
    also: list[Callable[[], object]] = [_wake_bulk_work, boxes.close_idle_lines] if bulk else []
    if "generation" in queues:
        _give_back_generation(post.former_boot)
        also.append(_wake_generation)
    reconciler = reconcile.Reconciler(post, also=also)
    reconciler.start()
    if bulk:
        threading.Thread(target=modes.try_at_start, name="modes", daemon=True).start()
    ended = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: ended.set())
    lanes = [_start(made, threads, post.worker.name) for made, threads in _lanes(queues)]
    logger.info("%s works on %s.", post.worker.name, ", ".join(queues))
    while not ended.wait(0.5) and all(thread.is_alive() for thread in lanes):
        pass
    state.should_stop = 0  # type: ignore[assignment] # the stubs know only its first value, None
    for thread in lanes:
        thread.join(GRACE_SECONDS)
    reconciler.end()
    boxes.close()
    for thread in lanes:
        thread.join(CLOSE_SECONDS)
    with suppress(
        DatabaseError
    ):  # one that is away keeps no worker from ending; its row is forgotten by itself
        workers.sign_off(post.worker)
    return 0 if ended.is_set() else 1


def _keep_connections() -> None:
    """Let each thread keep its connection to SQLite, which takes longer to open than to claim an execution.

    Postgres has a pool, which is no place for connections that are kept. The threads of pages see to theirs
    (config/pages.py).
    """
    if connection.vendor == "sqlite":
        connections.settings["default"]["CONN_MAX_AGE"] = None


def _wake_bulk_work() -> None:
    """Let imports and checks that wait be taken up, unless the queue holds wake-ups enough already."""
    from examples.tasks import wake_bulk_work
    from runner.waking import waiting_messages

    lying = waiting_messages("bulk")
    if lying is not None and lying < WAKE_UPS_ENOUGH:
        wake_bulk_work()


def _wake_generation() -> None:
    """Let fragments that wait be taken up, as `_wake_bulk_work` does for imports and checks."""
    from examples.tasks import wake_generation
    from runner.waking import waiting_messages

    lying = waiting_messages("generation")
    if lying is not None and lying < WAKE_UPS_ENOUGH:
        wake_generation()


def _give_back_generation(former_boot: str) -> None:
    """Give back the fragments of a former process of this worker at once: their leases outlast a question to a model."""
    from examples.generation.claims import give_back_boot

    with suppress(DatabaseError):  # one that is away leaves them to the end of their leases
        give_back_boot(former_boot)


def _lanes(queues: list[str]) -> list[tuple[Celery, int]]:
    """Return an app and a number of threads for interactive work, for generation, and for all other work.

    Threads that ask a model wait most of their time, so they take none of those that execute.
    """
    from django.conf import settings

    other = [queue for queue in queues if queue not in ("interactive", "generation")]
    other += ["samples"] if "bulk" in other and "samples" not in other else []
    lanes = [(["interactive"], settings.RUNNER_INTERACTIVE_THREADS)] if "interactive" in queues else []
    lanes += [(["generation"], settings.LLM_CONCURRENCY)] if "generation" in queues else []
    lanes += [(other, settings.RUNNER_BULK_THREADS)] if other else []
    return [(lane(*names), threads) for names, threads in lanes]


def _start(app: Celery, threads: int, name: str) -> threading.Thread:
    """Start a Celery consumer in a thread and return the thread, which ends when the consumer does."""
    # Each consumer makes its own event loop; Celery would give it the one of the consumer before.
    set_event_loop(None)
    consumer: Any = app.WorkController(
        app=app,
        pool="threads",
        concurrency=threads,
        hostname=f"{app.conf.task_queues[0].name}@{name}",
        without_heartbeat=True,
        without_mingle=True,
        without_gossip=True,
        quiet=True,
    )
    thread = threading.Thread(target=consumer.start, name=f"lane-{consumer.hostname}", daemon=True)
    thread.start()
    return thread


if __name__ == "__main__":
    status = main(sys.argv[1:] or list(QUEUES))
    logging.shutdown()
    # Threads that hang in an engine that never answers must not keep the process.
    os._exit(status)
