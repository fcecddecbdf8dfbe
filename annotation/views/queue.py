"""STUDY: the curator's page of a study's queue: who holds what, what was reported broken, gold examples, people on their way."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import Any

from django.contrib import messages
from django.db.models import Count, Exists, Max, OuterRef, Q, QuerySet, Subquery
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.utils import timezone
from django.views.decorators.http import require_GET, require_POST

from annotation.broken import decide, put_in_place, reports_of
from annotation.forms.onboarding import AdmitForm, CapForm, DecideForm, GoldForm, WithdrawForm
from annotation.leases import HELD
from annotation.models import Admission, Attempt, Beat, GoldItem, Slot, Study, StudyPerson
from annotation.onboarding.gold import mark_gold, unmark_gold
from annotation.onboarding.steps import Standing, standings
from annotation.studies import StudyRefused
from annotation.study.intervals import Rate, plain_rate
from annotation.views.studies import study_or_404
from annotation.withdrawing import withdraw
from config.access import curator_required
from config.http import HttpRequest, render_page
from examples.models import audit

OF_ONE = "is of one person or one version"


@dataclass(frozen=True)
class PersonLine:
    """A person of a study: where they stand, what they did, and how they fare on gold mixed into their work."""

    member: StudyPerson
    standing: Standing
    counts: dict[str, int]
    gold: Rate
    withdrew: bool

    @property
    def held_up(self) -> bool:
        """Whether a curator's word would let the person in now."""
        return self.standing.next in ("qualification", "not qualified")


@require_GET
@curator_required
def study_queue(request: HttpRequest, name: str) -> HttpResponse:
    """Show the queue of a study."""
    return _show(request, study_or_404(request, name))


def _show(request: HttpRequest, study: Study, *, status: int = 200, **more: Any) -> HttpResponse:
    context = {
        "study": study,
        "held": _held(study),
        "reports": list(reports_of(study)),
        "people": _people(study),
        "gold": _gold(study),
        "gold_form": GoldForm(study=study),
        "decide_form": DecideForm(),
        "now": timezone.now(),
        **more,
    }
    return render_page(request, "annotation/study_queue.html", context, status=status)


def _held(study: Study) -> QuerySet[Slot]:
    """Return what is taken or kept, with the last sign of life of whoever holds it."""
    beats = Beat.objects.filter(attempt__slot=OuterRef("pk"), attempt__annotator=OuterRef("annotator"))
    last = beats.order_by("-at").values("at")[:1]
    owed = Attempt.objects.filter(slot=OuterRef("pk"), state=Attempt.State.SUBMITTED)
    held = study.slots.filter(state__in=HELD).select_related("annotator", "version__example")
    held = held.defer("version__context", "version__reference", "version__segments", "version__block")
    return held.annotate(last_beat=Subquery(last), owed=Exists(owed)).order_by("lease_end")


def _gold(study: Study) -> list[tuple[GoldItem, Rate]]:
    """Return the gold items, each with how many of the people who closed it solved it."""
    closed = Q(
        version__slots__study=study,
        version__slots__kind__in=[Slot.Kind.GOLD, Slot.Kind.QUALIFICATION],
        version__slots__attempts__state=Attempt.State.CLOSED,
    )
    solved = closed & Q(version__slots__attempts__verdict__solved=True)
    items = (
        study.gold_items.select_related("version__example")
        .annotate(
            closed=Count("version__slots__attempts", filter=closed, distinct=True),
            solved=Count("version__slots__attempts", filter=solved, distinct=True),
        )
        .order_by("purpose", "pk")
    )
    return [(item, plain_rate(item.solved, item.closed, reason=OF_ONE)) for item in items]


def _people(study: Study) -> list[PersonLine]:
    """Return a line for each person, in a fixed number of queries."""
    members = list(
        study.people.select_related("person").annotate(left_at=Max("withdrawals__at")).order_by("pk")
    )
    standing = standings(study, members)
    counts: dict[int, dict[str, int]] = defaultdict(lambda: defaultdict(int))
    gold: dict[int, list[bool]] = defaultdict(list)
    attempts = Attempt.objects.filter(slot__study=study)
    for person, kind, state, solved in attempts.values_list(
        "annotator", "slot__kind", "state", "verdict__solved"
    ):
        if kind in (Slot.Kind.STUDY, Slot.Kind.EXTRA):
            counts[person][state] += 1
        if kind == Slot.Kind.GOLD and state == Attempt.State.CLOSED:
            gold[person].append(bool(solved))
    return [
        PersonLine(
            member,
            standing[member.pk],
            dict(counts[member.person_id]),
            plain_rate(sum(gold[member.person_id]), len(gold[member.person_id]), reason=OF_ONE),
            member.left_at is not None,
        )
        for member in members
    ]


