"""REPLAY: the attempts of a study, one of them in the order of time, its events as a file, and a verdict given back."""

from __future__ import annotations

from datetime import timedelta

from django.contrib import messages
from django.core.paginator import Paginator
from django.db.models import Count, Q
from django.http import HttpResponse, HttpResponseBase
from django.shortcuts import get_object_or_404, redirect
from django.utils import timezone
from django.views.decorators.http import require_GET, require_POST

from annotation.attempts import Refused
from annotation.closing import reopen, why_not_reopened
from annotation.exporting import attempt_events
from annotation.forms.verdict import ReopenForm
from annotation.models import Attempt, Run, Study, User
from annotation.replay.bar import key
from annotation.replay.moment import moment_of
from annotation.replay.timeline import KINDS, timeline_of
from config.access import curator_required
from config.http import HttpRequest, render_page
from config.streaming import NDJSON, stream
from examples.models import AuditEntry, audit

PAGE, MOMENT = "annotation/replay.html", "annotation/_moment.html"
LOOKED = "attempt replayed"
# Moving through an attempt asks for a moment at every step; it is one look as long as no more time lies between two.
SAME_LOOK = timedelta(minutes=10)
ON_A_PAGE = 50


@require_GET
@curator_required
def study_attempts(request: HttpRequest, name: str) -> HttpResponse:
    """List a study's attempts, each with the way to its replay."""
    study = get_object_or_404(Study.objects.visible_to(request.user), name=name)
    found = (
        Attempt.objects.filter(slot__study=study)
        .select_related("annotator", "verdict", "slot__version__example__dataset")
        .annotate(
            tried=Count("runs", filter=~Q(runs__kind=Run.Kind.SUBMISSION)),
            submitted=Count("runs", filter=Q(runs__kind=Run.Kind.SUBMISSION)),
        )
        .order_by("-started_at", "-pk")
    )
    page = Paginator(found, ON_A_PAGE).get_page(request.GET.get("page"))
    return render_page(request, "annotation/study_attempts.html", {"study": study, "page": page})


@require_GET
@curator_required
def replay(request: HttpRequest, pk: int) -> HttpResponse:
    """Show an attempt in the order of time and the code at one moment: `?at=` a step, `?against=` the one compared with."""
    attempt = _attempt_or_404(request, pk)
    _log(request.user, attempt, moving=bool(request.htmx))
    return _show(request, attempt, ReopenForm())


def _show(request: HttpRequest, attempt: Attempt, form: ReopenForm, *, status: int = 200) -> HttpResponse:
    timeline = timeline_of(attempt)
    moment = moment_of(timeline, at=_number(request, "at"), against=_number(request, "against"))
    context = {
        "attempt": attempt,
        "version": attempt.slot.version,
        "study": attempt.slot.study,
        "timeline": timeline,
        "moment": moment,
    }
    more = {
        "form": form,
        "legend": [key(kind) for kind in KINDS],
        "why_not": why_not_reopened(attempt, request.user),
    }
    return render_page(request, PAGE, context | more, partial=MOMENT, status=status)


@require_GET
@curator_required
def replay_events(request: HttpRequest, pk: int) -> HttpResponseBase:
    """Send everything recorded of an attempt as JSON Lines, in the order of time, under the study's pseudonym."""
    attempt = _attempt_or_404(request, pk)
    audit(request.user, "attempt exported", f"attempt:{attempt.pk}")
    filename = f"{attempt.slot.study.name}-attempt-{attempt.pk}.jsonl"
    return stream(request, attempt_events(attempt), content_type=NDJSON, filename=filename)


@require_POST
@curator_required
def verdict_reopen(request: HttpRequest, pk: int) -> HttpResponse:
    """Give a closed verdict back to its annotator, with a reason."""
    attempt = _attempt_or_404(request, pk)
    form = ReopenForm(request.POST)
    if form.is_valid():
        try:
            reopen(attempt, reason=form.cleaned_data["reason"], by=request.user, now=timezone.now())
        except Refused as refused:
            form.add_error("reason", str(refused))
        else:
            messages.success(request, "Given back. Its annotator finds it under My work.")
            return redirect("replay", pk)
    return _show(request, attempt, form, status=422)


def _attempt_or_404(request: HttpRequest, pk: int) -> Attempt:
    found = Attempt.objects.visible_to(request.user).select_related(
        "annotator",
        "protocol",
        "verdict",
        "reveal__judgement",
        "slot__study",
        "slot__version__example__dataset",
        "slot__version__environment",
    )
    return get_object_or_404(found, pk=pk)


def _log(person: User, attempt: Attempt, *, moving: bool) -> None:
    """Log a look at somebody else's attempt; of one who moves through it, only the first in a while."""
    if person.pk == attempt.annotator_id:
        return
    subject = f"attempt:{attempt.pk}"
    looks = AuditEntry.objects.filter(subject=subject, person=person, action=LOOKED)
    if not moving or not looks.filter(at__gt=timezone.now() - SAME_LOOK).exists():
        audit(person, LOOKED, subject)


def _number(request: HttpRequest, name: str) -> int | None:
    text = request.GET.get(name, "")
    return int(text) if text.isascii() and text.isdigit() and len(text) < 7 else None
