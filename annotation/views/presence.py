"""TIME: the beats of an open workspace, pausing and going on."""

from __future__ import annotations

from typing import Any

from django.contrib.auth.decorators import login_required
from django.http import HttpResponse, JsonResponse
from django.shortcuts import redirect
from django.utils import timezone
from django.views.decorators.http import require_POST

from annotation import beats, pastes
from annotation.attempts import progress_of, settle
from annotation.models import Attempt
from annotation.views.workspace import bare_attempt_or_404, wants_json
from config.http import HttpRequest

MAX_MS = 2**31 - 1


@require_POST
@login_required
def beat(request: HttpRequest, pk: int) -> HttpResponse:
    """Store a sign of life, and answer with the clock: active seconds, limit, state, and whether the slot is still held."""
    attempt = bare_attempt_or_404(request, pk)
    _stay_signed_in(request)
    if attempt.state != Attempt.State.OPEN:
        return JsonResponse(_clock(attempt, held=False))
    since = request.POST.get("ms_since_input", "")
    held = beats.beat(
        attempt,
        tab=request.POST.get("tab", "")[:40],
        visible=request.POST.get("visible") == "true",
        ms_since_input=min(int(since), MAX_MS) if since.isascii() and since.isdigit() else None,
        now=timezone.now(),
    )
    return JsonResponse(_clock(attempt, held=held))


def _stay_signed_in(request: HttpRequest) -> None:
    """Let the session of somebody who works end later: its two weeks begin anew, written once a day."""
    today = timezone.now().toordinal()
    if request.session.get("worked_on") != today:
        request.session["worked_on"] = today


def _clock(attempt: Attempt, *, held: bool) -> dict[str, Any]:
    progress = progress_of(attempt)
    settle(attempt, now=timezone.now(), progress=progress)
    return {
        "active": round(progress.active_seconds, 1),
        "limit": progress.limit_seconds,
        "idle_limit": attempt.protocol.idle_limit_seconds,
        "state": attempt.state,
        "paused": beats.is_paused(attempt),
        "held": held,
    }


@require_POST
@login_required
def paste(request: HttpRequest, pk: int) -> HttpResponse:
    """Store how much was pasted from where; 204 whether or not it is kept, 422 for what no page of ours sends."""
    attempt = bare_attempt_or_404(request, pk)
    sent = request.POST
    try:
        pastes.record_paste(
            attempt,
            key=sent["key"][:64],
            editor=sent["editor"],
            origin=sent["origin"],
            characters=_count(sent["characters"]),
            lines=_count(sent["lines"]),
        )
    except (KeyError, ValueError):
        return HttpResponse(status=422)
    return HttpResponse(status=204)


def _count(text: str) -> int:
    """Return a count as a page sends it. Raises ValueError for anything else."""
    if not (text.isascii() and text.isdigit() and len(text) < 12):
        raise ValueError(text)
    return int(text)


@require_POST
@login_required
def pause(request: HttpRequest, pk: int) -> HttpResponse:
    """Stop the clock."""
    attempt = bare_attempt_or_404(request, pk)
    if attempt.state == Attempt.State.OPEN:
        beats.pause(attempt, now=timezone.now())
    return JsonResponse({"paused": True}) if wants_json(request) else redirect("workspace", pk)


@require_POST
@login_required
def resume(request: HttpRequest, pk: int) -> HttpResponse:
    """Let the clock go on."""
    beats.resume(bare_attempt_or_404(request, pk), now=timezone.now())
    return redirect("workspace", pk)