@require_POST
@curator_required
def report_decide(request: HttpRequest, name: str, pk: int) -> HttpResponse:
    """Decide on a report of something broken."""
    study = study_or_404(request, name)
    report = get_object_or_404(study.broken_reports.select_related("version"), pk=pk)
    form = DecideForm(request.POST)
    if form.is_valid():
        try:
            decide(report, **form.cleaned_data, by=request.user, now=timezone.now())
        except StudyRefused as refused:
            form.add_error(None, str(refused))
        else:
            messages.success(request, f"Decided: {report.get_decision_display()}.")
            return redirect("study_queue", name)
    return _show(request, study, status=422, decide_form=form, deciding=report.pk)


@require_POST
@curator_required
def report_replace(request: HttpRequest, name: str, pk: int) -> HttpResponse:
    """Give the repaired version the broken one's place in the study."""
    study = study_or_404(request, name)
    report = get_object_or_404(
        study.broken_reports.select_related("version__example__current", "study"), pk=pk
    )
    try:
        version = put_in_place(report, by=request.user, now=timezone.now())
        messages.success(request, f"{version.example.label}, version {version.number}, is in its place.")
    except StudyRefused as refused:
        messages.error(request, str(refused))
    return redirect("study_queue", name)


@require_POST
@curator_required
def gold_mark(request: HttpRequest, name: str) -> HttpResponse:
    """Make a version of the study a gold example."""
    study = study_or_404(request, name)
    form = GoldForm(request.POST, study=study)
    if form.is_valid():
        said = form.cleaned_data
        try:
            mark_gold(study, said["version"].pk, purpose=said["purpose"], by=request.user)
        except StudyRefused as refused:
            form.add_error(None, str(refused))
        else:
            messages.success(request, f"{said['version'].example.label} is gold now, and in no figure.")
            return redirect("study_queue", name)
    return _show(request, study, status=422, gold_form=form)


@require_POST
@curator_required
def gold_unmark(request: HttpRequest, name: str, pk: int) -> HttpResponse:
    """Make a gold example an ordinary version again."""
    study = study_or_404(request, name)
    try:
        unmark_gold(get_object_or_404(study.gold_items, pk=pk), by=request.user)
        messages.success(request, "It is an ordinary version of the study again.")
    except StudyRefused as refused:
        messages.error(request, str(refused))
    return redirect("study_queue", name)


@require_POST
@curator_required
def person_admit(request: HttpRequest, name: str, pk: int) -> HttpResponse:
    """Let a person work who has not qualified, with a reason."""
    study = study_or_404(request, name)
    member = get_object_or_404(study.people.select_related("person"), person=pk)
    form = AdmitForm(request.POST)
    if not form.is_valid():
        messages.error(request, "Give a reason: the figures are read with it.")
        return redirect("study_queue", name)
    said = {"reason": form.cleaned_data["reason"], "admitted_by": request.user}
    _, made = Admission.objects.get_or_create(member=member, defaults=said)
    if made:
        audit(request.user, "admit person", f"study:{study.pk}", annotator=member.person.pseudonym)
        messages.success(request, f"{member.person.pseudonym} can work now.")
    return redirect("study_queue", name)


@require_POST
@curator_required
def person_cap(request: HttpRequest, name: str, pk: int) -> HttpResponse:
    """Say how many examples of the study a person is given at most."""
    study = study_or_404(request, name)
    member = get_object_or_404(study.people.select_related("person"), person=pk)
    form = CapForm(request.POST)
    if not form.is_valid():
        messages.error(request, "The cap is a whole number from 1 to 10,000, or empty for none.")
        return redirect("study_queue", name)
    cap = form.cleaned_data["cap"]
    if cap != member.cap:
        audit(request.user, "set cap", f"study:{study.pk}", annotator=member.person.pseudonym, cap=cap)
        member.cap = cap
        member.save(update_fields=["cap"])
    return redirect("study_queue", name)


@require_POST
@curator_required
def person_withdraw(request: HttpRequest, name: str, pk: int) -> HttpResponse:
    """Record that a person has left the study, as they asked."""
    study = study_or_404(request, name)
    member = get_object_or_404(study.people.select_related("study", "person"), person=pk)
    form = WithdrawForm(request.POST)
    if form.is_valid():
        said = form.cleaned_data
        withdraw(
            member, leave_out=said["leave_out"], words=said["words"], by=request.user, now=timezone.now()
        )
        messages.success(request, f"{member.person.pseudonym} has left the study; nothing was deleted.")
    return redirect("study_queue", name)
