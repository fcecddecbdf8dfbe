"""MODELS: the HTTP client of an OpenAI-compatible endpoint; standard library only."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Mapping
from functools import cache
from http.client import HTTPException, HTTPResponse
from typing import IO, Any
from urllib.error import HTTPError, URLError
from urllib.request import HTTPRedirectHandler, Request, build_opener

from django.conf import settings

from examples.llm.base import ModelRefused, Reply
from examples.llm.patience import TryLater, asked_pause

LARGEST_BODY = 4 << 20
PIECE = 64 << 10
SAID = 300
MOST_TOKENS = 10**9
# Turned away for now, before anything was computed; 408 and 409 are sent by gateways in front of models.
LATER = (408, 409, 425, 429)


class _NoRedirect(HTTPRedirectHandler):
    """Follow nothing: the key would go along to wherever the endpoint points."""

    def redirect_request(self, *_: Any) -> None:
        """Return None, which makes the redirect an error."""


class Endpoint:
    """A model behind `base_url`/chat/completions; at most `concurrency` requests of this process are under way.

    `timeout` is the time in seconds that one request may take in all, from connecting to the last byte.
    """

    def __init__(self, base_url: str, *, key: str = "", timeout: float = 300.0, concurrency: int = 4) -> None:
        if not base_url.startswith(("http://", "https://")):
            raise ModelRefused(
                f"{base_url!r} is no address of an endpoint: begin it with https:// or http://."
            )
        self.base_url = base_url.rstrip("/")
        self.timeout = timeout
        self._key = key
        self._room = threading.BoundedSemaphore(concurrency)
        self._opener = build_opener(_NoRedirect)

    def answer(self, request: Mapping[str, Any]) -> Reply:
        """Send the request once. Raises TryLater (busy, broken, silent, unreadable) or ModelRefused."""
        with self._room:
            return _read_reply(self._post(json.dumps(request).encode()))

    def _post(self, body: bytes) -> bytes:
        """Return the body of the answer."""
        headers = {"Content-Type": "application/json", "Accept": "application/json"}
        if self._key:
            headers["Authorization"] = f"Bearer {self._key}"
        request = Request(f"{self.base_url}/chat/completions", data=body, headers=headers)  # noqa: S310 - see __init__
        until = time.monotonic() + self.timeout
        try:
            with self._opener.open(request, timeout=self.timeout) as response:
                return _read(response, until)
        except HTTPError as error:
            with error:
                raise self._failure(error) from error
        except URLError as error:
            refused = isinstance(error.reason, ConnectionRefusedError)
            raise TryLater(f"The endpoint cannot be reached: {error.reason}.", charged=not refused) from error
        except (OSError, HTTPException) as error:
            said = str(error) or type(error).__name__
            raise TryLater(f"The endpoint broke off: {said}.") from error

    def _failure(self, error: HTTPError) -> Exception:
        """Return what an HTTP status means for us, with the endpoint's own words."""
        said = f"The endpoint answers {error.code}: {self._without_key(_said(error))}"
        if error.code in LATER or error.code >= 500:
            after = asked_pause(error.headers.get("Retry-After"))
            return TryLater(said, after=after, charged=error.code not in LATER)
        return ModelRefused(said)

    def _without_key(self, text: str) -> str:
        """Return the text without the key, which some endpoints repeat in their errors."""
        return text.replace(self._key, "…") if self._key else text


@cache
def configured() -> Endpoint:
    """Return the endpoint that the settings name, one for this process. Raises ModelRefused where none is named."""
    if not settings.LLM_BASE_URL:
        raise ModelRefused(
            "No endpoint is set. Set BENCHWRIGHT_LLM_URL, and BENCHWRIGHT_LLM_KEY where it asks for one."
        )
    return Endpoint(
        settings.LLM_BASE_URL,
        key=settings.LLM_KEY,
        timeout=settings.LLM_TIMEOUT_SECONDS,
        concurrency=settings.LLM_CONCURRENCY,
    )


def _read(response: HTTPResponse, until: float) -> bytes:
    """Return the body, read piece by piece, so that one that drips without an end is given up. Raises TryLater."""
    pieces, size = [], 0
    while piece := response.read1(PIECE):
        pieces.append(piece)
        size += len(piece)
        if size > LARGEST_BODY:
            raise TryLater(f"The answer has more than {LARGEST_BODY >> 20} MiB.")
        if time.monotonic() > until:
            raise TryLater("The answer took too long.")
    return b"".join(pieces)


def _read_reply(body: bytes) -> Reply:
    """Return the reply that a body holds. Raises TryLater where it holds none."""
    try:
        whole = json.loads(body)
        choice = whole["choices"][0]
        text = choice["message"].get("content") or choice["message"].get("refusal") or ""
        usage = whole.get("usage") or {}
        return Reply(
            text=str(text),
            finish=str(choice.get("finish_reason") or "")[:40],
            prompt_tokens=_count(usage.get("prompt_tokens")),
            completion_tokens=_count(usage.get("completion_tokens")),
        )
    except (ValueError, KeyError, IndexError, TypeError, AttributeError) as error:
        start = body[:SAID].decode("utf-8", "replace")
        raise TryLater(f"The answer is no chat completion: {start!r}.") from error


def _count(value: Any) -> int | None:
    """Return a number of tokens as the endpoint gives it, None for what can be none."""
    fit = isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= MOST_TOKENS
    return value if fit else None


def _said(error: IO[bytes]) -> str:
    """Return the beginning of what an error's body says."""
    try:
        return " ".join(error.read(SAID).decode("utf-8", "replace").split())
    except (OSError, HTTPException):
        return ""
