"""What no cache may keep: every answer that does not say otherwise itself; imports no app."""

from __future__ import annotations

from collections.abc import Callable

from django.http import HttpRequest
from django.http.response import HttpResponseBase

PRIVATE = "private, no-store"


class PrivateMiddleware:
    """Let neither a proxy nor a shared computer's browser keep a page: almost all of them are some person's.

    Stands behind WhiteNoise, whose files are everybody's. A view that sets Cache-Control has decided for itself.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        """Return the answer, private unless it says otherwise."""
        response = self.get_response(request)
        response.headers.setdefault("Cache-Control", PRIVATE)
        return response
