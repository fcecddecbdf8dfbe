"""ADJUDICATE: try a fix: edit, look at the change, execute all that is recorded, accept or discard."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.http import HttpResponse, HttpResponseBase
from django.shortcuts import get_object_or_404, redirect
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from annotation.adjudication import DecisionRefused, why_not
from annotation.casework import fix_page
from annotation.fixing import accept_fix, discard_fix, draft_of, edit_of_fix, execute_fix, try_fix
from annotation.flips import Flip
from annotation.forms.judging import AcceptFixForm, ReasonForm
from annotation.models import Fix
from annotation.solutions import recorded
from annotation.trials import NotExecuted
from config.access import curator_required
from config.http import HttpRequest, render_page
from examples.editing import EditInvalid, Proposal, edit_of, prepare
from examples.forms import VersionForm
from examples.models import Version, audit
from examples.proposing import NothingChanged, Overtaken
from examples.showing import shown_tests
from examples.views.detail import changes_between


@require_http_methods(["GET", "POST"])
@curator_required
def fix_new(request: HttpRequest, version: int) -> HttpResponseBase:
    """Show the form; with `action=preview` what the edit would change; else keep it and execute all against it.

    `?from=17` begins with the edit of an earlier fix.
    """
    found = get_object_or_404(_versions(), pk=version)
    if request.method != "POST":
        audit(request.user, "case seen", f"version:{found.pk}")
        edit, note = edit_of(found), ""
        if earlier := found.fixes.filter(pk=_number(request.GET.get("from", ""))).first():
            edit, note = edit_of_fix(earlier), earlier.note
        return _form(request, found, VersionForm(initial={**edit.__dict__, "note": note, "base": found.pk}))
    form = VersionForm(request.POST)
    preview = request.POST.get("action") == "preview"
    if preview:
        form.fields["note"].required = False
    if not form.is_valid():
        return _form(request, found, form, status=422)
    try:
        if preview:
            return _form(request, found, form, proposal=prepare(found, form.edit))
        fix = try_fix(found, form.edit, note=form.cleaned_data["note"], by=request.user)
    except EditInvalid as refusal:
        for name, said in refusal.problems.items():
            form.add_error(name, said)
    except (NothingChanged, Overtaken, DecisionRefused, NotExecuted) as refusal:
        form.add_error(None, str(refusal))
    else:
        return redirect("fix", pk=fix.pk)
    return _form(request, found, form, status=422)


@require_GET
@curator_required
def fix(request: HttpRequest, pk: int) -> HttpResponseBase:
    """Show a fix: its change, how far it is executed, who flips. Asked again by the page while it runs."""
    return _fix(request, get_object_or_404(_fixes(), pk=pk))


@require_POST
@curator_required
def fix_execute(request: HttpRequest, pk: int) -> HttpResponseBase:
    """Execute what is missing of a fix, and what stayed unjudged once more."""
    found = get_object_or_404(_fixes(), pk=pk, state=Fix.State.TRIED)
    try:
        asked = execute_fix(found, by=request.user)
    except NotExecuted as refusal:
        messages.error(request, str(refusal))
    else:
        messages.success(request, f"{asked} executions are asked for." if asked else "All of it is there.")
    return redirect("fix", pk=pk)


@require_POST
@curator_required
def fix_accept(request: HttpRequest, pk: int) -> HttpResponseBase:
    """Make a fix the next version of its example."""
    found = get_object_or_404(_fixes(), pk=pk)
    form = AcceptFixForm(request.POST, auto_id="a_%s")
    if form.is_valid():
        try:
            made, carried = accept_fix(found, by=request.user, **form.cleaned_data)
        except (DecisionRefused, Overtaken, NothingChanged) as refusal:
            form.add_error(None, str(refusal))
        else:
            then = "it needs new solves" if carried is None else f"{carried} verdicts are carried to it"
            messages.success(request, f"Version {made.number} is made and waits for its checks; {then}.")
            return redirect("fix", pk=pk)
    return _fix(request, found, accept=form, status=422)


@require_POST
@curator_required
def fix_discard(request: HttpRequest, pk: int) -> HttpResponseBase:
    """End a fix without a version."""
    found = get_object_or_404(_fixes(), pk=pk)
    form = ReasonForm(request.POST, auto_id="x_%s")
    if form.is_valid():
        try:
            discard_fix(found, by=request.user, **form.cleaned_data)
        except DecisionRefused as refusal:
            form.add_error(None, str(refusal))
        else:
            messages.success(request, "The fix is discarded; what was executed stays on the record.")
            return redirect("adjudicate", version=found.base_id)
    return _fix(request, found, discard=form, status=422)


def _versions() -> Any:
    return Version.objects.select_related("example__dataset", "example__current", "environment")


def _fixes() -> Any:
    return Fix.objects.select_related(
        "base__example__dataset",
        "base__example__current",
        "base__environment",
        "environment",
        "made",
        "made_by",
        "ended_by",
    )


def _number(text: str) -> int:
    return int(text) if text.isdecimal() and len(text) < 10 else 0


def _form(
    request: HttpRequest,
    version: Version,
    form: VersionForm,
    *,
    proposal: Proposal | None = None,
    status: int = 200,
) -> HttpResponse:
    """Return the form of a fix, with what the proposal would change and what accepting it would mean."""
    context: dict[str, Any] = {
        "version": version,
        "form": form,
        "refusal": why_not(version, request.user),
        "solutions": len(recorded(version)),
    }
    if proposal:
        proposed = proposal.version
        same = (proposed.instruction, proposed.context, proposed.gap) == (
            version.instruction,
            version.context,
            version.gap,
        )
        context |= {
            "proposal": proposal,
            "changes": changes_between(version, proposed),
            "proposed_tests": shown_tests(proposed),
            "same_task": same,
        }
    return render_page(
        request,
        "annotation/adjudication_fix_new.html",
        context,
        partial="annotation/_fix_form.html",
        status=status,
    )


def _fix(
    request: HttpRequest,
    fix: Fix,
    *,
    accept: AcceptFixForm | None = None,
    discard: ReasonForm | None = None,
    status: int = 200,
) -> HttpResponse:
    page = fix_page(fix)
    if request.method == "GET" and request.htmx and request.GET.get("seen") == page.seen:
        return HttpResponse(status=204)
    if not request.htmx:
        audit(request.user, "case seen", f"version:{fix.base_id}", fix=fix.pk)
    draft = fix.made or draft_of(fix)
    context = {
        "page": page,
        "fix": fix,
        "changes": changes_between(fix.base, draft),
        "accept": accept or AcceptFixForm(auto_id="a_%s"),
        "discard": discard or ReasonForm(auto_id="x_%s"),
        "refusal": why_not(fix.base, request.user),
        "flips": [(flip, count) for flip, count in page.tally.items() if count],
        "Flip": Flip,
    }
    return render_page(
        request,
        "annotation/adjudication_fix.html",
        context,
        partial="annotation/_fix_flips.html",
        status=status,
    )
