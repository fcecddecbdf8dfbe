"""CURATE: the buttons of an example's page: check again, repeat, accept, retire, name the licence."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.views.decorators.http import require_POST

from config.access import curator_required
from config.http import HttpRequest
from examples import curating
from examples.forms import LicenceForm, RepeatForm, RetireForm
from examples.views.page import Page, page_of, show


@require_POST
@curator_required
def run_checks(request: HttpRequest, pk: int) -> HttpResponse:
    """Let the current version be checked again."""
    page = page_of(request, pk)
    done = curating.check_all([page.example.pk], by=request.user)
    if not done.changed:
        messages.warning(request, "The checks are running already; their result appears here.")
    return _back(page)


@require_POST
@curator_required
def repeat_reference(request: HttpRequest, pk: int) -> HttpResponse:
    """Ask for more repeats of the reference."""
    page = page_of(request, pk)
    form = RepeatForm(request.POST)
    if not form.is_valid():
        return show(request, page, "examples/example.html", status=422, repeat_form=form)
    try:
        curating.ask_repeats(page.version, times=form.cleaned_data["times"], by=request.user)
    except curating.ChecksOpen:
        messages.error(request, "Wait until the checks are done: they repeat the reference first.")
        return show(request, page, "examples/example.html", status=422)
    except curating.RepeatsOpen:
        messages.error(request, "Repeats were asked for already; wait for their result.")
        return show(request, page, "examples/example.html", status=409)
    return _back(page)


@require_POST
@curator_required
def accept_example(request: HttpRequest, pk: int) -> HttpResponse:
    """Accept the example, or say which check stands in the way."""
    page = page_of(request, pk)
    try:
        curating.accept(page.example, by=request.user)
    except curating.NotAccepted as refusal:
        messages.error(request, str(refusal))
        return show(request, page, "examples/example.html", status=422)
    messages.success(request, f"{page.example.label} is accepted.")
    return _back(page)


@require_POST
@curator_required
def retire_example(request: HttpRequest, pk: int) -> HttpResponse:
    """Retire the example, with a reason."""
    page = page_of(request, pk)
    form = RetireForm(request.POST)
    if not form.is_valid():
        return show(request, page, "examples/example.html", status=422, retire_form=form)
    curating.retire(page.example, reason=form.cleaned_data["reason"], by=request.user)
    messages.success(request, f"{page.example.label} is retired and stays out of studies and releases.")
    return _back(page)


@require_POST
@curator_required
def set_licence(request: HttpRequest, pk: int) -> HttpResponse:
    """Name the example's own licence."""
    page = page_of(request, pk)
    form = LicenceForm(request.POST)
    if not form.is_valid():
        return show(request, page, "examples/provenance.html", status=422, licence_form=form)
    curating.set_licence(page.example, form.cleaned_data["licence"], by=request.user)
    messages.success(request, "The licence is set, and its check decided anew.")
    return HttpResponseRedirect(reverse("example_provenance", args=[page.example.pk]))


def _back(page: Page) -> HttpResponseRedirect:
    return HttpResponseRedirect(reverse("example", args=[page.example.pk]))
