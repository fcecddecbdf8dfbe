"""Dataset, Example, Version, Check, Release, Split: what an example is, what was found out about it, what was published."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.conf import settings
from django.db import models
from django.db.models import CheckConstraint, F, Q, UniqueConstraint
from django.db.models.functions import Now

from config.access import Role
from runner.models import Environment, Execution

if TYPE_CHECKING:
    from config.access import Person


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


class ReleaseQuerySet(models.QuerySet["Release"]):
    """Which releases."""

    def visible_to(self, user: Person) -> ReleaseQuerySet:
        """Curators see all, readers what is frozen, others none."""
        if not user.is_authenticated:
            return self.none()
        if user.curates:
            return self.all()
        return self.frozen() if user.role == Role.READER else self.none()

    def frozen(self) -> ReleaseQuerySet:
        """Published: they never change again."""
        return self.filter(state=Release.State.FROZEN)


class Release(models.Model):
    """A named, versioned publication of splits; once frozen it never changes again (triggers refuse it)."""

    class State(models.TextChoices):
        DRAFT = "draft", "draft"
        FROZEN = "frozen", "frozen"

    name = models.SlugField()
    number = models.CharField(max_length=30, help_text="semantic version, such as 1.0.0")
    state = models.CharField(max_length=10, choices=State, default=State.DRAFT)
    seed = models.PositiveIntegerField(default=0)
    notes = models.TextField(blank=True)
    licence = models.CharField(max_length=100, blank=True)
    canary = models.CharField(max_length=120, blank=True)
    manifest_sha256 = models.CharField(max_length=64, blank=True)
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    created_at = models.DateTimeField(db_default=Now())
    frozen_at = models.DateTimeField(null=True)

    objects = ReleaseQuerySet.as_manager()

    class Meta:
        ordering = ["name", "-pk"]
        constraints = [
            UniqueConstraint(F("name"), F("number"), name="release_name_number"),
            CheckConstraint(
                condition=Q(state="draft", frozen_at=None, manifest_sha256="")
                | (Q(state="frozen", frozen_at__isnull=False) & ~Q(manifest_sha256="") & ~Q(canary="")),
                name="release_hash_iff_frozen",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.name} {self.number}"


class SplitQuerySet(models.QuerySet["Split"]):
    """Which splits."""

    def visible_to(self, user: Person) -> SplitQuerySet:
        """Those of the releases a person sees; held-out ones only for curators."""
        seen = self.filter(release__in=Release.objects.visible_to(user))
        return seen if user.is_authenticated and user.curates else seen.filter(held_out=False)


class Split(models.Model):
    """A named, seeded, by-repository selection of versions within a release (train, dev, test, held-out)."""

    release = models.ForeignKey(Release, on_delete=models.CASCADE, related_name="splits")
    name = models.SlugField(max_length=40)
    share = models.FloatField(help_text="part of the examples, 0 to 1")
    held_out = models.BooleanField(default=False, help_text="kept private: curators only")

    objects = SplitQuerySet.as_manager()

    class Meta:
        ordering = ["release", "pk"]
        constraints = [
            UniqueConstraint(F("release"), F("name"), name="split_release_name"),
            CheckConstraint(condition=Q(share__gte=0) & Q(share__lte=1), name="split_share_is_part"),
        ]

    def __str__(self) -> str:
        return self.name


class ReleaseItem(models.Model):
    """One version in one split of a release; `line` is its frozen text, `sha256` that line's hash."""

    release = models.ForeignKey(Release, on_delete=models.CASCADE, related_name="items")
    split = models.ForeignKey(Split, on_delete=models.CASCADE, related_name="items")
    version = models.ForeignKey(Version, on_delete=models.PROTECT, related_name="release_items")
    position = models.PositiveIntegerField()
    line = models.TextField(blank=True)
    sha256 = models.CharField(max_length=64, blank=True)

    class Meta:
        ordering = ["release", "position"]
        constraints = [
            UniqueConstraint(F("release"), F("version"), name="releaseitem_release_version"),
            UniqueConstraint(F("release"), F("position"), name="releaseitem_release_position"),
        ]

    def __str__(self) -> str:
        return f"{self.split} {self.position}"


class ReleaseFileQuerySet(models.QuerySet["ReleaseFile"]):
    """Which files."""

    def visible_to(self, user: Person) -> ReleaseFileQuerySet:
        """Those of the releases a person sees; the file of a held-out split only for curators."""
        seen = self.filter(release__in=Release.objects.visible_to(user))
        return seen if user.is_authenticated and user.curates else seen.exclude(split__held_out=True)


class ReleaseFile(models.Model):
    """A file of a frozen release, with its hash; a split's file has its text in the lines of its items."""

    release = models.ForeignKey(Release, on_delete=models.CASCADE, related_name="files")
    split = models.OneToOneField(Split, null=True, on_delete=models.CASCADE, related_name="file")
    name = models.CharField(max_length=60)
    size_bytes = models.BigIntegerField()
    sha256 = models.CharField(max_length=64)
    content = models.TextField(blank=True)

    objects = ReleaseFileQuerySet.as_manager()

    class Meta:
        ordering = ["release", "name"]
        constraints = [
            UniqueConstraint(F("release"), F("name"), name="releasefile_release_name"),
            CheckConstraint(
                condition=Q(split=None) | Q(content=""), name="releasefile_split_is_in_its_items"
            ),
        ]

    def __str__(self) -> str:
        return self.name


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


class AuditEntry(models.Model):
    """Who saw or changed what, when; rows are added and never changed."""

    at = models.DateTimeField(db_default=Now())
    person = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.PROTECT, related_name="+"
    )
    action = models.CharField(max_length=60)
    subject = models.CharField(max_length=100, help_text="what it was done to, such as version:17")
    detail = models.JSONField(default=dict)

    class Meta:
        ordering = ["-pk"]
        indexes = [models.Index(fields=["subject"], name="auditentry_subject")]
        verbose_name_plural = "audit entries"

    def __str__(self) -> str:
        return f"{self.action} {self.subject}"


def audit(person: Any, action: str, subject: str, **detail: Any) -> None:
    """Add a row to the audit table; `person` None is the system itself."""
    AuditEntry.objects.create(person=person, action=action, subject=subject, detail=detail)
