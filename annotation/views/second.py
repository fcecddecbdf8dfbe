"""SECOND JUDGEMENT: the way to the reveal, what is revealed, and what its annotator then says."""

from __future__ import annotations

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpResponse
from django.shortcuts import redirect
from django.utils import timezone
from django.views.decorators.http import require_http_methods

from annotation.attempts import Refused
from annotation.forms.verdict import SecondJudgementForm
from annotation.models import Attempt
from annotation.revealing import Hidden, NotRevealed, judge_again, look, reveal, why_hidden
from annotation.views.workspace import attempt_or_404
from config.http import HttpRequest, render_page

PAGE = "annotation/second.html"


@require_http_methods(["GET", "POST"])
@login_required
def second_judgement(request: HttpRequest, pk: int) -> HttpResponse:
    """Offer the reveal of a closed attempt, then show it and ask once more; absent for whom it stays hidden."""
    attempt = attempt_or_404(request, pk)
    if not hasattr(attempt, "reveal"):
        if why_hidden(attempt) != Hidden.NO:
            raise Http404
        return _offer(request, attempt)
    if request.method == "POST" and not hasattr(attempt.reveal, "judgement"):
        return _judge(request, attempt)
    return _show(request, attempt, SecondJudgementForm(protocol=attempt.protocol))


def _offer(request: HttpRequest, attempt: Attempt) -> HttpResponse:
    if request.method == "GET":
        return render_page(request, PAGE, {"attempt": attempt, "version": attempt.slot.version})
    try:
        reveal(attempt, now=timezone.now())
    except NotRevealed:
        raise Http404 from None
    return redirect("second_judgement", attempt.pk)


def _judge(request: HttpRequest, attempt: Attempt) -> HttpResponse:
    form = SecondJudgementForm(request.POST, protocol=attempt.protocol)
    if not form.is_valid():
        return _show(request, attempt, form, status=422)
    try:
        judge_again(attempt, answers=form.cleaned_data, now=timezone.now())
    except Refused as refused:
        messages.warning(request, str(refused))
    else:
        messages.success(request, "Kept beside your verdict. Thank you.")
    return redirect("second_judgement", attempt.pk)


def _show(
    request: HttpRequest, attempt: Attempt, form: SecondJudgementForm, *, status: int = 200
) -> HttpResponse:
    try:
        shown = look(attempt)
    except NotRevealed:
        raise Http404 from None
    context = {
        "attempt": attempt,
        "version": attempt.slot.version,
        "study": attempt.slot.study,
        "shown": shown,
        "second": getattr(attempt.reveal, "judgement", None),
        "form": form,
    }
    return render_page(request, PAGE, context, status=status)
