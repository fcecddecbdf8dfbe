"""Wake a worker: a message names an execution and carries nothing else; losing one loses no work."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import Any

from celery import current_app

from config import cache

logger = logging.getLogger(__name__)

TASK, BATCH_TASK = "runner.execute", "runner.execute_batch"
# The messages of evaluation runs have a queue of their own, from which bulk workers take in turn with the other.
SAMPLES = "samples"


def wake(execution_id: int, *, queue: str, after_seconds: float = 0) -> bool:
    """Tell a worker of the queue that the execution is due and return whether the broker took the message.

    A broker that is down is logged and never raised: the row stays queued and the reconciler wakes again.
    """
    return _send(TASK, execution_id, queue=queue, after_seconds=after_seconds)


def wake_batch(execution_ids: Sequence[int]) -> bool:
    """Tell a bulk worker that these samples of one evaluation run are due, as `wake` does for one."""
    return _send(BATCH_TASK, list(execution_ids), queue=SAMPLES)


def _send(task: str, what: int | list[int], *, queue: str, after_seconds: float = 0) -> bool:
    if cache.away():
        return False  # found out a moment ago; asking again would cost this request another timeout
    try:
        current_app.send_task(task, args=[what], queue=queue, countdown=after_seconds or None, retry=False)
    except Exception as error:
        # Every transport raises its own classes here, and none of them is a reason to lose the request.
        logger.warning("Execution %s waits for the reconciler: no broker (%s).", what, error)
        cache.note_away()
        return False
    return True


def waiting_messages(queue: str) -> int | None:
    """Return how many messages lie in the queue that no worker has taken, None when the broker does not answer."""
    try:
        with current_app.connection_for_read() as connection:
            connection.ensure_connection(max_retries=1, timeout=2)
            channel: Any = connection.default_channel  # the stubs know no method of a channel
            try:
                return int(channel.queue_declare(queue, passive=True).message_count)
            except connection.channel_errors:
                return 0  # nothing was ever sent to it
    except Exception as error:
        logger.warning("The broker does not answer: %s", error)
        return None
