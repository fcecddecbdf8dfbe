"""Accepted alternatives: solutions that a curator found right, which every later version must let pass."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.db.models import CheckConstraint, F, Q, UniqueConstraint
from django.db.models.functions import Now

from examples.models.example import Example, Version
from runner.models import Execution


class AlternativeQuerySet(models.QuerySet["Alternative"]):
    """Which alternatives."""

    def standing(self) -> AlternativeQuerySet:
        """Accepted, and not withdrawn since."""
        return self.filter(withdrawn_at=None)


class Alternative(models.Model):
    """A solution that does what the instruction asks in another way than the reference; a regression fixture.

    It is executed against the version it was accepted on and every later one; the gate asks that all of them pass it.
    """

    example = models.ForeignKey(Example, on_delete=models.CASCADE, related_name="alternatives")
    version = models.ForeignKey(Version, on_delete=models.PROTECT, related_name="alternatives")
    function = models.TextField()
    module = models.TextField(blank=True, help_text="imports and helpers")
    sha256 = models.CharField(max_length=64, help_text="of function, NUL, module")
    reason = models.TextField()
    accepted_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="accepted_alternatives"
    )
    accepted_at = models.DateTimeField(db_default=Now())
    withdrawn_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.PROTECT, related_name="withdrawn_alternatives"
    )
    withdrawn_at = models.DateTimeField(null=True)
    withdrawn_reason = models.TextField(blank=True)

    objects = AlternativeQuerySet.as_manager()

    class Meta:
        ordering = ["example", "pk"]
        constraints = [
            UniqueConstraint(
                fields=["example", "sha256"],
                condition=Q(withdrawn_at=None),
                name="alternative_once_per_example",
            ),
            CheckConstraint(condition=~Q(reason=""), name="alternative_has_reason"),
            CheckConstraint(
                condition=Q(withdrawn_at=None, withdrawn_by=None)
                | (Q(withdrawn_at__isnull=False, withdrawn_by__isnull=False) & ~Q(withdrawn_reason="")),
                name="alternative_withdrawn_by_somebody_for_a_reason",
            ),
        ]

    def __str__(self) -> str:
        return f"alternative {self.sha256[:8]} of EX-{self.example_id:04d}"


class AlternativeRun(models.Model):
    """The execution of an accepted alternative against a version."""

    alternative = models.ForeignKey(Alternative, on_delete=models.CASCADE, related_name="runs")
    version = models.ForeignKey(Version, on_delete=models.CASCADE, related_name="alternative_runs")
    execution = models.OneToOneField(Execution, on_delete=models.PROTECT, related_name="alternative_run")

    class Meta:
        ordering = ["pk"]
        constraints = [
            UniqueConstraint(F("alternative"), F("version"), name="alternativerun_alternative_version")
        ]

    def __str__(self) -> str:
        return f"{self.alternative} on {self.version}"
