"""ASSIGN: the annotator's own pages: what is open, what can be taken, why not; what was done, and leaving a study."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from django.contrib import messages
from django.db.models import Max
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.utils import timezone
from django.views.decorators.http import require_GET, require_POST

from annotation import clock
from annotation.assignment import (
    NothingToTake,
    Reason,
    available_to,
    cap_reached,
    take_slot,
    why_nothing,
)
from annotation.attempts import Progress, progress_of, settle
from annotation.beats import is_paused
from annotation.drafts import current_draft
from annotation.forms.onboarding import WithdrawForm
from annotation.models import Attempt, BrokenReport, Draft, Parting, Run, Slot, Study, StudyPerson, User
from annotation.onboarding.steps import Standing, Step, gold_ahead, standing_of
from annotation.results import attempt_logs
from annotation.withdrawing import withdraw
from annotation.wording import read_as
from annotation.workspace import own_attempts, with_example
from config.access import annotator_required
from config.http import HttpRequest, render_page

CLOSED_SHOWN = 50
WORK_KINDS = [Slot.Kind.STUDY, Slot.Kind.EXTRA, Slot.Kind.GOLD]  # told apart to nobody who solves


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
    standing: Standing
    kept: int = 0

    @property
    def total(self) -> int:
        """Return how many the person has done, has open or set aside, or could take."""
        return self.done + self.available + self.busy + self.kept

    @property
    def progress_words(self) -> str:
        """Return what the bar beside the study's name means."""
        return f"{self.study.title}: {self.done} of {self.total} done"

    @property
    def starting(self) -> bool:
        """Whether a step of the way in comes before the work."""
        return self.standing.next not in (Step.WORK, Step.NOT_QUALIFIED)


