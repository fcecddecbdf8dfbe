"""ATTEMPT: the closing form, what of it is kept while it is filled in, and the closed attempt as its annotator sees it."""

from __future__ import annotations

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpResponse, JsonResponse
from django.shortcuts import redirect
from django.utils import timezone
from django.views.decorators.http import require_http_methods, require_POST

from annotation.answers import said_so_far
from annotation.attempts import (
    AttemptOver,
    Progress,
    Refused,
    close_attempt,
    progress_of,
    settle,
    suggested_outcome,
)
from annotation.beats import log_of
from annotation.clock import Kind, derive_intervals, totals
from annotation.closing import keep_answers
from annotation.forms.verdict import EVIDENCE, VerdictForm, choices_of_tests
from annotation.limits import TooMany
from annotation.models import Attempt, Run, Verdict, VerdictStep
from annotation.revealing import Hidden, why_hidden
from annotation.views.work import next_of
from annotation.views.workspace import attempt_or_404, bare_attempt_or_404
from annotation.workspace import shown_tests
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
EVIDENCE_FIELDS = ("evidence_test", "evidence_input", "evidence_expected", "evidence_got", "evidence")
LONGEST_LABEL = 90


@require_http_methods(["GET", "POST"])
@login_required
def verdict(request: HttpRequest, pk: int) -> HttpResponse:
    """Ask how it went, once, when the work has ended; afterwards show what was said."""
    attempt = attempt_or_404(request, pk)
    progress = progress_of(attempt)
    settle(attempt, now=timezone.now(), progress=progress)
    if attempt.state == Attempt.State.CLOSED:
        return render_page(request, "annotation/closed.html", _facts(attempt) | _after(attempt))
    if attempt.state != Attempt.State.SUBMITTED:
        return redirect("workspace", pk)
    form = _form(request, attempt, progress)
    if request.method == "POST" and request.POST.get("then") == "later":
        return _for_later(request, attempt)
    if request.method == "POST" and form.is_valid():
        return _close(request, attempt, form)
    if form.is_bound:
        _keep(request, attempt)
    context = (
        _facts(attempt) | _asked(form) | {"form": form, "options": _options(form), "back": _back(attempt)}
    )
    return render_page(request, "annotation/verdict.html", context, status=422 if form.is_bound else 200)


@require_POST
@login_required
def verdict_draft(request: HttpRequest, pk: int) -> HttpResponse:
    """Keep the answers of this request as they are: when they were saved, or why not (410 over, 429 too many, 422 unfit)."""
    attempt = bare_attempt_or_404(request, pk)
    try:
        step = keep_answers(attempt, said=_said(request), now=timezone.now())
    except Refused as refused:
        kinds = ((AttemptOver, 410), (TooMany, 429))
        status = next((status for kind, status in kinds if isinstance(refused, kind)), 422)
        return JsonResponse({"message": str(refused)}, status=status)
    return JsonResponse({"saved_at": f"{step.at if step else timezone.now():%H:%M:%S}"})


def _said(request: HttpRequest) -> dict[str, str]:
    """Return what the request says, with plain line breaks: a form sends CRLF whatever was typed."""
    return {
        name: value.replace("\r\n", "\n") for name, value in request.POST.items() if isinstance(value, str)
    }


def _keep(request: HttpRequest, attempt: Attempt) -> str:
    """Keep the answers of a whole form, and return why they could not be kept, "" where they could."""
    try:
        keep_answers(attempt, said=_said(request), now=timezone.now())
    except Refused as refused:
        return str(refused)
    return ""


def _for_later(request: HttpRequest, attempt: Attempt) -> HttpResponse:
    if why := _keep(request, attempt):
        messages.warning(request, f"Not kept: {why}")
        return redirect("verdict", attempt.pk)
    messages.success(request, "Your answers are kept. The attempt is closed once you say so.")
    return redirect("work")


def _form(request: HttpRequest, attempt: Attempt, progress: Progress) -> VerdictForm:
    done = progress.submissions
    solved = done.passed_at is not None or done.awaits_curator
    tests = _visible_tests(attempt)
    if request.method == "POST":
        return VerdictForm(_said(request), protocol=attempt.protocol, solved=solved, tests=tests)
    initial = {"outcome": suggested_outcome(attempt, progress), "text": attempt.gave_up_reason}
    initial |= said_so_far(attempt)
    return VerdictForm(protocol=attempt.protocol, solved=solved, tests=tests, initial=initial)


def _visible_tests(attempt: Attempt) -> list[tuple[str, str]]:
    """Return the visible assertions as evidence may name them: test and number in it, and their source in short."""
    if not attempt.protocol.shows_visible_tests:
        return []
    numbers: dict[str, int] = {}
    found = []
    for each in shown_tests(attempt.slot.version).expectations:
        numbers[each.test] = numbers.get(each.test, 0) + 1
        words = " ".join(each.source.split())
        short = words if len(words) <= LONGEST_LABEL else f"{words[:LONGEST_LABEL]}…"
        found.append((f"{each.test}:{numbers[each.test]}"[:300], short))
    return found


def _close(request: HttpRequest, attempt: Attempt, form: VerdictForm) -> HttpResponse:
    try:
        close_attempt(attempt, answers=form.cleaned_data, now=timezone.now())
    except AttemptOver:
        messages.warning(request, "This place had gone back before the verdict came, so it was not taken.")
        return redirect("work")
    messages.success(request, f"Closed: {attempt.slot.version.example.title}. Thank you.")
    if request.POST.get("then") == "next":
        return next_of(request, attempt.slot.study)
    return redirect("second_judgement", attempt.pk) if why_hidden(attempt) == Hidden.NO else redirect("work")


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
            "blames": outcome in EVIDENCE,
        }
        for outcome, (kind, glyph, hint) in SIGNS.items()
    ]


def _asked(form: VerdictForm) -> dict[str, object]:
    """Return which parts of the form stay open whatever is chosen: those that hold something, or lack it."""
    return {
        "evidence_open": any(form[name].value() or form[name].errors for name in EVIDENCE_FIELDS),
        "aids_open": bool(form["aids_text"].value() or form["aids_text"].errors),
    }


def _back(attempt: Attempt) -> VerdictStep | None:
    """Return the curator's act by which the verdict came back, None where it is given for the first time."""
    return attempt.verdict_steps.filter(kind=VerdictStep.Kind.REOPENED).last()


def _after(attempt: Attempt) -> dict[str, object]:
    """Return what the closed page says beyond the facts: evidence in words, and whether the reference may be seen."""
    names = dict(choices_of_tests(_visible_tests(attempt)))
    why = why_hidden(attempt)
    return {
        "evidence_test": names.get(attempt.verdict.evidence_test, attempt.verdict.blamed_test),
        "may_reveal": why == Hidden.NO or hasattr(attempt, "reveal"),
        "comes_again": why == Hidden.MAY_COME_AGAIN,
        "second": getattr(getattr(attempt, "reveal", None), "judgement", None),
    }


def _facts(attempt: Attempt) -> dict[str, object]:
    """Return what was recorded, for the side of the page."""
    seconds = totals(derive_intervals(log_of(attempt), idle_limit=attempt.protocol.idle_limit_seconds))
    runs = list(attempt.runs.select_related("execution").defer("lines", "execution__job_data"))
    submissions = [run for run in runs if run.kind == Run.Kind.SUBMISSION]
    return {
        "attempt": attempt,
        "study": attempt.slot.study,
        "protocol": attempt.protocol,
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
