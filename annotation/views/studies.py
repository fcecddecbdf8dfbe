"""STUDY: the curator's pages of studies: the list, a study's state and progress, its protocol."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.core.paginator import Paginator
from django.db.models import Count, Exists, OuterRef, Prefetch, Q, QuerySet
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.utils import timezone
from django.views.decorators.http import require_GET, require_POST

from annotation.connection import connection_of
from annotation.drawing import draw, draw_versions
from annotation.forms.studies import ChooseVersionsForm, PeopleForm
from annotation.leases import HELD
from annotation.models import COUNTED, Attempt, Slot, Study, StudyPerson, User
from annotation.protocols import raise_solvers
from annotation.studies import (
    StudyRefused,
    add_people,
    add_versions,
    choose,
    close_study,
    open_study,
    pause_study,
    release_slot,
    remove_versions,
    take_out,
)
from config.access import curator_required
from config.http import HttpRequest, render_page
from examples.models import Version

PAGE = 50


def study_or_404(request: HttpRequest, name: str) -> Study:
    """Return a study that the person sees."""
    return get_object_or_404(Study.objects.visible_to(request.user), name=name)


@require_GET
@curator_required
def studies(request: HttpRequest) -> HttpResponse:
    """List the studies with how far each is."""
    rows = Study.objects.visible_to(request.user).prefetch_related("protocols")
    place = Q(slots__kind=Slot.Kind.STUDY)  # not warm-up and gold, which are nobody else's
    rows = rows.annotate(
        places=Count("slots", filter=place, distinct=True),
        closed_places=Count("slots", filter=place & Q(slots__state=Slot.State.CLOSED), distinct=True),
        taken_places=Count("slots", filter=place & Q(slots__state__in=HELD), distinct=True),
        versions=Count("slots__version", filter=place, distinct=True),
        annotators=Count("people", filter=Q(people__active=True), distinct=True),
    )
    return render_page(request, "annotation/studies.html", {"studies": rows})


@require_GET
@curator_required
def study(request: HttpRequest, name: str) -> HttpResponse:
    """Show a study: state, progress, people, versions, and what can be done next."""
    return _study(request, study_or_404(request, name))


def _study(request: HttpRequest, study: Study, *, status: int = 200, **more: Any) -> HttpResponse:
    """Return the page of a study; `more` are forms that came back with errors."""
    places = Slot.objects.filter(study=study).of_the_study()
    states = dict(places.order_by().values_list("state").annotate(count=Count("pk")))
    taken = states.get(Slot.State.TAKEN, 0) + states.get(Slot.State.KEPT, 0)
    page = Paginator(_versions(study), PAGE).get_page(request.GET.get("page"))
    context = {
        "study": study,
        "free": states.get(Slot.State.FREE, 0),
        "taken": taken,
        "closed": states.get(Slot.State.CLOSED, 0),
        "places": sum(states.values()),
        "meter": [("", states.get(Slot.State.CLOSED, 0)), ("act", taken)],
        "page": page,
        "people": _people(study),
        "joined": connection_of(study),
        "held": study.slots.filter(state=Slot.State.TAKEN).select_related("annotator", "version__example"),
        "choose_form": ChooseVersionsForm(study=study),
        "people_form": PeopleForm(study=study),
        "now": timezone.now(),
        **more,
    }
    return render_page(request, "annotation/study.html", context, status=status)


def _versions(study: Study) -> QuerySet[Version]:
    """Return the study's versions, each with its slots as `places`; without their texts, which the page does not show."""
    slots = Slot.objects.filter(study=study).of_the_study().order_by("number")
    return (
        Version.objects.filter(Exists(slots.filter(version=OuterRef("pk"))))
        .select_related("example__dataset")
        .defer("instruction", "context", "reference", "segments", "block")
        .prefetch_related(Prefetch("slots", queryset=slots, to_attr="places"))
        .order_by("pk")
    )


def _people(study: Study) -> QuerySet[StudyPerson]:
    """Return who takes part, with what they have closed and whether they hold a slot now."""
    mine = Attempt.objects.filter(slot__study=study, annotator=OuterRef("person"))
    closed = Count(
        "person__attempts",
        filter=Q(
            person__attempts__slot__study=study,
            person__attempts__slot__kind__in=COUNTED,
            person__attempts__state=Attempt.State.CLOSED,
        ),
    )
    return study.people.select_related("person").annotate(closed=closed, working=Exists(mine.open()))