@require_GET
@annotator_required
def work(request: HttpRequest) -> HttpResponse:
    """Show what is open first, then the studies, then what was closed."""
    now = timezone.now()
    person: User = request.user
    opened = [_open_work(attempt, now) for attempt in _held(person)]
    busy = {each.attempt.slot.study_id for each in opened}
    members = StudyPerson.objects.filter(person=person, active=True).exclude(study__state=Study.State.DRAFT)
    mine = with_example(own_attempts(person))
    closed = (
        mine.filter(state=Attempt.State.CLOSED).select_related("verdict").order_by("-verdict__created_at")
    )
    context = {
        "opened": opened,
        "deferred": mine.filter(state=Attempt.State.DEFERRED, slot__annotator=person).order_by("ended_at"),
        "now": now,
        "studies": [
            _study_work(member, now, busy=member.study_id in busy)
            for member in members.select_related("study", "person")
            .prefetch_related("study__protocols")
            .order_by("-study")
        ],
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


def _study_work(member: StudyPerson, now: datetime, *, busy: bool) -> StudyWork:
    study, person = member.study, member.person
    mine = Attempt.objects.filter(annotator=person, slot__study=study)
    done = mine.filter(state=Attempt.State.CLOSED, slot__kind__in=WORK_KINDS).count()
    standing = standing_of(member)
    if study.state != Study.State.OPEN:
        return StudyWork(study, done, 0, busy, NothingToTake(Reason.NOT_OPEN), standing)
    if standing.next == Step.NOT_QUALIFIED:
        return StudyWork(study, done, 0, busy, NothingToTake(Reason.NOT_QUALIFIED), standing)
    available = 0 if cap_reached(member) else available_to(study, person, now)
    if member.cap is not None and available:
        begun = mine.counted().exclude(state__in=[Attempt.State.DECLINED, Attempt.State.REPORTED]).count()
        available = min(available, member.cap - begun)
    available += gold_ahead(member, available)
    kept = mine.filter(state=Attempt.State.DEFERRED, slot__annotator=person, slot__paused=False).count()
    nothing = None if busy or available or kept else why_nothing(member, now)
    return StudyWork(study, done, available, busy, nothing, standing, kept)


@require_POST
@annotator_required
def next_example(request: HttpRequest, name: str) -> HttpResponse:
    """Take the next slot of a study, or go back to the one that is open; say why where there is none."""
    return next_of(request, get_object_or_404(Study.objects.visible_to(request.user), name=name))


def next_of(request: HttpRequest, study: Study) -> HttpResponse:
    """Lead to the person's next example of a study, to the step before it, or to My work with the reason for none."""
    result = take_slot(study, request.user, timezone.now())
    if isinstance(result, Attempt):
        return redirect("workspace", result.pk)
    if result.reason == Reason.STEP_DUE:
        return redirect("onboarding", study.name)
    messages.warning(request, f"{study.title}: {in_words(result)}")
    return redirect("work")


def in_words(nothing: NothingToTake) -> str:
    """Return why there is nothing to take, in a sentence."""
    if nothing.reason == Reason.HELD and nothing.until:
        more = f" {nothing.paused} more are paused until a curator has looked." if nothing.paused else ""
        return f"{nothing.held} held by others; the first comes back at {nothing.until:%H:%M} UTC at the latest if it is left.{more}"
    return {
        Reason.NOT_OPEN: "nothing is given out while the study is not open.",
        Reason.NOT_TAKING_PART: "you do not take part in it any more.",
        Reason.NOT_QUALIFIED: "it needs a qualification that was not passed; a curator can let you in.",
        Reason.CAP: f"you have had the {nothing.cap} examples that one person gets.",
        Reason.PAUSED: f"{nothing.paused} left, reported broken: paused until a curator has decided.",
        Reason.ALL_DONE: "every place is done. Thank you.",
        Reason.YOURS_DONE: "you have done all that is yours; what is left is for others.",
    }.get(nothing.reason, "nothing to take just now.")


@require_GET
@annotator_required
def guidelines(request: HttpRequest, name: str) -> HttpResponse:
    """Show a study's guidelines and protocol to its annotators."""
    study = get_object_or_404(Study.objects.visible_to(request.user), name=name)
    return render_page(
        request, "annotation/guidelines.html", {"study": study, "parts": read_as(study.protocol)}
    )


@dataclass(frozen=True)
class OwnStudy:
    """What a person did in a study: numbers of attempts by how they ended, active seconds, and whether they have left."""

    member: StudyPerson
    closed: int
    solved: int
    open: int
    deferred: int
    declined: int
    reported: int
    active_seconds: float
    left_at: datetime | None
    left_out: bool


@require_GET
@annotator_required
def own_page(request: HttpRequest) -> HttpResponse:
    """Show one's own history: time by study, what was deferred, declined and reported, and the way out of a study."""
    person: User = request.user
    members = StudyPerson.objects.filter(person=person).exclude(study__state=Study.State.DRAFT)
    attempts = with_example(own_attempts(person)).order_by("-started_at")
    rows = list(attempts.select_related("verdict"))
    times = _active(person, rows)
    context = {
        "studies": [
            _own_study(member, [row for row in rows if row.slot.study_id == member.study_id], times)
            for member in members.select_related("study").annotate(left_at=Max("withdrawals__at"))
        ],
        "attempts": [(row, times.get(row.pk)) for row in rows],
        "partings": Parting.objects.filter(attempt__annotator=person)
        .select_related("attempt__slot__version__example", "attempt__slot__study")
        .order_by("-pk"),
        "reports": BrokenReport.objects.filter(attempt__annotator=person)
        .select_related("version__example", "study")
        .order_by("-pk"),
        "form": WithdrawForm(),
    }
    return render_page(request, "annotation/own.html", context)


def _active(person: User, attempts: Iterable[Attempt]) -> dict[int, float]:
    """Return the active seconds of each attempt, in three queries."""
    logs = attempt_logs(own_attempts(person))
    return {
        attempt.pk: clock.active_seconds(
            logs.intervals(
                attempt.pk,
                attempt.started_at,
                attempt.ended_at,
                idle_limit=attempt.protocol.idle_limit_seconds,
            )
        )
        for attempt in attempts
        if logs.beats.get(attempt.pk)
    }


def _own_study(member: StudyPerson, attempts: list[Attempt], times: dict[int, float]) -> OwnStudy:
    work = [attempt for attempt in attempts if attempt.slot.kind in WORK_KINDS]

    def count(*states: str) -> int:
        return sum(attempt.state in states for attempt in work)

    closed = [attempt for attempt in work if attempt.state == Attempt.State.CLOSED]
    return OwnStudy(
        member=member,
        closed=len(closed),
        solved=sum(attempt.verdict.solved for attempt in closed),
        open=count(Attempt.State.OPEN, Attempt.State.SUBMITTED),
        deferred=count(Attempt.State.DEFERRED),
        declined=count(Attempt.State.DECLINED),
        reported=count(Attempt.State.REPORTED),
        active_seconds=sum(times.get(attempt.pk, 0.0) for attempt in attempts),
        left_at=getattr(member, "left_at", None),
        left_out=member.withdrawals.filter(leave_out=True).exists(),
    )


@require_POST
@annotator_required
def leave_study(request: HttpRequest, name: str) -> HttpResponse:
    """Leave a study; said once more it can only add the wish to be left out of figures."""
    members = StudyPerson.objects.filter(person=request.user).exclude(study__state=Study.State.DRAFT)
    member = get_object_or_404(members.select_related("study", "person"), study__name=name)
    form = WithdrawForm(request.POST)
    if form.is_valid():
        said = form.cleaned_data
        withdraw(
            member, leave_out=said["leave_out"], words=said["words"], by=request.user, now=timezone.now()
        )
        kept = "is left out of figures from now on" if said["leave_out"] else "stays under your pseudonym"
        messages.success(request, f"You have left {member.study.title}. What you did {kept}. Thank you.")
    return redirect("own_page")
