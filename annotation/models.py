"""User, Study, Slot, Attempt, Draft, Beat, Run, Verdict, Adjudication: who solves what, and what they say of it."""

from __future__ import annotations

from datetime import datetime

from django.contrib.auth.models import AbstractUser
from django.db import models
from django.db.models import CheckConstraint, F, Q, UniqueConstraint
from django.db.models.functions import Now
from knox.models import AbstractAuthToken

from config.access import Person, Role
from examples.models import Version
from runner.models import Execution
from runner.outcome import Outcome

DEFAULT_DIFFICULTY = ["trivial", "requires effort", "very hard"]


def default_difficulty() -> list[str]:
    """Return the default scale; only "requires effort" is the paper's published wording (arXiv 2404.00566)."""
    return list(DEFAULT_DIFFICULTY)


class User(AbstractUser):
    """An account: one role, and the pseudonym under which others read of its work."""

    role = models.CharField(max_length=20, choices=Role, default=Role.ANNOTATOR)
    pseudonym = models.CharField(max_length=20, unique=True)
    must_change_password = models.BooleanField(default=False)

    class Meta(AbstractUser.Meta):
        constraints = [CheckConstraint(condition=~Q(pseudonym=""), name="user_has_pseudonym")]

    @property
    def curates(self) -> bool:
        """Whether the account may do what a curator may."""
        return self.role in (Role.CURATOR, Role.ADMIN)

    @property
    def administers(self) -> bool:
        """Whether the account manages accounts and settings."""
        return self.role == Role.ADMIN


class ApiToken(AbstractAuthToken):  # type: ignore[misc] # knox ships no types
    """A script's token: hashed, expiring, with the scopes its owner gave it."""

    name = models.CharField(max_length=100)
    scopes = models.JSONField(default=list)
    last_used_at = models.DateTimeField(null=True)

    def __str__(self) -> str:
        return self.name


class Invitation(models.Model):
    """A link, used once, by which a person makes an account of a given role."""

    token_sha256 = models.CharField(max_length=64, unique=True)
    role = models.CharField(max_length=20, choices=Role, default=Role.ANNOTATOR)
    note = models.CharField(max_length=200, blank=True)
    study = models.ForeignKey("Study", null=True, on_delete=models.CASCADE, related_name="invitations")
    created_by = models.ForeignKey(User, on_delete=models.PROTECT, related_name="invitations")
    created_at = models.DateTimeField(db_default=Now())
    expires_at = models.DateTimeField()
    accepted_by = models.OneToOneField(
        User, null=True, on_delete=models.PROTECT, related_name="accepted_invitation"
    )
    accepted_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ["-pk"]

    def __str__(self) -> str:
        return f"invitation {self.pk} ({self.role})"


class StudyQuerySet(models.QuerySet["Study"]):
    """Which studies."""

    def visible_to(self, user: Person) -> StudyQuerySet:
        """Curators see every study, annotators those they take part in once it is open, others none."""
        if not user.is_authenticated:
            return self.none()
        if user.curates:
            return self.all()
        if user.role == Role.ANNOTATOR:
            return self.filter(people__person_id=user.pk).exclude(state=Study.State.DRAFT)
        return self.none()


class Study(models.Model):
    """A frozen protocol over versions: who, k solvers each, what they see and may use, limits and scales."""

    class State(models.TextChoices):
        DRAFT = "draft", "draft"
        OPEN = "open", "open"
        PAUSED = "paused", "paused"
        CLOSED = "closed", "closed"

    name = models.SlugField(unique=True)
    title = models.CharField(max_length=200)
    state = models.CharField(max_length=10, choices=State, default=State.DRAFT)
    solvers = models.PositiveSmallIntegerField(default=2, help_text="k: independent solvers for each version")
    shows_visible_tests = models.BooleanField(default=True)
    active_limit_seconds = models.PositiveIntegerField(
        default=1800, help_text="limit on active time of an attempt"
    )
    idle_limit_seconds = models.PositiveIntegerField(
        default=120, help_text="without input beyond this is idle"
    )
    submissions = models.PositiveSmallIntegerField(
        default=1, help_text="m: submissions allowed in an attempt"
    )
    difficulty_levels = models.JSONField(default=default_difficulty)
    guidelines = models.TextField(blank=True, help_text="Markdown, shown to annotators")
    seed = models.PositiveIntegerField(default=0)
    created_by = models.ForeignKey(User, null=True, on_delete=models.PROTECT, related_name="+")
    created_at = models.DateTimeField(db_default=Now())
    opened_at = models.DateTimeField(null=True)
    closed_at = models.DateTimeField(null=True)

    objects = StudyQuerySet.as_manager()

    class Meta:
        ordering = ["-pk"]
        verbose_name_plural = "studies"
        constraints = [
            CheckConstraint(condition=Q(solvers__gte=1), name="study_has_solvers"),
            CheckConstraint(condition=Q(submissions__gte=1), name="study_has_submissions"),
            CheckConstraint(condition=Q(active_limit_seconds__gte=60), name="study_limit_a_minute_or_more"),
            CheckConstraint(
                condition=Q(state="draft") | Q(opened_at__isnull=False), name="study_opened_has_time"
            ),
        ]

    def __str__(self) -> str:
        return self.title


class StudyPerson(models.Model):
    """An annotator who takes part in a study; taken out of it they stay as `active=False`, never deleted."""

    study = models.ForeignKey(Study, on_delete=models.CASCADE, related_name="people")
    person = models.ForeignKey(User, on_delete=models.PROTECT, related_name="studies")
    active = models.BooleanField(default=True)

    class Meta:
        ordering = ["study", "pk"]
        constraints = [UniqueConstraint(F("study"), F("person"), name="studyperson_study_person")]

    def __str__(self) -> str:
        return f"{self.person.pseudonym} in {self.study}"


