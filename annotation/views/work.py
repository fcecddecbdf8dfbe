"""ASSIGN: the annotator's own page: what is open, what can be taken, why not, what was closed."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.utils import timezone
from django.views.decorators.http import require_GET, require_POST

from annotation.assignment import NothingToTake, Reason, available_to, take_slot, why_nothing
from annotation.attempts import Progress, progress_of, settle
from annotation.beats import is_paused
from annotation.drafts import current_draft
from annotation.models import Attempt, Draft, Run, Study, User
from annotation.wording import read_as
from annotation.workspace import own_attempts, with_example
from config.access import annotator_required
from config.http import HttpRequest, render_page

CLOSED_SHOWN = 50


@dataclass(frozen=True)
class OpenWork:
    """An attempt that waits for its annotator: to be resumed, or for its verdict."""

    attempt: Attempt
    draft: Draft
    last_run: Run | None
    progress: Progress
    paused: bool


@dataclass(frozen=True)
class StudyWork:
    """A study as one of its annotators sees it: how much is done, how much could be taken, why nothing can."""

    study: Study
    done: int
    available: int
    busy: bool
    nothing: NothingToTake | None

    @property
    def total(self) -> int:
        """Return how many the person has done, has open, or could take."""
        return self.done + self.available + self.busy

    @property
    def progress_words(self) -> str:
        """Return what the bar beside the study's name means."""
        return f"{self.study.title}: {self.done} of {self.total} done"


@require_GET
@annotator_required
def work(request: HttpRequest) -> HttpResponse:
    """Show what is open first, then the studies, then what was closed."""
    now = timezone.now()
    person: User = request.user
    opened = [_open_work(attempt, now) for attempt in _held(person)]
    busy = {each.attempt.slot.study_id for each in opened}
    studies = Study.objects.visible_to(person).filter(people__active=True, people__person=person)
    studies = studies.prefetch_related("protocols")
    closed = (
        with_example(own_attempts(person))
        .filter(state=Attempt.State.CLOSED)
        .select_related("verdict")
        .order_by("-verdict__created_at")
    )
    context = {
        "opened": opened,
        "studies": [_study_work(study, person, now, busy=study.pk in busy) for study in studies.distinct()],
        "closed": closed[:CLOSED_SHOWN],
        "closed_count": closed.count(),
    }
    return render_page(request, "annotation/work.html", context)


def _held(person: User) -> list[Attempt]:
    """Return the live attempts whose slot the person still holds, and those whose verdict is due."""
    live = with_example(own_attempts(person)).open().filter(slot__annotator=person)
    return list(live.order_by("-started_at"))


def _open_work(attempt: Attempt, now: datetime) -> OpenWork:
    progress = progress_of(attempt)
    settle(attempt, now=now, progress=progress)
    last = attempt.runs.select_related("execution").order_by("-number").first()
    return OpenWork(attempt, current_draft(attempt), last, progress, is_paused(attempt))


def _study_work(study: Study, person: User, now: datetime, *, busy: bool) -> StudyWork:
    done = Attempt.objects.filter(annotator=person, slot__study=study, state=Attempt.State.CLOSED).count()
    if study.state != Study.State.OPEN:
        return StudyWork(study, done, 0, busy, NothingToTake(Reason.NOT_OPEN))
    available = available_to(study, person, now)
    nothing = None if busy or available else why_nothing(study, person, now)
    return StudyWork(study, done, available, busy, nothing)


@require_POST
@annotator_required
def next_example(request: HttpRequest, name: str) -> HttpResponse:
    """Take the next slot of a study, or go back to the one that is open; say why where there is none."""
    return next_of(request, get_object_or_404(Study.objects.visible_to(request.user), name=name))


def next_of(request: HttpRequest, study: Study) -> HttpResponse:
    """Lead to the person's next example of a study, or back to My work with the reason why there is none."""
    result = take_slot(study, request.user, timezone.now())
    if isinstance(result, NothingToTake):
        messages.warning(request, f"{study.title}: {in_words(result)}")
        return redirect("work")
    return redirect("workspace", result.pk)


def in_words(nothing: NothingToTake) -> str:
    """Return why there is nothing to take, in a sentence."""
    if nothing.reason == Reason.HELD and nothing.until:
        return f"{nothing.held} held by others; the first comes back at {nothing.until:%H:%M} UTC at the latest if it is left."
    return {
        Reason.NOT_OPEN: "nothing is given out while the study is not open.",
        Reason.NOT_TAKING_PART: "you do not take part in it any more.",
        Reason.ALL_DONE: "every place is done. Thank you.",
        Reason.YOURS_DONE: "you have done all that is yours; what is left is for others.",
    }.get(nothing.reason, "nothing to take just now.")


@require_GET
@annotator_required
def guidelines(request: HttpRequest, name: str) -> HttpResponse:
    """Show a study's guidelines and protocol to its annotators."""
    study = get_object_or_404(Study.objects.visible_to(request.user), name=name)
    return render_page(request, "annotation/guidelines.html", {"study": study, "parts": read_as(study.protocol)})
