"""ATTEMPT: the workspace page, and what it sends: drafts, runs, submissions, giving up."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from uuid import uuid4

from django.contrib.auth.decorators import login_required
from django.http import HttpResponse, JsonResponse
from django.shortcuts import get_object_or_404, redirect
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_GET, require_POST

from annotation import beats, runs
from annotation.attempts import AttemptOver, Refused, give_up
from annotation.drafts import ClockStopped, DraftConflict, current_draft, save_draft
from annotation.forms.verdict import GiveUpForm
from annotation.limits import TooMany
from annotation.models import Attempt, Draft, Run
from annotation.panel import panel_of
from annotation.workspace import (
    LINES_COMPARED,
    comparable,
    context_view,
    difference_of,
    own_attempts,
    with_example,
)
from config.http import HttpRequest, render_page

START = "annotation/workspace.html"
PANEL = "annotation/_execution.html"
CHANGES = "annotation/run_changes.html"


def wants_json(request: HttpRequest) -> bool:
    """Whether the page's script asks, not the browser by itself."""
    return "application/json" in request.headers.get("Accept", "")


def attempt_or_404(request: HttpRequest, pk: int) -> Attempt:
    """Return the person's own attempt, with what is shown of its example."""
    return get_object_or_404(with_example(own_attempts(request.user)), pk=pk)


def bare_attempt_or_404(request: HttpRequest, pk: int) -> Attempt:
    """Return the person's own attempt with its slot, for what is asked every few seconds."""
    return get_object_or_404(own_attempts(request.user).select_related("slot__study", "protocol"), pk=pk)


@require_GET
@login_required
def workspace(request: HttpRequest, pk: int) -> HttpResponse:
    """The example, the editor, the tests; the verdict's page once the work has ended."""
    return show(request, attempt_or_404(request, pk))


def show(
    request: HttpRequest,
    attempt: Attempt,
    *,
    status: int = 200,
    draft: Draft | None = None,
    **more: Any,
) -> HttpResponse:
    """Return the whole workspace, or the way to the verdict; `draft` is shown instead of the stored one."""
    panel = panel_of(attempt, now=timezone.now(), **_asked(request), timed=True)
    if attempt.state in (Attempt.State.SUBMITTED, Attempt.State.CLOSED):
        return redirect("verdict", attempt.pk)
    if attempt.state in (Attempt.State.DEFERRED, Attempt.State.DECLINED, Attempt.State.REPORTED):
        return redirect("work")  # left by its person; deferred, it is taken up again from there
    version = attempt.slot.version
    context = {
        "attempt": attempt,
        "version": version,
        "study": attempt.slot.study,
        "context": context_view(version),
        "panel": panel,
        "draft": draft or current_draft(attempt),
        "paused": beats.is_paused(attempt),
        "key": uuid4(),
        "give_up_form": GiveUpForm(),
        **more,
    }
    return render_page(request, START, context, status=status)


@require_GET
@login_required
def execution(request: HttpRequest, pk: int) -> HttpResponse:
    """The panel below the editor, for polling when the socket is silent."""
    attempt = attempt_or_404(request, pk)
    return _panel(request, attempt)


@require_POST
@login_required
def draft(request: HttpRequest, pk: int) -> HttpResponse:
    """Save what the editor holds: the new revision, or 409 with what is stored where another page was faster.

    Refused otherwise the page keeps the text: 410 once the work has ended, 423 while the clock is stopped, 429 where it
    was saved too often, 422 where the text itself is the reason.
    """
    attempt = bare_attempt_or_404(request, pk)
    try:
        stored = save_draft(
            attempt, **_code(request), base_revision=_number(request.POST.get("base_revision")) or 0
        )
    except DraftConflict as conflict:
        return _conflict(request, attempt, conflict.current)
    except Refused as refused:
        return _not_saved(request, attempt, refused)
    if not wants_json(request):
        return redirect("workspace", pk)
    return JsonResponse(_saved(stored))


def _not_saved(request: HttpRequest, attempt: Attempt, refused: Refused) -> HttpResponse:
    """Say why, to the page's script in a word; without script the page comes back with the writer's own text."""
    status = _status_of(refused)
    if wants_json(request):
        answer: HttpResponse = JsonResponse({"message": str(refused)}, status=status)
    else:
        own = Draft(attempt=attempt, revision=current_draft(attempt).revision, **_code(request))
        answer = show(request, attempt, status=status, draft=own, refusal=str(refused))
    return _try_again_later(answer, refused)


def _status_of(refused: Refused) -> int:
    kinds = ((AttemptOver, 410), (ClockStopped, 423), (TooMany, 429))
    return next((status for kind, status in kinds if isinstance(refused, kind)), 422)


def _try_again_later(answer: HttpResponse, refused: Refused) -> HttpResponse:
    if isinstance(refused, TooMany):
        answer["Retry-After"] = str(refused.seconds)
    return answer


def _conflict(request: HttpRequest, attempt: Attempt, current: Draft) -> HttpResponse:
    """Answer 409 with the stored text and what differs: the page asks which to go on with.

    Without script the page comes back with the writer's own text.
    """
    own = Draft(attempt=attempt, revision=current.revision, **_code(request))
    difference = difference_of(current, own)
    if wants_json(request):
        stored = {"function": current.function, "module": current.module, "diff": difference}
        return JsonResponse(_saved(current) | stored, status=409)
    attempt = attempt_or_404(request, attempt.pk)
    return show(request, attempt, status=409, draft=own, conflict=current, difference=difference)


