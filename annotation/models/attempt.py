"""Attempts: drafts, beats, pauses, runs."""

from __future__ import annotations

from django.db import models
from django.db.models import CheckConstraint, F, Q, UniqueConstraint
from django.db.models.functions import Now

from annotation.models.account import User
from annotation.models.protocol import Arm, Protocol
from annotation.models.study import COUNTED, Slot
from config.access import Person
from runner.models import Execution
from runner.outcome import Outcome


class AttemptQuerySet(models.QuerySet["Attempt"]):
    """Which attempts."""

    def visible_to(self, user: Person) -> AttemptQuerySet:
        """One's own; curators all; nobody else any."""
        if not user.is_authenticated:
            return self.none()
        return self.all() if user.curates else self.filter(annotator_id=user.pk)

    def open(self) -> AttemptQuerySet:
        """Being worked on, or waiting for the verdict."""
        return self.filter(state__in=[Attempt.State.OPEN, Attempt.State.SUBMITTED])

    def counted(self) -> AttemptQuerySet:
        """Those that figures, exports and releases are made of: without warm-up and gold examples."""
        return self.filter(slot__kind__in=COUNTED)


class Attempt(models.Model):
    """The annotator's work on an assignment: drafts, beats, runs, submissions, and a verdict that closes it.

    open       being worked on
    submitted  no further submission possible (passed, all m used, gave up, out of time): the verdict is due
    closed     the verdict is given
    deferred   set aside by the annotator for later; the slot is kept for a while
    declined   refused by the annotator, with a reason; the slot went back, and this person never gets the version again
    reported   left as broken, with evidence; the slot went back, and the version waits for a curator
    released   the slot went back (lease over, or given back); what was written stays with the person

    Who may lead from which to which stands in `annotation.transitions`.
    """

    class State(models.TextChoices):
        OPEN = "open", "open"
        SUBMITTED = "submitted", "verdict due"
        CLOSED = "closed", "closed"
        DEFERRED = "deferred", "deferred"
        DECLINED = "declined", "declined"
        REPORTED = "reported", "reported broken"
        RELEASED = "released", "slot given back"

    slot = models.ForeignKey(Slot, on_delete=models.PROTECT, related_name="attempts")
    annotator = models.ForeignKey(User, on_delete=models.PROTECT, related_name="attempts")
    protocol = models.ForeignKey(
        Protocol, on_delete=models.PROTECT, related_name="attempts", help_text="under which it began"
    )
    arm = models.CharField(max_length=10, choices=Arm, default=Arm.NONE, help_text="the help it may use")
    state = models.CharField(max_length=10, choices=State, default=State.OPEN)
    started_at = models.DateTimeField(db_default=Now())
    ended_at = models.DateTimeField(
        null=True, help_text="when the work on the code ended; the verdict's time is not counted"
    )
    gave_up_reason = models.TextField(blank=True)

    objects = AttemptQuerySet.as_manager()

    class Meta:
        ordering = ["pk"]
        constraints = [
            UniqueConstraint(F("slot"), F("annotator"), name="attempt_slot_annotator"),
            UniqueConstraint(
                fields=["slot"],
                condition=Q(state__in=["open", "submitted", "closed", "deferred"]),
                name="attempt_one_live_per_slot",
            ),
            CheckConstraint(
                condition=Q(state="open") ^ Q(ended_at__isnull=False), name="attempt_ended_iff_not_open"
            ),
        ]

    def __str__(self) -> str:
        return f"attempt {self.pk}"


class Draft(models.Model):
    """A revision of what is in the editor; rows are added, never changed, and never become a submission by themselves."""

    attempt = models.ForeignKey(Attempt, on_delete=models.CASCADE, related_name="drafts")
    revision = models.PositiveIntegerField()
    function = models.TextField()
    module = models.TextField(blank=True, help_text="imports and helpers")
    saved_at = models.DateTimeField(db_default=Now())

    class Meta:
        ordering = ["attempt", "revision"]
        constraints = [UniqueConstraint(F("attempt"), F("revision"), name="draft_attempt_revision")]

    def __str__(self) -> str:
        return f"revision {self.revision}"


class Beat(models.Model):
    """A sign of life of a page, stamped by the server: visible or not, and milliseconds since the last input."""

    attempt = models.ForeignKey(Attempt, on_delete=models.CASCADE, related_name="beats")
    at = models.DateTimeField(db_default=Now())
    tab = models.CharField(max_length=40)
    visible = models.BooleanField()
    ms_since_input = models.PositiveIntegerField(null=True)

    class Meta:
        ordering = ["attempt", "at", "pk"]
        indexes = [models.Index(fields=["attempt", "at"], name="beat_attempt_at")]

    def __str__(self) -> str:
        return f"beat {self.at:%H:%M:%S}"


