"""What judging leaves behind: readings, assessments of solutions, fixes that were tried, verdicts that were carried."""

from __future__ import annotations

from django.db import models
from django.db.models import CheckConstraint, F, Q, UniqueConstraint
from django.db.models.functions import Now

from annotation.models.account import User
from annotation.models.verdict import Adjudication, Verdict
from examples.models import Version
from runner.models import Environment, Execution


class SecondReading(models.Model):
    """A case asks for a second reader: it stays open until the two who decided last agree; all decisions are kept.

    `after` is the decision that stood when it was asked, which counts as one of the two; None where there was none.
    """

    version = models.ForeignKey(Version, on_delete=models.PROTECT, related_name="second_readings")
    after = models.ForeignKey(Adjudication, null=True, on_delete=models.PROTECT, related_name="+")
    reason = models.TextField()
    asked_by = models.ForeignKey(User, on_delete=models.PROTECT, related_name="+")
    asked_at = models.DateTimeField(db_default=Now())

    class Meta:
        ordering = ["version", "pk"]
        constraints = [CheckConstraint(condition=~Q(reason=""), name="secondreading_has_reason")]

    def __str__(self) -> str:
        return f"second reader asked for {self.version}"


class Assessment(models.Model):
    """A curator's word on a distinct solution: right or wrong by the instruction, whatever the tests say.

    Rows are added and never changed; the latest counts.
    """

    version = models.ForeignKey(Version, on_delete=models.PROTECT, related_name="assessments")
    sha256 = models.CharField(max_length=64, help_text="of the solution: function, NUL, module")
    right = models.BooleanField()
    reason = models.TextField()
    made_by = models.ForeignKey(User, on_delete=models.PROTECT, related_name="+")
    made_at = models.DateTimeField(db_default=Now())

    class Meta:
        ordering = ["version", "pk"]
        indexes = [models.Index(fields=["version", "sha256"], name="assessment_version_sha256")]
        constraints = [CheckConstraint(condition=~Q(reason=""), name="assessment_has_reason")]

    def __str__(self) -> str:
        return f"{self.sha256[:8]} is {'right' if self.right else 'wrong'}"


class Fix(models.Model):
    """A fix that is tried: the edit of a version, as text, executed before it becomes a version or is discarded.

    `edit` holds instruction, context, reference, tests, block and visible as `examples.editing.Edit` does.
    """

    class State(models.TextChoices):
        TRIED = "tried", "being tried"
        ACCEPTED = "accepted", "accepted"
        DISCARDED = "discarded", "discarded"

    base = models.ForeignKey(Version, on_delete=models.PROTECT, related_name="fixes")
    edit = models.JSONField()
    environment = models.ForeignKey(Environment, on_delete=models.PROTECT, related_name="+")
    content_hash = models.CharField(max_length=64)
    note = models.TextField(help_text="why, for whoever compares the versions later")
    state = models.CharField(max_length=10, choices=State, default=State.TRIED)
    made_by = models.ForeignKey(User, on_delete=models.PROTECT, related_name="+")
    made_at = models.DateTimeField(db_default=Now())
    ended_by = models.ForeignKey(User, null=True, on_delete=models.PROTECT, related_name="+")
    ended_at = models.DateTimeField(null=True)
    reason = models.TextField(blank=True, help_text="why it was accepted or discarded")
    made = models.OneToOneField(
        Version, null=True, on_delete=models.PROTECT, related_name="made_by_fix", help_text="what it became"
    )

    class Meta:
        ordering = ["-pk"]
        verbose_name_plural = "fixes"
        constraints = [
            UniqueConstraint(
                fields=["base", "content_hash", "environment"],
                condition=Q(state="tried"),
                name="fix_one_open_per_content",
            ),
            CheckConstraint(condition=Q(state="accepted") ^ Q(made=None), name="fix_version_iff_accepted"),
            CheckConstraint(condition=Q(state="tried") ^ ~Q(reason=""), name="fix_ended_for_a_reason"),
        ]

    def __str__(self) -> str:
        return f"fix {self.pk} of {self.base}"


class Trial(models.Model):
    """An execution of all tests on a recorded solution, or the reference: of a version, or of a fix of it.

    `number` counts repeats of one solution from 1. What is asked for is a row, so nothing is executed twice.
    """

    class Program(models.TextChoices):
        SOLUTION = "solution", "solution"
        REFERENCE = "reference", "reference"

    version = models.ForeignKey(Version, on_delete=models.PROTECT, related_name="trials")
    fix = models.ForeignKey(Fix, null=True, on_delete=models.PROTECT, related_name="trials")
    program = models.CharField(max_length=10, choices=Program, default=Program.SOLUTION)
    sha256 = models.CharField(max_length=64, blank=True, help_text="empty for the reference")
    function = models.TextField(blank=True)
    module = models.TextField(blank=True)
    number = models.PositiveSmallIntegerField(default=1)
    execution = models.OneToOneField(Execution, on_delete=models.PROTECT, related_name="trial")
    asked_by = models.ForeignKey(User, on_delete=models.PROTECT, related_name="+")
    asked_at = models.DateTimeField(db_default=Now())

    class Meta:
        ordering = ["pk"]
        constraints = [
            UniqueConstraint(
                fields=["version", "program", "sha256", "number"],
                condition=Q(fix=None),
                name="trial_once_per_version",
            ),
            UniqueConstraint(
                fields=["fix", "program", "sha256", "number"],
                condition=Q(fix__isnull=False),
                name="trial_once_per_fix",
            ),
            CheckConstraint(condition=Q(program="reference") ^ ~Q(sha256=""), name="trial_hash_iff_solution"),
            CheckConstraint(condition=Q(number__gte=1), name="trial_number_from_one"),
        ]

    def __str__(self) -> str:
        return f"{self.program} {self.sha256[:8]} on {self.fix or self.version}"


class CarriedVerdict(models.Model):
    """A verdict that also holds for a later version, of which only the tests changed.

    The attempt stays on its version. `solved` is by executing its submissions again, and `execution` is the one that
    decided; what the annotator said is the verdict's.
    """

    verdict = models.ForeignKey(Verdict, on_delete=models.PROTECT, related_name="carried_to")
    version = models.ForeignKey(Version, on_delete=models.PROTECT, related_name="carried_verdicts")
    solved = models.BooleanField()
    execution = models.ForeignKey(Execution, null=True, on_delete=models.PROTECT, related_name="+")
    carried_at = models.DateTimeField(db_default=Now())

    class Meta:
        ordering = ["version", "pk"]
        constraints = [UniqueConstraint(F("verdict"), F("version"), name="carriedverdict_verdict_version")]

    def __str__(self) -> str:
        return f"{self.verdict}, carried to {self.version}"
