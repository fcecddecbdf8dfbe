"""What an import did, record by record."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.db.models.functions import Now

from examples.models.dataset import Dataset


class ImportReport(models.Model):
    """What one import did, record by record where something was wrong; downloadable.

    `read` counts the records done with, so an import whose worker was killed goes on behind them.
    """

    class State(models.TextChoices):
        QUEUED = "queued", "queued"
        RUNNING = "running", "running"
        FINISHED = "finished", "finished"
        FAILED = "failed", "failed"

    dataset_name = models.SlugField()
    dataset = models.ForeignKey(
        Dataset,
        null=True,
        on_delete=models.CASCADE,
        related_name="imports",
        help_text="none before a first record came in",
    )
    file_name = models.CharField(max_length=200)
    stored_as = models.CharField(
        max_length=300, blank=True, help_text="where the uploaded file waits, until it is done"
    )
    state = models.CharField(max_length=10, choices=State, default=State.QUEUED)
    dry_run = models.BooleanField(default=False)
    read = models.PositiveIntegerField(default=0)
    added = models.PositiveIntegerField(default=0)
    changed = models.PositiveIntegerField(default=0)
    unchanged = models.PositiveIntegerField(default=0)
    duplicates = models.PositiveIntegerField(default=0)
    problem_count = models.PositiveIntegerField(default=0)
    message = models.TextField(blank=True)
    started_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.PROTECT, related_name="+"
    )
    created_at = models.DateTimeField(db_default=Now())
    seen_at = models.DateTimeField(db_default=Now(), help_text="when a worker last moved it on")
    finished_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ["-pk"]

    def __str__(self) -> str:
        return f"import {self.pk} of {self.file_name}"

    @property
    def is_open(self) -> bool:
        """Whether more is to come."""
        return self.state in (self.State.QUEUED, self.State.RUNNING)


class ImportProblem(models.Model):
    """A record that did not come in: where it stands, which field, what is wrong and what helps."""

    report = models.ForeignKey(ImportReport, on_delete=models.CASCADE, related_name="problems")
    number = models.PositiveIntegerField(help_text="the record's number in the file, from 1")
    line = models.PositiveIntegerField(null=True)
    field = models.CharField(max_length=100, blank=True)
    message = models.TextField()
    remedy = models.TextField(blank=True)

    class Meta:
        ordering = ["report", "number", "pk"]

    def __str__(self) -> str:
        return f"record {self.number}: {self.message}"
