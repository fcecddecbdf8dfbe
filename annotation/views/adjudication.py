"""The page of what is in dispute, and the decision on it."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpResponse, HttpResponseBase
from django.shortcuts import get_object_or_404, redirect
from django.views.decorators.http import require_GET, require_POST

from annotation.adjudication import DecisionRefused, decide, disputed, flagged, rule
from annotation.models import Adjudication, Run
from annotation.release_forms import DecisionForm, RulingForm
from config.access import curator_required
from config.http import HttpRequest, render_page
from examples.models import Version


@require_GET
@curator_required
def adjudication(request: HttpRequest) -> HttpResponse:
    """Show what could not be confirmed, every version with an open complaint, and the latest decisions."""
    found = disputed(request.user)
    cases = [(each, DecisionForm(auto_id=f"v{each.version.pk}_%s")) for each in found]
    unconfirmed = [(each, RulingForm(auto_id=f"r{each.run.pk}_%s")) for each in flagged(request.user)]
    latest = Adjudication.objects.select_related("version", "decided_by").order_by("-pk")[:20]
    context = {"cases": cases, "unconfirmed": unconfirmed, "latest": latest}
    return render_page(request, "annotation/adjudication.html", context)


@require_POST
@curator_required
def adjudicate(request: HttpRequest, version: int) -> HttpResponseBase:
    """Record the decision on a version."""
    found = get_object_or_404(Version, pk=version)
    form = DecisionForm(request.POST)
    if not form.is_valid():
        messages.error(request, "Nothing was decided: choose a decision and give its reason.")
        return redirect("adjudication")
    try:
        decide(found, by=request.user, **form.cleaned_data)
    except DecisionRefused as refused:
        messages.error(request, str(refused))
    else:
        messages.success(request, f"Decided on {found}.")
    return redirect("adjudication")


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