@require_POST
@curator_required
def study_state(request: HttpRequest, name: str) -> HttpResponse:
    """Open, pause or close a study; the page has said what follows."""
    study = study_or_404(request, name)
    now = timezone.now()
    try:
        match request.POST.get("to"):
            case "open":
                open_study(study, by=request.user, now=now)
                messages.success(request, "Open: its annotators can take examples from now on.")
            case "pause":
                pause_study(study, by=request.user)
                messages.success(request, "Paused: nothing new is given out.")
            case "close":
                ended = close_study(study, by=request.user, now=now)
                messages.success(request, f"Closed for good; {ended} open attempts were ended by that.")
    except StudyRefused as refused:
        messages.error(request, str(refused))
    return redirect("study", name)


@require_POST
@curator_required
def study_solvers(request: HttpRequest, name: str) -> HttpResponse:
    """Raise k."""
    study = study_or_404(request, name)
    wanted = request.POST.get("solvers", "")
    try:
        if not wanted.isascii() or not wanted.isdigit() or len(wanted) > 3:
            raise StudyRefused("k is a whole number.")
        reason = request.POST.get("reason", "")
        added = raise_solvers(study, int(wanted), by=request.user, reason=reason, now=timezone.now())
        messages.success(request, f"k is now {study.protocol.solvers}; {added} places were added.")
    except StudyRefused as refused:
        messages.error(request, str(refused))
    return redirect("study", name)


@require_POST
@curator_required
def study_versions(request: HttpRequest, name: str) -> HttpResponse:
    """Count what the filters match, add it, or draw a sample of it; what did not pass its checks is refused, with count."""
    study = study_or_404(request, name)
    form = ChooseVersionsForm(request.POST, study=study)
    if not form.is_valid():
        return _study(request, study, choose_form=form, status=422)
    choice = choose(form.examples())
    do, size, by = request.POST.get("do"), form.cleaned_data["size"], form.cleaned_data["by"]
    if do == "draw" and size is None:
        form.add_error("size", "Say how many to draw.")
        return _study(request, study, choose_form=form, choice=choice, status=422)
    try:
        if do == "draw":
            draw_versions(study, choice, size=size, by=by, person=request.user)
            messages.success(request, f"{size} drawn of {len(choice.versions)}; the protocol says how.")
            return redirect("study", name)
        if do != "add":
            sample = draw(choice, size=size, by=by, seed=study.protocol.seed) if size else None
            return _study(request, study, choose_form=form, choice=choice, sample=sample)
        added = add_versions(study, choice, by=request.user)
    except StudyRefused as refused:
        messages.error(request, str(refused))
        return redirect("study", name)
    refused_count = sum(choice.refused.values())
    messages.success(request, f"{added} versions added, {refused_count} refused.")
    return redirect("study", name)


@require_POST
@curator_required
def study_version_out(request: HttpRequest, name: str, pk: int) -> HttpResponse:
    """Take a version out of a draft."""
    study = study_or_404(request, name)
    try:
        remove_versions(study, [pk], by=request.user)
    except StudyRefused as refused:
        messages.error(request, str(refused))
    return redirect("study", name)


@require_POST
@curator_required
def study_people(request: HttpRequest, name: str) -> HttpResponse:
    """Add annotators."""
    study = study_or_404(request, name)
    form = PeopleForm(request.POST, study=study)
    if not form.is_valid():
        return _study(request, study, people_form=form, status=422)
    try:
        added = add_people(study, form.cleaned_data["people"], by=request.user)
        messages.success(request, f"{added} added.")
    except StudyRefused as refused:
        messages.error(request, str(refused))
    return redirect("study", name)


@require_POST
@curator_required
def study_person_out(request: HttpRequest, name: str, pk: int) -> HttpResponse:
    """Let a person take nothing new in the study."""
    study = study_or_404(request, name)
    take_out(study, get_object_or_404(User, studies__study=study, pk=pk), by=request.user)
    return redirect("study", name)


@require_POST
@curator_required
def slot_release(request: HttpRequest, name: str, pk: int) -> HttpResponse:
    """Give a held slot back."""
    study = study_or_404(request, name)
    slot = get_object_or_404(study.slots.select_related("annotator"), pk=pk)
    if release_slot(slot, by=request.user, now=timezone.now()):
        messages.success(request, "The place is free again; the draft stays with its person.")
    return redirect("study_queue" if request.POST.get("from") == "queue" else "study", name)
