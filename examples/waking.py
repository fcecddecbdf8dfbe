"""Wake a worker for what a row asks; losing the message loses nothing, since the reconciler finds the row."""

from __future__ import annotations

from typing import Any


def wake_on_commit(task: Any, *arguments: int) -> None:
    """Send the task when the transaction commits; a broker that is down is logged and fails no request."""
    task.delay_on_commit(*arguments)  # of config.celery.Task, which the stubs of Celery do not know
