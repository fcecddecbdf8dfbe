"""What is shown once an attempt is closed, and the second judgement that is made of it."""

from __future__ import annotations

from django.db import models
from django.db.models import CheckConstraint, Q
from django.db.models.functions import Now

from annotation.models.attempt import Attempt


class Reveal(models.Model):
    """Reference and hidden tests were shown to the annotator of a closed attempt; from then on they know the example."""

    attempt = models.OneToOneField(Attempt, on_delete=models.PROTECT, related_name="reveal")
    at = models.DateTimeField(db_default=Now())

    class Meta:
        ordering = ["attempt"]

    def __str__(self) -> str:
        return f"reveal of {self.attempt}"


class SecondJudgement(models.Model):
    """What an annotator says of an example after the reveal; it stands beside the verdict and never changes it."""

    class Reference(models.TextChoices):
        RIGHT = "right", "it does what the instruction asks"
        WRONG = "wrong", "it does something else"
        UNSURE = "unsure", "I cannot tell"

    class Tests(models.TextChoices):
        FAIR = "fair", "they accept what the instruction allows"
        UNFAIR = "unfair", "they reject what the instruction allows"
        WEAK = "weak", "they accept what the instruction forbids"
        UNSURE = "unsure", "I cannot tell"

    reveal = models.OneToOneField(Reveal, on_delete=models.PROTECT, related_name="judgement")
    reference = models.CharField(max_length=10, choices=Reference)
    tests = models.CharField(max_length=10, choices=Tests)
    instruction_quality = models.PositiveSmallIntegerField(help_text="0 to 3, as in the verdict")
    test_quality = models.PositiveSmallIntegerField(help_text="0 to 3, as in the verdict")
    text = models.TextField(blank=True)
    created_at = models.DateTimeField(db_default=Now())

    class Meta:
        ordering = ["reveal"]
        constraints = [
            CheckConstraint(
                condition=Q(instruction_quality__lte=3), name="secondjudgement_instruction_0_to_3"
            ),
            CheckConstraint(condition=Q(test_quality__lte=3), name="secondjudgement_tests_0_to_3"),
        ]

    def __str__(self) -> str:
        return f"second judgement of {self.reveal.attempt}"