class Pause(models.Model):
    """A stretch in which the annotator stopped the clock."""

    attempt = models.ForeignKey(Attempt, on_delete=models.CASCADE, related_name="pauses")
    started_at = models.DateTimeField(db_default=Now())
    ended_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ["attempt", "started_at"]
        constraints = [
            UniqueConstraint(
                fields=["attempt"], condition=Q(ended_at=None), name="pause_one_open_per_attempt"
            ),
        ]

    def __str__(self) -> str:
        return f"pause from {self.started_at:%H:%M:%S}"


class Paste(models.Model):
    """A paste into an editor of an attempt: how much came from where, never what; only where the protocol records it.

    Rows are added, never changed, and stamped by the server. Where it came from is what the page saw: text that was copied
    in one of its editors, elsewhere on it (instruction, context, tests), or somewhere else.
    """

    class Origin(models.TextChoices):
        EDITOR = "editor", "own editor"
        PAGE = "page", "the example's page"
        ELSEWHERE = "elsewhere", "elsewhere"

    class Editor(models.TextChoices):
        FUNCTION = "function", "function"
        MODULE = "module", "imports and helpers"
        SNIPPET = "snippet", "scratch snippet"

    attempt = models.ForeignKey(Attempt, on_delete=models.CASCADE, related_name="pastes")
    key = models.CharField(max_length=64, help_text="made by the page: the same paste sent twice is one row")
    at = models.DateTimeField(db_default=Now())
    editor = models.CharField(max_length=10, choices=Editor)
    origin = models.CharField(max_length=10, choices=Origin)
    characters = models.PositiveIntegerField()
    lines = models.PositiveIntegerField()

    class Meta:
        ordering = ["attempt", "at", "pk"]
        constraints = [UniqueConstraint(F("attempt"), F("key"), name="paste_attempt_key")]

    def __str__(self) -> str:
        return f"{self.characters} characters from {self.get_origin_display()}"


class Run(models.Model):
    """A run (visible tests, or a scratch snippet) or a submission (everything, for the record) of an attempt."""

    class Kind(models.TextChoices):
        VISIBLE = "visible", "visible tests"
        SCRATCH = "scratch", "scratch run"
        SUBMISSION = "submission", "submission"

    attempt = models.ForeignKey(Attempt, on_delete=models.CASCADE, related_name="runs")
    kind = models.CharField(max_length=12, choices=Kind)
    number = models.PositiveIntegerField(help_text="from 1, in the attempt")
    key = models.CharField(max_length=64, help_text="made by the page: the same request twice is one run")
    function = models.TextField()
    module = models.TextField(blank=True)
    snippet = models.TextField(blank=True)
    sha256 = models.CharField(max_length=64, help_text="of function, NUL, module")
    lines = models.JSONField(
        default=list, help_text="program line to editor region and line, for marks and tracebacks"
    )
    warnings = models.JSONField(default=list)
    execution = models.OneToOneField(Execution, on_delete=models.PROTECT, related_name="run")
    created_at = models.DateTimeField(db_default=Now())

    class Meta:
        ordering = ["attempt", "number"]
        constraints = [
            UniqueConstraint(F("attempt"), F("number"), name="run_attempt_number"),
            UniqueConstraint(F("attempt"), F("key"), name="run_attempt_key"),
        ]

    def __str__(self) -> str:
        return f"{self.get_kind_display()} {self.number}"

    @property
    def decided(self) -> Ruling | None:
        """The curator's decision on it, where it was flagged and one was made."""
        return getattr(self, "ruling", None) if self.execution.tampered else None

    @property
    def passed(self) -> bool:
        """Whether it PASSED, and was not flagged or stands by a curator's decision."""
        return self.execution.passed or (self.decided is not None and self.decided.stands)

    @property
    def awaits_curator(self) -> bool:
        """Whether it PASSED, could not be confirmed, and nobody has decided yet: neither solved nor failed."""
        return self.execution.tampered and self.execution.outcome == Outcome.PASSED and self.decided is None


class Ruling(models.Model):
    """A curator's decision on a submission that PASSED and could not be confirmed: whether it stands."""

    run = models.OneToOneField(Run, on_delete=models.PROTECT, related_name="ruling")
    stands = models.BooleanField(help_text="true: it counts as passed; false: as failed")
    reason = models.TextField()
    decided_by = models.ForeignKey(User, on_delete=models.PROTECT, related_name="rulings")
    decided_at = models.DateTimeField(db_default=Now())

    class Meta:
        ordering = ["pk"]
        constraints = [CheckConstraint(condition=~Q(reason=""), name="ruling_has_reason")]

    def __str__(self) -> str:
        return f"{self.run}: {'stands' if self.stands else 'does not stand'}"
