"""Examples and their versions."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.db.models import CheckConstraint, F, Q, UniqueConstraint
from django.db.models.functions import Now

from config.access import Person
from examples.models.dataset import Dataset, Library
from runner.models import Environment


class ExampleQuerySet(models.QuerySet["Example"]):
    """Which examples."""

    def visible_to(self, user: Person) -> ExampleQuerySet:
        """Those a person may browse: curators all, nobody else any (annotators meet versions only in attempts)."""
        return self.all() if user.is_authenticated and user.curates else self.none()

    def usable(self) -> ExampleQuerySet:
        """Fit for a study: every check of the current version passed, and not retired."""
        return self.filter(current__check_state=Version.CheckState.PASSED).exclude(
            status=Example.Status.RETIRED
        )


class Example(models.Model):
    """An instruction, a context with one open function, a reference, tests and an environment, through its versions."""

    class Status(models.TextChoices):
        CANDIDATE = "candidate", "candidate"
        ACCEPTED = "accepted", "accepted"
        RETIRED = "retired", "retired"

    dataset = models.ForeignKey(Dataset, on_delete=models.PROTECT, related_name="examples")
    key = models.CharField(max_length=200, help_text="the record's own name in its source")
    title = models.CharField(max_length=300)
    repository = models.CharField(max_length=300, blank=True)
    licence = models.CharField(max_length=100, blank=True, help_text="where it differs from the dataset's")
    provenance = models.JSONField(default=dict)
    libraries = models.ManyToManyField(Library, related_name="examples", blank=True)
    status = models.CharField(max_length=20, choices=Status, default=Status.CANDIDATE)
    status_reason = models.TextField(blank=True)
    current = models.OneToOneField(
        "Version",
        null=True,
        on_delete=models.PROTECT,
        related_name="current_of",
        help_text="its newest version",
    )
    created_at = models.DateTimeField(db_default=Now())

    objects = ExampleQuerySet.as_manager()

    class Meta:
        ordering = ["pk"]
        indexes = [models.Index(fields=["status", "id"], name="example_status")]
        constraints = [
            UniqueConstraint(F("dataset"), F("key"), name="example_dataset_key"),
            CheckConstraint(
                condition=~Q(status="retired") | ~Q(status_reason=""), name="example_retired_has_reason"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.label}: {self.title}"

    @property
    def label(self) -> str:
        """The name people use, such as EX-0417."""
        return f"EX-{self.pk:04d}"

    @property
    def known_licence(self) -> str:
        """The example's own licence, else its dataset's; "" when unknown."""
        return self.licence or self.dataset.licence


class Version(models.Model):
    """An immutable content state of an example; licence, tags and provenance are outside it.

    context    the source with the focal body and the tests taken out, byte for byte otherwise
    gap        offset in the context's UTF-8 bytes where the body belongs
    reference  the focal body
    segments   tests in source order: [{"offset": in the context's bytes, "text", "kind": "function"|"block", "name"}]
    block      code run after the tests are defined, as published; "" lets the runner call each test
    expected   names of the test functions that must pass
    visible    how many top-level assertions, in order, the annotator sees
    """

    class CheckState(models.TextChoices):
        PENDING = "pending", "waiting"
        RUNNING = "running", "running"
        PASSED = "passed", "passed"
        FAILED = "failed", "failed"
        UNJUDGED = "unjudged", "unjudged"

    example = models.ForeignKey(Example, on_delete=models.CASCADE, related_name="versions")
    number = models.PositiveIntegerField()
    language = models.CharField(max_length=20, default="python")
    environment = models.ForeignKey(Environment, on_delete=models.PROTECT, related_name="versions")
    instruction = models.TextField()
    focal_name = models.CharField(max_length=300)
    context = models.TextField()
    gap = models.PositiveIntegerField()
    reference = models.TextField()
    segments = models.JSONField(default=list)
    block = models.TextField(blank=True)
    expected = models.JSONField(default=list)
    visible = models.PositiveIntegerField(default=0)
    content_hash = models.CharField(max_length=64, db_index=True)

    check_state = models.CharField(max_length=20, choices=CheckState, default=CheckState.PENDING)
    check_claim = models.CharField(max_length=32, blank=True)
    check_lease_end = models.DateTimeField(null=True)
    checked_at = models.DateTimeField(null=True)
    failed_checks = models.CharField(
        max_length=200, blank=True, help_text="names of failed checks, comma between"
    )
    reference_cpu_seconds = models.FloatField(null=True)
    cpu_limit_seconds = models.FloatField(null=True, help_text="set by the checks, by the one limit rule")

    note = models.TextField(blank=True, help_text="why this version was made")
    author = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.PROTECT, related_name="+"
    )
    created_at = models.DateTimeField(db_default=Now())

    class Meta:
        ordering = ["example", "number"]
        indexes = [models.Index(fields=["check_state", "id"], name="version_check_state")]
        constraints = [
            UniqueConstraint(F("example"), F("number"), name="version_example_number"),
            UniqueConstraint(
                F("example"), F("content_hash"), F("environment"), name="version_example_content_environment"
            ),
            CheckConstraint(condition=Q(number__gte=1), name="version_number_from_one"),
        ]

    def __str__(self) -> str:
        return f"EX-{self.example_id:04d} version {self.number}"
