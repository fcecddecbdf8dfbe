"""Tell listeners that an execution changed: ids only, since the page is rendered from the database."""

from __future__ import annotations

import asyncio
import logging
import threading
from typing import Any

from asgiref.sync import async_to_sync
from channels.layers import get_channel_layer

from runner.models import Execution

logger = logging.getLogger(__name__)

_loop: asyncio.AbstractEventLoop | None = None


def announce(execution: Execution) -> None:
    """Send {"type": "execution.changed", "execution": id, "sequence": n, "open": bool} to the listener, if there is one.

    `open` says whether more is to come.
    A failure is logged and never raised: a page that hears nothing asks by itself. Callers keep to 20 a second
    for one execution (`recording.EVERY_SECONDS`).
    """
    if not execution.listener:
        return
    message = {
        "type": "execution.changed",
        "execution": execution.pk,
        "sequence": execution.sequence,
        "open": execution.is_open,
    }
    try:
        if _loop is None or _loop.is_closed():
            async_to_sync(_send)(execution.listener, message)
        else:
            asyncio.run_coroutine_threadsafe(_send(execution.listener, message), _loop)
    except Exception:
        logger.exception("Nobody could be told that execution %s changed.", execution.pk)


async def _send(group: str, message: dict[str, Any]) -> None:
    """Send to a group of the channel layer; a failure is logged."""
    layer = get_channel_layer()
    if layer is None:
        return
    try:
        await layer.group_send(group, message)
    except Exception as error:
        # The layer raises what its driver raises; an announcement is a hint, and losing one costs 5 s at most.
        logger.warning("The channel layer took no message for %s: %s", group, error)


def use_loop(loop: asyncio.AbstractEventLoop) -> None:
    """Announce through this running loop from now on, so that announcing opens no connection each time."""
    global _loop
    _loop = loop


def keep_loop() -> None:
    """Keep an event loop in a thread of this process for announcements (workers, which have none)."""
    if _loop is None:
        loop = asyncio.new_event_loop()
        use_loop(loop)
        threading.Thread(target=loop.run_forever, name="announcer", daemon=True).start()
