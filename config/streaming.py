"""Responses that flow: chunk by chunk, in flat memory, under ASGI as under WSGI; imports no app."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator

from asgiref.sync import sync_to_async
from django.core.handlers.asgi import ASGIRequest
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

    Django reads a plain iterator to its end before it sends anything under ASGI, so there it is read step by step in
    the request's own thread. A known hash becomes the ETag.
    """
    pieces = filter(None, chunks)  # an empty chunk could end the body
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
    while (chunk := await sync_to_async(_taken, thread_sensitive=True)(chunks)) is not None:
        yield chunk


def _taken(chunks: Iterator[bytes]) -> bytes | None:
    """Return the next chunk, None at the end: StopIteration cannot leave a thread."""
    return next(chunks, None)
