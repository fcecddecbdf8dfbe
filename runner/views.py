"""Whether the site is well, for monitors, and how the runner stands, for people; nothing here reaches the engine."""

from __future__ import annotations

from django.db import DatabaseError
from django.http import HttpResponse, JsonResponse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET

from config import cache
from config.access import curator_required
from config.http import HttpRequest, render_page
from runner.operations import operations as look
from runner.workers import BROKER_AWAY, engine_trouble

WELL = "ok"


@never_cache
@require_GET
def healthz(request: HttpRequest) -> JsonResponse:  # noqa: ARG001 - the signature of a view
    """Answer {"database", "broker", "worker"}, each "ok" or what is wrong; 503 where one is not "ok"."""
    found = {"database": WELL, "broker": _broker()}
    try:
        trouble = engine_trouble(in_detail=False)
        found["worker"] = WELL if trouble in ("", BROKER_AWAY) else trouble
    except DatabaseError:
        found |= {"database": "does not answer, or is not migrated", "worker": "unknown"}
    return JsonResponse(found, status=200 if set(found.values()) == {WELL} else 503)


def _broker() -> str:
    """Return "ok", or that the broker does not answer, without its own words, which may name hosts."""
    return WELL if cache.answers() else "does not answer"


@require_GET
@curator_required
def operations(request: HttpRequest) -> HttpResponse:
    """Show queues, workers, images, failures and times; the page asks again every few seconds."""
    return render_page(request, "runner/operations.html", {"now": look()}, partial="runner/_operations.html")
