"""PROTOCOL: the curator's pages of a study's rules: the form with its preview, all numbers with what changed and why."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.contrib import messages
from django.db.models import Count, Prefetch, prefetch_related_objects
from django.http import Http404, HttpResponse
from django.shortcuts import redirect
from django.utils import timezone
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from annotation.forms.protocol import ProtocolForm
from annotation.forms.studies import StudyForm
from annotation.models import Protocol, Study
from annotation.protocols import (
    Change,
    differences,
    drop_change,
    new_study,
    propose_change,
    put_into_force,
    write_draft,
)
from annotation.studies import StudyRefused
from annotation.views.studies import study_or_404
from annotation.wording import read_as
from config.access import curator_required
from config.http import HttpRequest, render_page


@dataclass(frozen=True)
class Numbered:
    """A protocol in the list of all: what it changed, and how many attempts were held to it."""

    protocol: Protocol
    changes: list[Change]
    attempts: int
    in_force: bool


@require_http_methods(["GET", "POST"])
@curator_required
def study_new(request: HttpRequest) -> HttpResponse:
    """Make a draft."""
    naming, form = StudyForm(request.POST or None), ProtocolForm(request.POST or None)
    if _is_to_save(request, naming, form):
        study = new_study(**naming.cleaned_data, by=request.user, **form.rules())
        return redirect("study", study.name)
    return _form_page(request, form, naming=naming, study=None)


@require_http_methods(["GET", "POST"])
@curator_required
def study_edit(request: HttpRequest, name: str) -> HttpResponse:
    """Change the first protocol, while the study is a draft; afterwards lead to the form of a change."""
    study = study_or_404(request, name)
    if study.state != Study.State.DRAFT:
        messages.warning(request, "The protocol is frozen since the study opened. Here a change is written.")
        return redirect("protocol_change", name)
    naming = StudyForm(request.POST or None, instance=study)
    form = ProtocolForm(request.POST or None, instance=Protocol.objects.get(pk=study.protocol.pk))
    if _is_to_save(request, naming, form):
        try:
            write_draft(study.protocol, form.rules(), by=request.user)
        except StudyRefused as refused:
            messages.error(request, str(refused))
            return redirect("study", name)
        return redirect("study", naming.save().name)
    return _form_page(request, form, naming=naming, study=Study.objects.get(pk=study.pk))


@require_http_methods(["GET", "POST"])
@curator_required
def protocol_change(request: HttpRequest, name: str) -> HttpResponse:
    """Write the next protocol of a study that has been opened; it holds once it is put into force."""
    study = study_or_404(request, name)
    if study.state == Study.State.DRAFT:
        return redirect("study_edit", name)
    if study.state == Study.State.CLOSED:
        messages.warning(request, "The study is closed: nothing begins under another protocol any more.")
        return redirect("study_protocol", name)
    start = Protocol.objects.get(pk=(study.proposed or study.protocol).pk)
    if start.frozen_at:
        start.reason = ""
    form = ProtocolForm(request.POST or None, instance=start, running=True)
    if _is_to_save(request, form):
        try:
            propose_change(study, form.rules(), reason=form.cleaned_data["reason"], by=request.user)
        except StudyRefused as refused:
            form.add_error(None, str(refused))
        else:
            return redirect("study_protocol", name)
    return _form_page(request, form, naming=None, study=Study.objects.get(pk=study.pk))


def _is_to_save(request: HttpRequest, *forms: StudyForm | ProtocolForm) -> bool:
    """Return whether valid forms were sent, and not for a preview only."""
    if request.method != "POST":
        return False
    valid = [form.is_valid() for form in forms]
    return all(valid) and request.POST.get("do") != "preview"


def _form_page(
    request: HttpRequest, form: ProtocolForm, *, naming: StudyForm | None, study: Study | None
) -> HttpResponse:
    """Return the form, with what annotators would read of it as it stands; 422 where it was refused."""
    sound = not form.is_bound or form.is_valid()
    refused = form.is_bound and not (sound and (naming is None or naming.is_valid()))
    if form.is_bound and sound:
        shown = Protocol(**form.rules())
    else:
        shown = study.protocol if study else Protocol()
    context = {
        "form": form,
        "naming": naming,
        "study": study,
        "parts": read_as(shown) if sound else (),
        "running": form.running,
    }
    return render_page(request, "annotation/study_form.html", context, status=422 if refused else 200)


@require_GET
@curator_required
def study_protocol(request: HttpRequest, name: str) -> HttpResponse:
    """Show all protocols of a study, what each changed and why, and what annotators read of one."""
    study = study_or_404(request, name)
    prefetch_related_objects(
        [study], Prefetch("protocols", Protocol.objects.select_related("created_by").order_by("number"))
    )
    known = list(study.protocols.all())
    counts = _attempts_by_protocol(study)
    before: list[Protocol | None] = [None, *known[:-1]]
    rows = [
        Numbered(
            protocol,
            differences(earlier, protocol) if earlier else [],
            counts.get(protocol.pk, 0),
            protocol == study.protocol,
        )
        for earlier, protocol in zip(before, known, strict=True)
    ]
    context: dict[str, Any] = {
        "study": study,
        "rows": rows[::-1],
        "chosen": _chosen(request, known, study.protocol),
        "proposed": study.proposed if study.state != Study.State.DRAFT else None,
    }
    context["parts"] = read_as(context["chosen"])
    return render_page(request, "annotation/study_protocol.html", context)


def _chosen(request: HttpRequest, known: list[Protocol], in_force: Protocol) -> Protocol:
    """Return the protocol whose number is asked for, else the one in force."""
    wanted = request.GET.get("number", "")
    if not wanted:
        return in_force
    for protocol in known:
        if str(protocol.number) == wanted:
            return protocol
    raise Http404


def _attempts_by_protocol(study: Study) -> dict[int, int]:
    rows = study.protocols.annotate(held=Count("attempts")).order_by()
    return dict(rows.values_list("pk", "held"))


@require_POST
@curator_required
def protocol_force(request: HttpRequest, name: str) -> HttpResponse:
    """Put the change into force."""
    study = study_or_404(request, name)
    try:
        protocol = put_into_force(study, by=request.user, now=timezone.now())
        messages.success(request, f"Protocol {protocol.number} holds for everything that begins from now on.")
    except StudyRefused as refused:
        messages.error(request, str(refused))
    return redirect("study_protocol", name)


@require_POST
@curator_required
def protocol_drop(request: HttpRequest, name: str) -> HttpResponse:
    """Throw the change away."""
    study = study_or_404(request, name)
    try:
        drop_change(study, by=request.user)
        messages.success(request, "Dropped. The protocol in force stays.")
    except StudyRefused as refused:
        messages.error(request, str(refused))
    return redirect("study_protocol", name)
