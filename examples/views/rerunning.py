"""CURATE: an example's section on environments: execute a version in others, and see outcomes side by side."""

from __future__ import annotations

from django.http import HttpResponse, HttpResponseRedirect
from django.shortcuts import get_object_or_404
from django.urls import reverse
from django.views.decorators.http import require_http_methods

from config.access import curator_required
from config.http import HttpRequest
from examples.forms import RerunForm
from examples.rerunning import SEEDS, NotCompared, compare, side_by_side
from examples.views.page import Page, page_of, show

COMPARISONS_SHOWN = 10


@require_http_methods(["GET", "POST"])
@curator_required
def rerun(request: HttpRequest, pk: int) -> HttpResponse:
    """Show the newest comparison, or `?comparison=17`; take the choice for a new one. Asked again while one runs."""
    page = page_of(request, pk)
    if request.method != "POST":
        return _show(request, page, RerunForm(version=page.version))
    form = RerunForm(request.POST, version=page.version)
    if form.is_valid():
        try:
            compare(page.version, list(form.cleaned_data["environments"]), by=request.user)
            return HttpResponseRedirect(reverse("example_rerun", args=[pk]) + page.query)
        except NotCompared as refusal:
            form.add_error("environments", str(refusal))
    return _show(request, page, form, status=422)


def _show(request: HttpRequest, page: Page, form: RerunForm, *, status: int = 200) -> HttpResponse:
    made = page.version.comparisons.select_related("version", "asked_by")
    number = request.GET.get("comparison", "")
    chosen = (
        get_object_or_404(made, pk=int(number)) if number.isdecimal() and len(number) < 10 else made.first()
    )
    shown = side_by_side(chosen) if chosen else None
    if shown and request.htmx and request.GET.get("seen") == shown.seen:
        return HttpResponse(status=204)
    return show(
        request,
        page,
        "examples/rerun.html",
        partial="examples/_rerun.html",
        status=status,
        form=form,
        shown=shown,
        comparisons=made[:COMPARISONS_SHOWN],
        seeds=len(SEEDS),
    )
