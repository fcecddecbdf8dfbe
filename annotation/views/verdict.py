"""ATTEMPT: the closing form, and the closed attempt as its annotator sees it."""

from __future__ import annotations

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpResponse
from django.shortcuts import redirect
from django.utils import timezone
from django.views.decorators.http import require_http_methods

from annotation.attempts import AttemptOver, Progress, close_attempt, progress_of, settle, suggested_outcome
from annotation.beats import log_of
from annotation.clock import Kind, derive_intervals, totals
from annotation.forms.verdict import VerdictForm
from annotation.models import Attempt, Run, Verdict
from annotation.views.work import next_of
from annotation.views.workspace import attempt_or_404
from config.http import HttpRequest, render_page

SIGNS = {
    Verdict.Outcome.SOLVED: ("ok", "pass", "a submission passed every test"),
    Verdict.Outcome.GAVE_UP: ("none", "flag", "or the submission failed and you agree"),
    Verdict.Outcome.OUT_OF_TIME: ("none", "clock", "the limit ended it"),
    Verdict.Outcome.UNDERSPECIFIED: ("warn", "info", "quote the sentence that is missing or double"),
    Verdict.Outcome.TESTS_WRONG: ("warn", "warn", "name a correct answer they reject"),
    Verdict.Outcome.ENVIRONMENT_BROKEN: ("bad", "warn", "package, file or network missing"),
    Verdict.Outcome.KNEW_IT: ("flag", "user", "kept out of the rates"),
}


@require_http_methods(["GET", "POST"])
@login_required
def verdict(request: HttpRequest, pk: int) -> HttpResponse:
    """Ask how it went, once, when the work has ended; afterwards show what was said."""
    attempt = attempt_or_404(request, pk)
    progress = progress_of(attempt)
    settle(attempt, now=timezone.now(), progress=progress)
    if attempt.state in (Attempt.State.OPEN, Attempt.State.RELEASED):
        return redirect("workspace", pk)
    if attempt.state == Attempt.State.CLOSED:
        return render_page(request, "annotation/closed.html", _facts(attempt))
    form = _form(request, attempt, progress)
    if request.method == "POST" and form.is_valid():
        return _close(request, attempt, form)
    context = _facts(attempt) | {"form": form, "options": _options(form)}
    return render_page(request, "annotation/verdict.html", context, status=422 if form.is_bound else 200)


def _form(request: HttpRequest, attempt: Attempt, progress: Progress) -> VerdictForm:
    done = progress.submissions
    solved = done.passed_at is not None or done.awaits_curator
    protocol = attempt.protocol
    if request.method == "POST":
        return VerdictForm(request.POST, protocol=protocol, solved=solved)
    initial = {"outcome": suggested_outcome(attempt, progress), "text": attempt.gave_up_reason}
    return VerdictForm(protocol=protocol, solved=solved, initial=initial)


def _close(request: HttpRequest, attempt: Attempt, form: VerdictForm) -> HttpResponse:
    try:
        close_attempt(attempt, answers=form.cleaned_data, now=timezone.now())
    except AttemptOver:
        messages.warning(request, "This place had gone back before the verdict came, so it was not taken.")
        return redirect("work")
    messages.success(request, f"Closed: {attempt.slot.version.example.title}. Thank you.")
    if request.POST.get("then") == "next":
        return next_of(request, attempt.slot.study)
    return redirect("work")


def _options(form: VerdictForm) -> list[dict[str, object]]:
    """Return the outcomes as cards; "solved" is locked where no submission passed."""
    chosen = form["outcome"].value()
    return [
        {
            "value": outcome.value,
            "label": outcome.label.capitalize(),
            "kind": kind,
            "glyph": glyph,
            "hint": hint,
            "chosen": outcome.value == chosen,
            "locked": outcome == Verdict.Outcome.SOLVED and not form.solved,
        }
        for outcome, (kind, glyph, hint) in SIGNS.items()
    ]


def _facts(attempt: Attempt) -> dict[str, object]:
    """Return what was recorded, for the side of the page."""
    study = attempt.slot.study
    seconds = totals(derive_intervals(log_of(attempt), idle_limit=attempt.protocol.idle_limit_seconds))
    runs = list(attempt.runs.select_related("execution").defer("lines", "execution__job_data"))
    submissions = [run for run in runs if run.kind == Run.Kind.SUBMISSION]
    return {
        "attempt": attempt,
        "study": study,
        "version": attempt.slot.version,
        "last": submissions[-1] if submissions else None,
        "submission_count": len(submissions),
        "visible_count": sum(run.kind == Run.Kind.VISIBLE for run in runs),
        "scratch_count": sum(run.kind == Run.Kind.SCRATCH for run in runs),
        "active": seconds[Kind.ACTIVE] + seconds[Kind.READING],
        "idle": seconds[Kind.IDLE],
        "paused": seconds[Kind.PAUSED],
        "ours": seconds[Kind.WAITING] + seconds[Kind.OUTAGE],
        "given": getattr(attempt, "verdict", None),
    }
