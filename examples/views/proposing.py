"""CURATE: propose a version: edit, look at what would change and what an annotator would see, save."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.http import HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.views.decorators.http import require_http_methods

from config.access import curator_required
from config.http import HttpRequest
from examples.editing import EditInvalid, Proposal, edit_of, prepare
from examples.forms import VersionForm
from examples.models import Version
from examples.proposing import NothingChanged, Overtaken, propose_version
from examples.showing import shown_tests
from examples.views.detail import changes_between
from examples.views.page import Page, page_of, show
from runner.models import Environment


@require_http_methods(["GET", "POST"])
@curator_required
def propose(request: HttpRequest, pk: int) -> HttpResponse:
    """Show the form; with `action=preview` what the edit would change; else save it as the next version.

    `?environment=NAME` has that environment chosen already.
    """
    page = page_of(request, pk)
    if request.method != "POST":
        initial = {**edit_of(page.version).__dict__, "base": page.version.pk}
        if chosen := Environment.objects.filter(name=request.GET.get("environment", "")).first():
            initial["environment"] = chosen
        return _form(request, page, VersionForm(initial=initial))
    form = VersionForm(request.POST)
    if request.POST.get("action") == "preview":
        form.fields["note"].required = False
    if not form.is_valid():
        return _form(request, page, form, status=422)
    base = page.example.versions.filter(pk=form.cleaned_data["base"]).first() or page.version
    try:
        if request.POST.get("action") == "preview":
            return _form(request, page, form, proposal=prepare(base, form.edit))
        made = propose_version(base, form.edit, note=form.cleaned_data["note"], by=request.user)
    except EditInvalid as refusal:
        for name, said in refusal.problems.items():
            form.add_error(name, said)
    except NothingChanged as refusal:
        form.add_error(None, str(refusal))
    except Overtaken as refusal:
        return _overtaken(request, page, str(refusal))
    else:
        messages.success(request, f"Version {made.number} is saved and waits for its checks.")
        return HttpResponseRedirect(reverse("example", args=[page.example.pk]))
    return _form(request, page, form, status=422)


def _overtaken(request: HttpRequest, page: Page, refusal: str) -> HttpResponse:
    """Show the text that came too late, compared with the version made meanwhile and based on that from now on."""
    form = VersionForm({**request.POST.dict(), "base": page.version.pk})
    form.is_valid()
    said = f"{refusal} Your text is kept: compare it with that version below, then save it as the next one."
    form.add_error(None, said)
    try:
        return _form(request, page, form, proposal=prepare(page.version, form.edit), status=422)
    except EditInvalid:
        return _form(request, page, form, status=422)


def _form(
    request: HttpRequest,
    page: Page,
    form: VersionForm,
    *,
    proposal: Proposal | None = None,
    status: int = 200,
) -> HttpResponse:
    """Return the form, with what the proposal changes against the newest version."""
    context: dict[str, Any] = {"form": form, "base": page.version}
    if proposal:
        proposed: Version = proposal.version
        context |= {
            "proposal": proposal,
            "changes": changes_between(page.version, proposed),
            "proposed_tests": shown_tests(proposed),
        }
    return show(
        request, page, "examples/propose.html", partial="examples/_propose.html", status=status, **context
    )
