"""ADJUDICATE: the queue, the page of a case, and what a curator decides there."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode

from django import forms
from django.contrib import messages
from django.db import transaction
from django.http import HttpResponse, HttpResponseBase
from django.shortcuts import get_object_or_404, redirect
from django.urls import reverse
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from annotation.adjudication import DecisionRefused, ask_second_reader, assess, decide, rule, why_not
from annotation.cases import MEANINGS, TITLES, Kind, queue
from annotation.casework import Sheet, case_page
from annotation.forms.judging import (
    AssessmentForm,
    DecisionForm,
    ReasonForm,
    RepeatsForm,
    RulingForm,
    SecondReaderForm,
)
from annotation.models import Adjudication, Run
from annotation.solutions import recorded
from annotation.trials import NotExecuted, ask_trials
from config.access import curator_required
from config.http import HttpRequest, render_page
from examples.alternatives import AlternativeRefused, accept_alternative, withdraw_alternative
from examples.models import Alternative, Version, audit

DECISIONS_SHOWN = 20


@require_GET
@curator_required
def adjudication(request: HttpRequest) -> HttpResponse:
    """Show everything that waits for a decision, `?kind=tests` what waits for one reason; and the latest decisions."""
    asked = request.GET.get("kind", "")
    kind = Kind(asked) if asked in list(Kind) else None
    waiting = queue(request.user)
    shown = waiting.of(kind)
    latest = Adjudication.objects.select_related("version", "decided_by").order_by("-pk")[:DECISIONS_SHOWN]
    context = {
        "kind": kind,
        "meaning": MEANINGS[kind] if kind else "",
        "tabs": [("all", "", waiting.total, kind is None)]
        + [(title, each.value, waiting.count(each), kind is each) for each, title in TITLES.items()],
        "waiting": waiting,
        "cases": shown.cases,
        "unconfirmed": [(each, RulingForm(auto_id=f"r{each.run.pk}_%s")) for each in shown.flagged],
        "latest": latest,
    }
    return render_page(request, "annotation/adjudication.html", context)


@require_POST
@curator_required
def rule_on(request: HttpRequest, run: int) -> HttpResponseBase:
    """Record whether a submission that could not be confirmed stands."""
    found = get_object_or_404(Run.objects.select_related("attempt__slot__version"), pk=run)
    form = RulingForm(request.POST)
    if not form.is_valid():
        messages.error(request, "Nothing was decided: choose whether it stands and give a reason.")
        return redirect("adjudication")
    said = form.cleaned_data
    try:
        rule(found, stands=said["stands"] == "yes", reason=said["reason"], by=request.user)
    except DecisionRefused as refused:
        messages.error(request, str(refused))
    else:
        messages.success(request, "Decided on the submission.")
    return redirect("adjudication")


@require_http_methods(["GET", "POST"])
@curator_required
def adjudicate(request: HttpRequest, version: int) -> HttpResponseBase:
    """Show the case of a version, `?a=` and `?b=` the solutions to compare; take the decision on it.

    Looking changes nothing and is written down, since it shows what annotators are not shown.
    """
    found = _version(version)
    if request.method != "POST":
        return _case(request, found)
    form = DecisionForm(request.POST, auto_id="d_%s")
    if form.is_valid():
        try:
            decide(found, by=request.user, **form.cleaned_data)
        except DecisionRefused as refused:
            form.add_error(None, str(refused))
        else:
            messages.success(request, f"Decided on {found}.")
            return redirect("adjudicate", version=version)
    return _case(request, found, status=422, decision=form)


@require_POST
@curator_required
def second_reader(request: HttpRequest, version: int) -> HttpResponseBase:
    """Let a case stay open until two people decide the same."""
    found = _version(version)
    form = SecondReaderForm(request.POST, auto_id="s_%s")
    if form.is_valid():
        try:
            ask_second_reader(found, by=request.user, **form.cleaned_data)
        except DecisionRefused as refused:
            form.add_error(None, str(refused))
        else:
            messages.success(request, "A second reader is asked for; the case stays open until two agree.")
            return redirect("adjudicate", version=version)
    return _case(request, found, status=422, second=form)


@require_POST
@curator_required
def assess_solution(request: HttpRequest, version: int) -> HttpResponseBase:
    """Record that a solution is right or wrong by the instruction, and keep it as an alternative where that is asked."""
    found = _version(version)
    form = AssessmentForm(request.POST, auto_id="tried_%s")
    if form.is_valid():
        said = form.cleaned_data
        written = next((each for each in recorded(found) if each.sha256 == said["sha256"]), None)
        if written is None:
            form.add_error(None, "There is no such solution of this version.")
        else:
            try:
                with transaction.atomic():  # both or neither
                    assess(found, said["sha256"], right=said["right"], reason=said["reason"], by=request.user)
                    if said["keep"]:
                        accept_alternative(
                            found,
                            function=written.function,
                            module=written.module,
                            sha256=written.sha256,
                            reason=said["reason"],
                            by=request.user,
                        )
            except (DecisionRefused, AlternativeRefused) as refused:
                form.add_error(None, str(refused))
            else:
                messages.success(request, f"Solution {said['sha256'][:8]} is recorded as judged.")
                return redirect(_back(request, version))
    return _case(request, found, status=422, assessment=form)


@require_POST
@curator_required
def execute_solutions(request: HttpRequest, version: int) -> HttpResponseBase:
    """Execute what was not executed yet of a version's solutions, as often as is asked for."""
    found = _version(version)
    form = RepeatsForm(request.POST, auto_id="e_%s")
    if form.is_valid():
        try:
            asked = ask_trials(found, recorded(found), by=request.user, times=form.cleaned_data["times"])
        except NotExecuted as refused:
            form.add_error("times", str(refused))
        else:
            messages.success(
                request, f"{asked} executions are asked for." if asked else "All of it is there."
            )
            return redirect(_back(request, version))
    return _case(request, found, status=422, repeats=form)