class SlotQuerySet(models.QuerySet["Slot"]):
    """Which slots."""

    def takeable(self, now: datetime) -> SlotQuerySet:
        """Free, or taken with a lease that is over; one table only, so that an UPDATE checks the row it changes."""
        return self.filter(Q(state=Slot.State.FREE) | Q(state=Slot.State.TAKEN, lease_end__lt=now))


class Slot(models.Model):
    """One of the k places of a version in a study; taken it is an assignment, leased to its annotator.

    free    annotator None
    taken   leased until `lease_end`; kept alive by the page's beats
    closed  its attempt is closed
    """

    class State(models.TextChoices):
        FREE = "free", "free"
        TAKEN = "taken", "taken"
        CLOSED = "closed", "closed"

    study = models.ForeignKey(Study, on_delete=models.CASCADE, related_name="slots")
    version = models.ForeignKey(Version, on_delete=models.PROTECT, related_name="slots")
    number = models.PositiveSmallIntegerField(help_text="1 to k")
    state = models.CharField(max_length=10, choices=State, default=State.FREE)
    annotator = models.ForeignKey(User, null=True, on_delete=models.PROTECT, related_name="slots")
    taken_at = models.DateTimeField(null=True)
    lease_end = models.DateTimeField(null=True)

    objects = SlotQuerySet.as_manager()

    class Meta:
        ordering = ["study", "version", "number"]
        indexes = [models.Index(fields=["study", "state", "version"], name="slot_study_state_version")]
        constraints = [
            UniqueConstraint(F("study"), F("version"), F("number"), name="slot_study_version_number"),
            UniqueConstraint(fields=["study", "version", "annotator"], name="slot_study_version_annotator"),
            UniqueConstraint(
                fields=["study", "annotator"], condition=Q(state="taken"), name="slot_one_open_per_person"
            ),
            CheckConstraint(
                condition=Q(state="free") ^ Q(annotator__isnull=False), name="slot_annotator_iff_not_free"
            ),
            CheckConstraint(condition=Q(state="taken") ^ Q(lease_end=None), name="slot_lease_iff_taken"),
        ]

    def __str__(self) -> str:
        return f"slot {self.number} of {self.version} in {self.study}"


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


class Attempt(models.Model):
    """The annotator's work on an assignment: drafts, beats, runs, submissions, and a verdict that closes it.

    open       being worked on
    submitted  no further submission possible (passed, all m used, gave up, out of time): the verdict is due
    closed     the verdict is given
    released   the slot went back (lease over, or given back); what was written stays with the person
    """

    class State(models.TextChoices):
        OPEN = "open", "open"
        SUBMITTED = "submitted", "verdict due"
        CLOSED = "closed", "closed"
        RELEASED = "released", "slot given back"

    slot = models.ForeignKey(Slot, on_delete=models.PROTECT, related_name="attempts")
    annotator = models.ForeignKey(User, on_delete=models.PROTECT, related_name="attempts")
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
                fields=["slot"], condition=~Q(state="released"), name="attempt_one_live_per_slot"
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


class Verdict(models.Model):
    """What an annotator says when closing an attempt; the machine's outcome stays in its own columns."""

    class Outcome(models.TextChoices):
        SOLVED = "solved", "solved"
        GAVE_UP = "gave_up", "gave up"
        OUT_OF_TIME = "out_of_time", "out of time"
        UNDERSPECIFIED = "underspecified", "under-specified"
        TESTS_WRONG = "tests_wrong", "tests wrong or over-strict"
        ENVIRONMENT_BROKEN = "environment_broken", "environment broken"
        KNEW_IT = "knew_it", "knew it already"

    attempt = models.OneToOneField(Attempt, on_delete=models.PROTECT, related_name="verdict")
    outcome = models.CharField(max_length=20, choices=Outcome)
    solved = models.BooleanField(help_text="by execution: a submission PASSED within the limits")
    difficulty = models.CharField(max_length=60)
    instruction_quality = models.PositiveSmallIntegerField(
        help_text="0 well specified to 3 impossible to understand"
    )
    test_quality = models.PositiveSmallIntegerField(
        help_text="0 cover all solutions to 3 look for something else"
    )
    text = models.TextField(blank=True)
    evidence = models.TextField(blank=True, help_text="which test or input, what was expected and why")
    carried = models.BooleanField(default=False)
    created_at = models.DateTimeField(db_default=Now())

    class Meta:
        ordering = ["attempt"]
        constraints = [
            CheckConstraint(
                condition=Q(instruction_quality__lte=3), name="verdict_instruction_quality_0_to_3"
            ),
            CheckConstraint(condition=Q(test_quality__lte=3), name="verdict_test_quality_0_to_3"),
        ]

    def __str__(self) -> str:
        return self.get_outcome_display()


class Adjudication(models.Model):
    """A curator's decision on a version where verdicts or executions disagree, with its reason."""

    class Decision(models.TextChoices):
        SOLVABLE = "solvable", "solvable as it stands"
        REPAIR = "repair", "needs a new version"
        RETIRE = "retire", "to be retired"

    version = models.ForeignKey(Version, on_delete=models.PROTECT, related_name="adjudications")
    decision = models.CharField(max_length=20, choices=Decision)
    reason = models.TextField()
    decided_by = models.ForeignKey(User, on_delete=models.PROTECT, related_name="adjudications")
    decided_at = models.DateTimeField(db_default=Now())

    class Meta:
        ordering = ["version", "pk"]
        constraints = [CheckConstraint(condition=~Q(reason=""), name="adjudication_has_reason")]

    def __str__(self) -> str:
        return self.get_decision_display()
