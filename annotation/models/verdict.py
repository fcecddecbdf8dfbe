"""What annotators say at the end, and what curators decide."""

from __future__ import annotations

from django.db import models
from django.db.models import CheckConstraint, Q
from django.db.models.functions import Now

from annotation.models.account import User
from annotation.models.attempt import Attempt
from examples.models import Version


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
