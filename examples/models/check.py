"""What was found out about a version: checks, and comparisons between environments."""

from __future__ import annotations

from datetime import datetime

from django.conf import settings
from django.db import models
from django.db.models import CheckConstraint, F, Q, UniqueConstraint
from django.db.models.functions import Now

from examples.models.example import Version
from runner.models import Execution


class Check(models.Model):
    """Something found out about a version by execution or analysis, with its evidence."""

    class State(models.TextChoices):
        RUNNING = "running", "running"
        PASSED = "passed", "passed"
        FAILED = "failed", "failed"
        UNJUDGED = "unjudged", "unjudged"

    version = models.ForeignKey(Version, on_delete=models.CASCADE, related_name="checks")
    name = models.SlugField(max_length=40)
    state = models.CharField(max_length=20, choices=State)
    finding = models.TextField(help_text="one sentence: what was found")
    evidence = models.JSONField(default=dict)
    executions = models.ManyToManyField(Execution, related_name="checks", blank=True)
    checked_at = models.DateTimeField(db_default=Now())

    class Meta:
        ordering = ["version", "pk"]
        constraints = [UniqueConstraint(F("version"), F("name"), name="check_version_name")]

    def __str__(self) -> str:
        return f"{self.name}: {self.state}"


class RepeatsQuerySet(models.QuerySet["Repeats"]):
    """Which requests for repeats."""

    def open(self) -> RepeatsQuerySet:
        """Asked for, with no result yet."""
        return self.filter(done_at=None)

    def free(self, now: datetime) -> RepeatsQuerySet:
        """Open, and with no worker at it; one table only, so that an UPDATE checks the row it changes."""
        return self.open().filter(Q(lease_end=None) | Q(lease_end__lt=now))

    def checked(self) -> RepeatsQuerySet:
        """Of versions whose own checks are done, which come first."""
        return self.exclude(version__check_state__in=[Version.CheckState.PENDING, Version.CheckState.RUNNING])


class Repeats(models.Model):
    """A curator's request to execute a version's reference more often; a worker claims it, as often as it takes."""

    version = models.ForeignKey(Version, on_delete=models.CASCADE, related_name="repeats")
    times = models.PositiveSmallIntegerField()
    asked_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    asked_at = models.DateTimeField(db_default=Now())
    claim = models.CharField(max_length=32, blank=True)
    lease_end = models.DateTimeField(null=True)
    done_at = models.DateTimeField(null=True)

    objects = RepeatsQuerySet.as_manager()

    class Meta:
        ordering = ["pk"]
        verbose_name_plural = "repeats"
        constraints = [
            UniqueConstraint(
                fields=["version"], condition=Q(done_at=None), name="repeats_one_open_per_version"
            ),
            CheckConstraint(condition=Q(times__gte=1), name="repeats_times_one_or_more"),
        ]

    def __str__(self) -> str:
        return f"{self.times} repeats of {self.version}"


class Comparison(models.Model):
    """A version executed in several environments, to be looked at side by side; it changes nothing of the version."""

    version = models.ForeignKey(Version, on_delete=models.CASCADE, related_name="comparisons")
    asked_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    created_at = models.DateTimeField(db_default=Now())

    class Meta:
        ordering = ["-pk"]

    def __str__(self) -> str:
        return f"comparison {self.pk} of {self.version}"


class Rerun(models.Model):
    """One execution of a comparison: the reference, or the empty body, in the execution's environment."""

    class Program(models.TextChoices):
        REFERENCE = "reference", "reference"
        EMPTY = "empty", "empty body"

    comparison = models.ForeignKey(Comparison, on_delete=models.CASCADE, related_name="reruns")
    program = models.CharField(max_length=10, choices=Program)
    execution = models.OneToOneField(Execution, on_delete=models.PROTECT, related_name="rerun")

    class Meta:
        ordering = ["pk"]

    def __str__(self) -> str:
        return f"{self.program}, {self.execution}"
