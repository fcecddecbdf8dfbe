"""How a request is answered: middleware and view in one thread, out of a few that stay and keep their connection."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from functools import wraps
from typing import Any, Concatenate, ParamSpec, TypeVar

from asgiref.sync import sync_to_async
from django.core.handlers.asgi import ASGIHandler
from django.db import connections
from django.http import HttpRequest
from django.http.response import HttpResponseBase

from config.bodies import Receive, Send
from runner import events

Owner = TypeVar("Owner")
Parameters = ParamSpec("Parameters")
Returned = TypeVar("Returned")

# Pages compute more than they wait, and only one thread computes at a time: more of them would take turns, not work.
THREADS = 4
_threads = ThreadPoolExecutor(THREADS, thread_name_prefix="page")


class PageHandler(ASGIHandler):
    """Django's handler for views that all are functions without `await`.

    Django's own makes a thread and a connection for every request, and passes between thread and event loop at each
    change of kind: 24 ms of processor time a request where this needs 13 (docs/decisions/page-threads.md).
    """

    async def __call__(self, scope: dict[str, Any], receive: Receive, send: Send) -> None:
        """Answer a request; the signals of its start and end come in one thread that all requests share.

        For those few microseconds Django would start and join a thread: an eighth of what a request costs.
        """
        await self.handle(scope, receive, send)

    def load_middleware(self, is_async: bool = False) -> None:  # noqa: ARG002 - Django's signature; it asks for True
        """Let all middleware run in the view's thread."""
        super().load_middleware(is_async=False)

    async def get_response_async(self, request: HttpRequest) -> HttpResponseBase:
        """Return the response of the whole chain, run in one of our threads."""
        events.use_loop(asyncio.get_running_loop())
        return await sync_to_async(self._respond, thread_sensitive=False, executor=_threads)(request)

    def _respond(self, request: HttpRequest) -> HttpResponseBase:
        try:
            return self.get_response(request)
        finally:
            _keep_sound_connections()


def in_page_thread(
    method: Callable[Concatenate[Owner, Parameters], Returned],
) -> Callable[Concatenate[Owner, Parameters], Awaitable[Returned]]:
    """Return the method of a consumer as one to be awaited, run in a page's thread with the connection that it keeps.

    Channels' `database_sync_to_async` has one thread for all consumers, and opens a connection for every call.
    """

    @wraps(method)
    def run(self: Owner, /, *args: Parameters.args, **named: Parameters.kwargs) -> Returned:
        try:
            return method(self, *args, **named)
        finally:
            _keep_sound_connections()

    return sync_to_async(run, thread_sensitive=False, executor=_threads)


def _keep_sound_connections() -> None:
    """Close those of this thread's connections that an error has left unusable; the next request looks at the others.

    One to SQLite cannot go away, and has no look taken at it.
    """
    for connection in connections.all(initialized_only=True):
        if connection.errors_occurred:
            connection.close_if_unusable_or_obsolete()
        connection.health_check_done = False  # type: ignore[attr-defined] # the stubs lack it
