"""Responses that flow: chunk by chunk, in flat memory, under ASGI as under WSGI; imports no app."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Generator, Iterator
from concurrent.futures import ThreadPoolExecutor

from asgiref.sync import sync_to_async
from django.core.handlers.asgi import ASGIRequest
from django.db import connections
from django.http import HttpRequest, StreamingHttpResponse
from django.utils.http import content_disposition_header

NDJSON = "application/x-ndjson; charset=utf-8"
CSV = "text/csv; charset=utf-8"


def stream(
    request: HttpRequest,
    chunks: Iterator[bytes],
    *,
    content_type: str,
    filename: str = "",
    size_bytes: int | None = None,
    sha256: str = "",
) -> StreamingHttpResponse:
    """Return a response that sends the chunks as they are made; `filename` lets the browser save it.

    Django reads a plain iterator to its end before it sends anything under ASGI, so there it is read step by step in a
    thread of its own, with a connection of its own. A known hash becomes the ETag.
    """
    pieces = (chunk for chunk in chunks if chunk)  # an empty one could end the body
    body = _stepwise(pieces) if isinstance(request, ASGIRequest) else pieces
    response = StreamingHttpResponse(body, content_type=content_type)
    if filename:
        response["Content-Disposition"] = content_disposition_header(True, filename) or "attachment"
    if size_bytes is not None:
        response["Content-Length"] = str(size_bytes)
    if sha256:
        response["ETag"] = f'"{sha256}"'
    response["Cache-Control"] = "private, no-store"
    return response


async def _stepwise(chunks: Iterator[bytes]) -> AsyncIterator[bytes]:
    own = ThreadPoolExecutor(1, thread_name_prefix="stream")

    async def there(step: Callable[[], bytes | None]) -> bytes | None:
        return await sync_to_async(step, thread_sensitive=False, executor=own)()

    try:
        # StopIteration cannot leave a thread
        while (chunk := await there(lambda: next(chunks, None))) is not None:
            yield chunk
    finally:
        # Also where the reader has gone: nobody waits for the thread, which ends when it has tidied up.
        own.submit(_end, chunks)
        own.shutdown(wait=False)


def _end(chunks: Iterator[bytes]) -> None:
    """Leave the thread of a stream with nothing open."""
    if isinstance(chunks, Generator):
        chunks.close()
    connections.close_all()