@require_POST
@curator_required
def alternative_withdraw(request: HttpRequest, version: int, pk: int) -> HttpResponseBase:
    """Let an accepted alternative hold no later version any more."""
    found = _version(version)
    alternative = get_object_or_404(Alternative, pk=pk, example=found.example_id)
    form = ReasonForm(request.POST, auto_id=f"w{pk}_%s")
    if refusal := why_not(found, request.user):
        messages.error(request, refusal)
    elif not form.is_valid():
        messages.error(request, "Nothing was withdrawn: say why it holds no longer.")
    else:
        withdraw_alternative(alternative, reason=form.cleaned_data["reason"], by=request.user)
        messages.success(request, "It is withdrawn; its row stays.")
    return redirect("adjudicate", version=version)


def _version(pk: int) -> Version:
    found = Version.objects.select_related("example__dataset", "example__current", "environment", "author")
    return get_object_or_404(found, pk=pk)


def _back(request: HttpRequest, version: int) -> str:
    """Return the address of the case with the two solutions that were compared."""
    pair = {name: said for name in ("a", "b") if (said := request.POST.get(name, ""))}
    return f"{reverse('adjudicate', args=[version])}{'?' + urlencode(pair) if pair else ''}"


def _case(request: HttpRequest, version: Version, *, status: int = 200, **tried: forms.Form) -> HttpResponse:
    """Return the page of a case; `tried` are forms that came back with errors."""
    asked: Any = request.POST if request.method == "POST" else request.GET
    given = tried.get("assessment")
    left, right = asked.get("a", ""), asked.get("b", "")
    if given and (about := str(given.data.get("sha256", ""))[:8]) not in (left, right):
        right = about  # so that what was wrong with the form stands beside the code it is about
    page = case_page(version, request.user, left=left, right=right)
    audit(request.user, "case seen", f"version:{version.pk}")
    sides = [(sheet, _assessing(sheet, given, side)) for side, sheet in page.sides]
    context = {
        "page": page,
        "sides": sides,
        "decision": tried.get("decision") or DecisionForm(auto_id="d_%s"),
        "second": tried.get("second") or SecondReaderForm(auto_id="s_%s"),
        "repeats": tried.get("repeats") or RepeatsForm(auto_id="e_%s"),
        "withdraw": ReasonForm(auto_id=False),
    }
    return render_page(request, "annotation/adjudication_case.html", context, status=status)


def _assessing(sheet: Sheet, tried: forms.Form | None, side: str) -> forms.Form | None:
    """Return the form that judges a solution, the one that came back with errors where it was about this; None for the reference."""
    if not sheet.solution.sha256:
        return None
    if tried and tried.data.get("sha256") == sheet.solution.sha256:
        return tried
    return AssessmentForm(initial={"sha256": sheet.solution.sha256}, auto_id=f"{side}_%s")
