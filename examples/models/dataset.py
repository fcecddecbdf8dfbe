"""Datasets, and the libraries that examples import."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.db.models import CheckConstraint, Q
from django.db.models.functions import Now


class Dataset(models.Model):
    """A named collection of examples from one source, with licence and provenance."""

    name = models.SlugField(unique=True)
    title = models.CharField(max_length=200)
    licence = models.CharField(
        max_length=100, blank=True, help_text="SPDX identifier or name; blank means unknown"
    )
    source = models.CharField(max_length=300, blank=True)
    provenance = models.JSONField(default=dict)
    cpu_limit_seconds = models.FloatField(
        null=True, help_text="the dataset's own limit; otherwise 10 x reference"
    )
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.PROTECT, related_name="+"
    )
    created_at = models.DateTimeField(db_default=Now())

    class Meta:
        ordering = ["name"]
        constraints = [
            CheckConstraint(
                condition=Q(cpu_limit_seconds=None) | Q(cpu_limit_seconds__gt=0),
                name="dataset_cpu_limit_positive",
            )
        ]

    def __str__(self) -> str:
        return self.name


class Library(models.Model):
    """A top-level module that examples import; kept as rows so that lists filter by an index."""

    name = models.CharField(max_length=100, unique=True)
    standard = models.BooleanField(default=False)

    class Meta:
        ordering = ["name"]
        verbose_name_plural = "libraries"

    def __str__(self) -> str:
        return self.name
