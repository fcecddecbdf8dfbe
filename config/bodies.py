"""How long a request's body may be: Django keeps all of it, on disk, before any view asks who sends it; imports no app."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any

Scope = dict[str, Any]
Message = Mapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
Asgi = Callable[[Scope, Receive, Send], Awaitable[None]]

USUAL_BYTES = 8 << 20


class BodyLimit:
    """An ASGI application before another: ends requests whose body is too long, whether or not they say its length."""

    def __init__(self, inner: Asgi, *, longer: dict[str, int]) -> None:
        """Let bodies be 8 MiB long, and as long as `longer` says for the paths in it."""
        self.inner = inner
        self.longer = longer

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Hand the request on; answer 413 where the length it names is too much, and hang up where it sends too much."""
        limit = self.longer.get(scope["path"], USUAL_BYTES)
        named = dict(scope["headers"]).get(b"content-length", b"0")
        if named.isdigit() and int(named[:20]) > limit:
            await send({"type": "http.response.start", "status": 413, "headers": [(b"connection", b"close")]})
            await send({"type": "http.response.body", "body": b"This is longer than any request here."})
            return
        seen = 0

        async def counted() -> Message:
            nonlocal seen
            message = await receive()
            seen += len(message.get("body", b""))
            return {"type": "http.disconnect"} if seen > limit else message

        await self.inner(scope, counted, send)
