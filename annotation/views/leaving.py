"""ASSIGN: an annotator defers, declines or reports the example that is open, or takes one up again."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.forms import Form
from django.http import HttpResponse
from django.shortcuts import redirect
from django.utils import timezone
from django.views.decorators.http import require_POST

from annotation.attempts import Refused
from annotation.forms.onboarding import BrokenForm, DeclineForm, DeferForm
from annotation.leaving import decline, defer, report_broken, take_up
from annotation.models import Attempt
from annotation.views.workspace import attempt_or_404, keep, show
from config.http import HttpRequest


@require_POST
@login_required
def defer_view(request: HttpRequest, pk: int) -> HttpResponse:
    """Set the example aside; it comes back, with its draft."""

    def act(attempt: Attempt, said: dict[str, Any]) -> str:
        until = defer(attempt, **said, now=timezone.now())
        return f"Set aside with its draft. Its place is kept until {until:%d %b, %H:%M} UTC; take it up again below."

    return _leave(request, pk, "defer_form", DeferForm(request.POST), act)


@require_POST
@login_required
def decline_view(request: HttpRequest, pk: int) -> HttpResponse:
    """Refuse the example for good."""

    def act(attempt: Attempt, said: dict[str, Any]) -> str:
        decline(attempt, **said, now=timezone.now())
        return "Declined: its place is free for others, and you will not get it again."

    return _leave(request, pk, "decline_form", DeclineForm(request.POST), act)


@require_POST
@login_required
def broken_view(request: HttpRequest, pk: int) -> HttpResponse:
    """Report the example to the curators; it is paused until they have decided."""

    def act(attempt: Attempt, said: dict[str, Any]) -> str:
        report_broken(attempt, **said, now=timezone.now())
        return "Reported. Nobody new gets the example until a curator has decided."

    return _leave(request, pk, "broken_form", BrokenForm(request.POST), act)


@require_POST
@login_required
def take_up_view(request: HttpRequest, pk: int) -> HttpResponse:
    """Go on with an example that was set aside."""
    attempt = attempt_or_404(request, pk)
    try:
        take_up(attempt, now=timezone.now())
    except Refused as refused:
        messages.warning(request, str(refused))
        return redirect("work")
    return redirect("workspace", pk)


def _leave(
    request: HttpRequest, pk: int, name: str, form: Form, act: Callable[[Attempt, dict[str, Any]], str]
) -> HttpResponse:
    """Keep the draft, act on what the form says, and lead to My work with the words that come back."""
    attempt = attempt_or_404(request, pk)
    keep(request, attempt)
    if not form.is_valid():
        return _again(request, attempt, name, form)
    try:
        words = act(attempt, form.cleaned_data)
    except Refused as refused:
        return _refused(request, attempt, name, form, refused)
    messages.success(request, words)
    return redirect("work")


def _again(request: HttpRequest, attempt: Attempt, name: str, form: Form) -> HttpResponse:
    """Return the workspace with the form that has errors; who has left the example already is led to My work."""
    if attempt.state != Attempt.State.OPEN:
        messages.error(request, " ".join(str(errors[0]) for errors in form.errors.values()))
        return redirect("work")
    more: dict[str, Any] = {name: form}
    return show(request, attempt, status=422, **more)


def _refused(request: HttpRequest, attempt: Attempt, name: str, form: Form, refused: Refused) -> HttpResponse:
    form.add_error(None, str(refused))
    attempt.refresh_from_db(fields=["state", "ended_at"])
    if attempt.state == Attempt.State.SUBMITTED:
        return redirect("verdict", attempt.pk)
    if attempt.state != Attempt.State.OPEN:
        messages.warning(request, str(refused))
        return redirect("work")
    more: dict[str, Any] = {name: form}
    return show(request, attempt, status=422, **more)
