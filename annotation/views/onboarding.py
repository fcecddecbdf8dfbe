"""ONBOARDING: the way into a study, step by step, and what was expected in a gold example of the qualification."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.utils import timezone
from django.views.decorators.http import require_GET, require_http_methods

from annotation.forms.onboarding import BackgroundForm
from annotation.models import Acceptance, Attempt, Background, Reveal, Slot, StudyPerson
from annotation.onboarding.gold import may_see_answer
from annotation.onboarding.steps import Step, accept, standing_of
from annotation.views.workspace import attempt_or_404
from annotation.wording import read_as
from config.access import annotator_required
from config.http import HttpRequest, render_page
from examples.jobs import segments_of
from examples.masking import test_source
from examples.models import audit
from examples.showing import whole_reference

What = Acceptance.What


def member_or_404(request: HttpRequest, name: str) -> StudyPerson:
    """Return the person's own place in a study that was opened."""
    members = StudyPerson.objects.filter(person=request.user, active=True).exclude(study__state="draft")
    return get_object_or_404(members.select_related("study", "person"), study__name=name)


@require_http_methods(["GET", "POST"])
@annotator_required
def onboarding(request: HttpRequest, name: str) -> HttpResponse:
    """Show the steps of a study and what is next; take the answer to one of them."""
    member = member_or_404(request, name)
    if request.method == "GET":
        return _show(request, member)
    standing = standing_of(member)
    now = timezone.now()
    match request.POST.get("do", ""):
        case "consent" if standing.next == Step.CONSENT:
            accept(member, What.CONSENT, accepted=True, now=now)
        case "decline" if standing.next == Step.CONSENT:
            accept(member, What.CONSENT, accepted=False, now=now)
            messages.info(
                request, "You have declined. Nothing is given out to you; you can change your mind here."
            )
            return redirect("onboarding", name)
        case "background" if standing.next == Step.BACKGROUND:
            return _background(request, member)
        case "guidelines" if standing.next == Step.GUIDELINES:
            accept(member, What.GUIDELINES, accepted=True, now=now)
        case _:
            messages.warning(request, "That step is done or not due; here is what is next.")
    return redirect("onboarding", name)


def _background(request: HttpRequest, member: StudyPerson) -> HttpResponse:
    """Store what was said of experience; what is left unsaid is stored as that."""
    protocol = member.study.protocol
    form = BackgroundForm(request.POST, protocol=protocol)
    if not form.is_valid():
        return _show(request, member, form=form, status=422)
    form.instance.member = member
    form.save()
    return redirect("onboarding", member.study.name)


def _show(
    request: HttpRequest, member: StudyPerson, *, form: BackgroundForm | None = None, status: int = 200
) -> HttpResponse:
    standing = standing_of(member)
    protocol = member.study.protocol
    own = Attempt.objects.filter(annotator=member.person_id, slot__study=member.study_id)
    gold = own.filter(slot__kind=Slot.Kind.QUALIFICATION).select_related("slot__version__example", "verdict")
    context: dict[str, Any] = {
        "study": member.study,
        "protocol": protocol,
        "standing": standing,
        "parts": read_as(protocol),
        "gold": gold.order_by("pk"),
        "open": own.open().filter(slot__annotator=member.person_id).first(),
    }
    if standing.next == Step.BACKGROUND:
        context["form"] = form or BackgroundForm(protocol=protocol, initial=_said_before(member))
    return render_page(request, "annotation/onboarding.html", context, status=status)


def _said_before(member: StudyPerson) -> dict[str, str]:
    """Return what the person said in their last study, to be confirmed; prior exposure is asked anew."""
    last = Background.objects.filter(member__person=member.person_id).order_by("-pk").first()
    if last is None:
        return {}
    names = ("programming_years", "language_years", "familiarity")
    return {name: getattr(last, name) for name in names}


@require_GET
@login_required
def feedback(request: HttpRequest, pk: int) -> HttpResponse:
    """Show what a closed gold example of the qualification expected: reference and tests."""
    attempt = attempt_or_404(request, pk)
    if attempt.state != Attempt.State.CLOSED or attempt.slot.kind != Slot.Kind.QUALIFICATION:
        raise Http404
    version, shown = attempt.slot.version, may_see_answer(attempt)
    if shown:  # kept, so that no other study offers them an example whose answer they know
        Reveal.objects.get_or_create(attempt=attempt, defaults={"at": timezone.now()})
        audit(request.user, "gold answer shown", f"attempt:{attempt.pk}", version=version.pk)
    last = attempt.runs.filter(kind="submission").order_by("-number").first()
    context = {
        "attempt": attempt,
        "version": version,
        "study": attempt.slot.study,
        "shown": shown,
        "submission": last,
        "reference": whole_reference(version) if shown else "",
        "tests": test_source(segments_of(version)) if shown else "",
    }
    return render_page(request, "annotation/feedback.html", context)
