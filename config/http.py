"""What every view shares: the typed request and `render_page`, a page or one of its partials; imports no app."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest as DjangoRequest
from django.http import HttpResponse
from django.shortcuts import render
from django.utils.cache import patch_vary_headers
from django_htmx.middleware import HtmxDetails


class HttpRequest(DjangoRequest):
    """A request as our middleware leaves it: signed-in user and htmx details."""

    user: Any
    htmx: HtmxDetails


def render_page(
    request: HttpRequest,
    template: str,
    context: dict[str, Any] | None = None,
    *,
    partial: str | None = None,
    status: int = 200,
) -> HttpResponse:
    """Return the whole page, or only its shared or inline partial when htmx asked for that.

    `partial` is the name of a template file (`annotation/_execution.html`) rendered alone for htmx requests.
    Boosted and history-restore requests always get the whole page. `Vary: HX-Request` keeps caches honest.
    """
    alone = partial and request.htmx and not request.htmx.boosted and not request.htmx.history_restore_request
    response = render(request, partial if alone and partial else template, context, status=status)
    patch_vary_headers(response, ["HX-Request"])
    return response
