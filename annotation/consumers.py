"""ATTEMPT: push the partial that the workspace shows when an execution of the attempt changes."""

from __future__ import annotations

import asyncio
import time
from contextlib import suppress
from typing import Any

from channels.generic.websocket import AsyncWebsocketConsumer
from django.template.loader import render_to_string
from django.utils import timezone

from annotation.models import Attempt
from annotation.panel import panel_of
from annotation.runs import listener_of
from annotation.sockets import group_of
from annotation.workspace import own_attempts, with_example
from config.pages import in_page_thread

# At most 20 times a second, of which two may be close together: an outcome does not wait behind its own first row.
INTERVAL_SECONDS = 0.05
# What is not the end of a run waits this long for what follows: a run of a few milliseconds is drawn once, not thrice.
GATHER_SECONDS = 0.06
SIGNED_OUT = 4401


class AttemptConsumer(AsyncWebsocketConsumer):  # type: ignore[misc] # channels ships no types
    """One page's socket: admits by the page's own rule, sends the page's own partial, accepts no input."""

    groups_joined: tuple[str, ...] = ()
    pending: asyncio.Task[None] | None = None
    due_at = 0.0  # of time.monotonic(): when the next message would come if all came evenly

    async def connect(self) -> None:
        """Admit the attempt's annotator, send the full state, listen."""
        attempt = await self.find()
        if attempt is None:
            await self.close()
            return
        self.groups_joined = (listener_of(attempt), group_of(attempt.annotator_id))
        for group in self.groups_joined:
            await self.channel_layer.group_add(group, self.channel_name)
        await self.accept()
        await self.show()

    async def disconnect(self, code: int) -> None:  # noqa: ARG002 - channels' signature
        """Listen no more."""
        if self.pending:
            self.pending.cancel()
        for group in self.groups_joined:
            await self.channel_layer.group_discard(group, self.channel_name)

    async def receive(self, text_data: str | None = None, bytes_data: bytes | None = None) -> None:
        """Take nothing in: whatever a page has to say goes by HTTP."""

    async def execution_changed(self, event: dict[str, Any]) -> None:
        """Show how things stand, soon: changes that come close together are one message; the end of a run waits least."""
        ended = not event["open"]
        if self.pending and not self.pending.done():
            if not ended:
                return
            self.pending.cancel()
        self.pending = asyncio.create_task(self.show_soon(0 if ended else GATHER_SECONDS))

    async def person_left(self, event: dict[str, Any]) -> None:  # noqa: ARG002 - channels' signature
        """Close: the person signed out or may no longer sign in."""
        await self.close(SIGNED_OUT)

    async def show_soon(self, seconds: float) -> None:
        """Show in so many seconds, or once the next message is at most one interval early, whichever is later."""
        await asyncio.sleep(max(seconds, self.due_at - INTERVAL_SECONDS - time.monotonic()))
        self.pending = None
        await self.show()

    async def show(self) -> None:
        """Send the partial as the database has it now; close where the attempt is no longer this person's to see."""
        self.due_at = max(self.due_at, time.monotonic()) + INTERVAL_SECONDS
        html = await self.rendered()
        if html is None:
            await self.close(SIGNED_OUT)
            return
        with suppress(RuntimeError):  # the page has gone while we were rendering
            await self.send(text_data=html)

    @in_page_thread
    def find(self) -> Attempt | None:
        """Return the attempt of this socket's address, None where it is not this person's."""
        return self.look_up()

    def look_up(self) -> Attempt | None:
        """Return the same, in a thread that may wait for the database."""
        mine = own_attempts(self.scope["user"]).filter(annotator__is_active=True)
        return with_example(mine).filter(pk=self.scope["url_route"]["kwargs"]["pk"]).first()

    @in_page_thread
    def rendered(self) -> str | None:
        """Return the partial, for an out-of-band swap."""
        attempt = self.look_up()
        if attempt is None:
            return None
        panel = panel_of(attempt, now=timezone.now())
        return render_to_string(
            "annotation/_execution.html",
            {"panel": panel, "attempt": attempt, "user": self.scope["user"], "oob": True},
        )