def _saved(stored: Draft) -> dict[str, Any]:
    at = stored.saved_at if stored.pk else None
    return {"revision": stored.revision, "saved_at": f"{at:%H:%M:%S}" if at else ""}


@require_POST
@login_required
def run(request: HttpRequest, pk: int) -> HttpResponse:
    """Run the visible tests on the code of this request."""
    return _start(request, pk, runs.run_visible)


@require_POST
@login_required
def scratch(request: HttpRequest, pk: int) -> HttpResponse:
    """Run the annotator's own snippet behind the code of this request."""
    return _start(request, pk, runs.run_scratch, snippet=request.POST.get("snippet", ""))


@require_POST
@login_required
def submit(request: HttpRequest, pk: int) -> HttpResponse:
    """Submit the code of this request, for the record."""
    return _start(request, pk, runs.submit)


def _start(request: HttpRequest, pk: int, start: Callable[..., Run], **more: str) -> HttpResponse:
    """Keep the code as a draft where nothing speaks against it, start the run, and show the panel."""
    attempt = attempt_or_404(request, pk)
    keep(request, attempt)
    key, now = request.POST.get("key", "")[:64] or str(uuid4()), timezone.now()
    try:
        runs.refuse_other(**_code(request), sha256=request.POST.get("sha256", ""))
        start(attempt, **_code(request), **more, key=key, now=now)
    except AttemptOver as over:
        return _over(request, attempt, over)
    except Refused as refused:
        answer = _panel(request, attempt, refusal=str(refused), status=_status_of(refused))
        return _try_again_later(answer, refused)
    if not request.htmx:
        return redirect("workspace", pk)
    if "listens" in request.POST:  # the page has its socket, where the panel comes as it changes
        return HttpResponse(status=204)
    attempt.refresh_from_db(
        fields=["state", "ended_at"]
    )  # all of it would fetch slot, study and version again
    return _panel(request, attempt)


def keep(request: HttpRequest, attempt: Attempt) -> None:
    """Store the code as a draft; a conflict is not this request's matter, since the run keeps its own code."""
    base = _number(request.POST.get("base_revision"))
    if base is None:
        return
    try:
        save_draft(attempt, **_code(request), base_revision=base)
    except (DraftConflict, Refused):
        return


def _over(request: HttpRequest, attempt: Attempt, over: AttemptOver) -> HttpResponse:
    """Say that the work has ended; where the verdict is due, lead there."""
    attempt.refresh_from_db()
    if attempt.state in (Attempt.State.SUBMITTED, Attempt.State.CLOSED):
        answer = HttpResponse(status=204) if request.htmx else redirect("verdict", attempt.pk)
        if request.htmx:
            answer["HX-Redirect"] = reverse("verdict", args=[attempt.pk])
        return answer
    return _panel(request, attempt, refusal=str(over), status=422)


def _panel(request: HttpRequest, attempt: Attempt, *, status: int = 200, refusal: str = "") -> HttpResponse:
    """Return the panel for htmx, the whole page otherwise."""
    if not request.htmx:
        return show(request, attempt, status=status, refusal=refusal)
    panel = panel_of(attempt, now=timezone.now(), **_asked(request))
    context = {"panel": panel, "attempt": attempt, "refusal": refusal}
    return render_page(request, PANEL, context, status=status)


def _asked(request: HttpRequest) -> dict[str, Any]:
    """Return which run and how many of them the address asks for: `?run=3`, `?runs=all`."""
    return {"number": _number(request.GET.get("run")), "complete": request.GET.get("runs") == "all"}


@require_GET
@login_required
def run_changes(request: HttpRequest, pk: int) -> HttpResponse:
    """What changed in the code between two runs, in whichever order they are asked for."""
    attempt = attempt_or_404(request, pk)
    asked = {name: _number(request.GET.get(name)) for name in ("from", "to")}
    found = {run.number: run for run in attempt.runs.filter(number__in=[*filter(None, asked.values())])}
    before, after = (found.get(asked[name] or 0) for name in ("from", "to"))
    context = {
        "attempt": attempt,
        "version": attempt.slot.version,
        "before": before,
        "after": after,
        "too_long": LINES_COMPARED if not comparable(before, after) else 0,
    }
    return render_page(request, CHANGES, context, partial="annotation/_run_changes.html")


@require_POST
@login_required
def give_up_view(request: HttpRequest, pk: int) -> HttpResponse:
    """End the work without a solution, with a reason; then the verdict."""
    attempt = attempt_or_404(request, pk)
    keep(request, attempt)
    form = GiveUpForm(request.POST)
    if not form.is_valid():
        return show(request, attempt, status=422, give_up_form=form)
    try:
        give_up(attempt, reason=form.cleaned_data["reason"], now=timezone.now())
    except Refused as refused:
        form.add_error("reason", str(refused))
        return show(request, attempt, status=422, give_up_form=form)
    return redirect("verdict", pk)


def _code(request: HttpRequest) -> dict[str, str]:
    """Return both regions with plain line breaks: a form sends CRLF whatever was typed."""
    return {name: request.POST.get(name, "").replace("\r\n", "\n") for name in ("function", "module")}


def _number(text: str | None) -> int | None:
    return int(text) if text and text.isascii() and text.isdigit() and len(text) < 10 else None
