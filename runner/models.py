"""Environment, Execution, TestRow: what runs where, its state, its outcome, what was measured."""

from __future__ import annotations

from functools import cached_property

from django.db import models
from django.db.models import CheckConstraint, F, Q, UniqueConstraint
from django.db.models.functions import Now

from runner.outcome import Outcome
from runner.sandbox.base import Job


class EnvironmentQuerySet(models.QuerySet["Environment"]):
    """Which environments."""

    def built(self) -> EnvironmentQuerySet:
        """Those with an image, in which something can run."""
        return self.exclude(image_digest="")

    def asked_for(self) -> EnvironmentQuerySet:
        """Those that somebody asked for; the others are made from recipes we ship."""
        return self.exclude(suite="")


class Environment(models.Model):
    """The image, by digest, and the packages in which a version runs; `image_digest` is empty until it is built.

    One that somebody asked for has a `suite`, and is what it is for good: other packages are another environment.
    """

    name = models.SlugField(unique=True)
    language = models.CharField(max_length=20, default="python")
    language_version = models.CharField(max_length=20, blank=True)
    packages = models.JSONField(default=dict, help_text="package name to exact version")
    provides = models.JSONField(
        default=list, help_text="top-level names a program may import beyond the standard library"
    )
    suite = models.CharField(
        max_length=20, blank=True, help_text="the Debian its Python is from; empty for those we ship"
    )
    wanted = models.TextField(blank=True, help_text="the packages asked for, name==version, one a line")
    requirements = models.TextField(blank=True, help_text="all its packages, each with version and hash")
    recipe_hash = models.CharField(max_length=64, blank=True)
    image_digest = models.CharField(max_length=80, blank=True)
    size_bytes = models.BigIntegerField(null=True)
    built_at = models.DateTimeField(null=True)
    log = models.TextField(blank=True)

    objects = EnvironmentQuerySet.as_manager()

    class Meta:
        ordering = ["name"]
        constraints = [
            CheckConstraint(
                condition=Q(image_digest="", built_at=None)
                | (~Q(image_digest="") & Q(built_at__isnull=False)),
                name="environment_digest_iff_built",
            ),
            CheckConstraint(
                condition=~Q(suite="") | Q(wanted="", requirements=""),
                name="environment_shipped_asks_for_nothing",
            ),
        ]

    def __str__(self) -> str:
        return self.name


class BuildQuerySet(models.QuerySet["Build"]):
    """Which builds."""

    def open(self) -> BuildQuerySet:
        """Not yet at an end."""
        return self.filter(state__in=[Build.State.QUEUED, Build.State.RUNNING])

    def due(self) -> BuildQuerySet:
        """Waiting for a worker, or left by one whose lease is over by the database's clock."""
        lost = Q(state=Build.State.RUNNING, lease_end__lt=Now())
        return self.filter(Q(state=Build.State.QUEUED) | lost)


class Build(models.Model):
    """One making of an environment's image: asked for by a page, done by a worker; kept with its log, also when it failed.

    It outlives its environment, so that a digest which was once made stays known.
    """

    class State(models.TextChoices):
        QUEUED = "queued", "waiting"
        RUNNING = "running", "building"
        BUILT = "built", "built"
        FAILED = "failed", "failed"

    environment = models.ForeignKey(Environment, null=True, on_delete=models.SET_NULL, related_name="builds")
    name = models.SlugField(help_text="of the environment, also when that is gone")
    state = models.CharField(max_length=10, choices=State, default=State.QUEUED)
    claim = models.CharField(max_length=32, blank=True)
    lease_end = models.DateTimeField(null=True)
    tries = models.PositiveSmallIntegerField(default=0)
    log = models.TextField(blank=True)
    problem = models.TextField(blank=True, help_text="why it failed, and what helps")
    image_digest = models.CharField(max_length=80, blank=True)
    image_removed_at = models.DateTimeField(null=True, help_text="when the image was taken off the engine")
    fresh = models.BooleanField(default=False, help_text="whether an image was made; else it was there")
    created_at = models.DateTimeField(db_default=Now())
    started_at = models.DateTimeField(null=True)
    finished_at = models.DateTimeField(null=True)

    objects = BuildQuerySet.as_manager()

    class Meta:
        ordering = ["-pk"]
        constraints = [
            UniqueConstraint(
                fields=["environment"],
                condition=Q(state__in=["queued", "running"]),
                name="build_one_open_per_environment",
            ),
            CheckConstraint(condition=Q(state="running") ^ Q(claim=""), name="build_claim_iff_running"),
            CheckConstraint(condition=Q(state="built") ^ Q(image_digest=""), name="build_digest_iff_built"),
            CheckConstraint(condition=Q(state="failed") ^ Q(problem=""), name="build_problem_iff_failed"),
        ]

    def __str__(self) -> str:
        return f"build {self.pk} of {self.name}: {self.state}"

    @property
    def is_open(self) -> bool:
        """Whether more is to come."""
        return self.state in (self.State.QUEUED, self.State.RUNNING)

    @property
    def seconds(self) -> float | None:
        """How long it took, None where it is not over."""
        if self.started_at is None or self.finished_at is None:
            return None
        return (self.finished_at - self.started_at).total_seconds()


class SuiteQuerySet(models.QuerySet["Suite"]):
    """Which suites."""

    def due(self) -> SuiteQuerySet:
        """Asked for, and nobody looks at it; the database's clock decides."""
        return self.filter(asked_at__isnull=False).filter(Q(lease_end=None) | Q(lease_end__lt=Now()))


class Suite(models.Model):
    """A Debian suite and the Python it offers, as a worker found it; asked again when somebody wants to know."""

    name = models.CharField(max_length=20, unique=True)
    python = models.CharField(
        max_length=10, blank=True, help_text="such as 3.11; empty where none can be had"
    )
    package = models.CharField(max_length=40, blank=True)
    problem = models.TextField(blank=True)
    asked_at = models.DateTimeField(null=True, help_text="None once that was answered")
    lease_end = models.DateTimeField(null=True)
    found_at = models.DateTimeField(null=True)

    objects = SuiteQuerySet.as_manager()

    class Meta:
        ordering = ["pk"]

    def __str__(self) -> str:
        return f"{self.name}: {self.python or self.problem or 'not asked yet'}"


class Worker(models.Model):
    """A worker process and what it last said of itself; pages read this, since only workers reach the engine."""

    name = models.CharField(max_length=100, unique=True)
    queues = models.JSONField(default=list)
    boot = models.CharField(max_length=32, help_text="made at its start; its containers carry it as a label")
    engine_error = models.TextField(
        blank=True, help_text="why nothing can be executed; empty when all is well"
    )
    facts = models.JSONField(default=dict, help_text="host, engine, kernel, cgroup, pool sizes and modes")
    started_at = models.DateTimeField(db_default=Now())
    seen_at = models.DateTimeField(db_default=Now())

    class Meta:
        ordering = ["name"]

    def __str__(self) -> str:
        return self.name


class ExecutionQuerySet(models.QuerySet["Execution"]):
    """Which executions."""

    def open(self) -> ExecutionQuerySet:
        """Not yet at an end: queued or running."""
        return self.filter(state__in=[Execution.State.QUEUED, Execution.State.RUNNING])

    def stale(self) -> ExecutionQuerySet:
        """Claimed, but the lease is over by the database's clock: the worker is gone."""
        return self.filter(state=Execution.State.RUNNING, lease_end__lt=Now())

    def due(self) -> ExecutionQuerySet:
        """Queued, and not waiting for a later try."""
        return self.filter(state=Execution.State.QUEUED).filter(Q(retry_at=None) | Q(retry_at__lte=Now()))


class Execution(models.Model):
    """One request to the runner and what came of it."""

    class State(models.TextChoices):
        QUEUED = "queued", "queued"
        RUNNING = "running", "running"
        FINISHED = "finished", "finished"
        UNJUDGED = "unjudged", "unjudged"

    class Queue(models.TextChoices):
        INTERACTIVE = "interactive", "interactive"
        BULK = "bulk", "bulk"

    queue = models.CharField(max_length=20, choices=Queue)
    environment = models.ForeignKey(Environment, on_delete=models.PROTECT, related_name="executions")
    job_data = models.JSONField(help_text="what is to be executed: Job.as_json()")
    listener = models.CharField(max_length=60, blank=True, help_text="channel group that is told of changes")
    # NULL, not "": only of a column that is not NULL do databases see that a partial index answers for it.
    asker = models.CharField(  # noqa: DJ001 - as said above
        max_length=60,
        null=True,
        help_text="whose share this is: one running, one waiting; NULL for work of ours",
    )
    replaceable = models.BooleanField(
        default=False, help_text="a newer one of the asker takes its place while it has not started"
    )

    scope = models.CharField(
        max_length=60,
        blank=True,
        help_text="the evaluation run whose containers may run it among its other samples; empty: one of its own",
    )

    state = models.CharField(max_length=20, choices=State, default=State.QUEUED)
    outcome = models.CharField(max_length=20, blank=True, choices=[(o.value, o.value) for o in Outcome])
    tampered = models.BooleanField(default=False)
    reason = models.TextField(blank=True, help_text="why it is unjudged or tried again, in plain words")
    sequence = models.PositiveIntegerField(default=0, help_text="grows with every change")

    claim = models.CharField(max_length=32, blank=True)
    lease_end = models.DateTimeField(null=True)
    tries = models.PositiveSmallIntegerField(default=0)
    retry_at = models.DateTimeField(null=True)

    exit_status = models.IntegerField(null=True)
    signal = models.IntegerField(null=True)
    cpu_seconds = models.FloatField(null=True)
    wall_seconds = models.FloatField(null=True)
    memory_bytes = models.BigIntegerField(null=True)
    stdout = models.TextField(blank=True)
    stderr = models.TextField(blank=True)
    load_error = models.TextField(blank=True)
    facts = models.JSONField(default=dict, help_text="image digest, mode, seed, limits, host, engine, kernel")

    created_at = models.DateTimeField(db_default=Now())
    leased_at = models.DateTimeField(null=True)
    started_at = models.DateTimeField(null=True)
    first_row_at = models.DateTimeField(null=True)
    finished_at = models.DateTimeField(null=True)

    objects = ExecutionQuerySet.as_manager()

    class Meta:
        ordering = ["pk"]
        indexes = [
            models.Index(fields=["state", "lease_end"], name="execution_state_lease"),
            models.Index(fields=["listener"], name="execution_listener"),
            models.Index(
                fields=["asker", "state"], name="execution_asker_state", condition=Q(asker__isnull=False)
            ),
            models.Index(fields=["scope", "state"], name="execution_scope_state", condition=~Q(scope="")),
            models.Index(
                fields=["finished_at"],
                name="execution_interactive_finished",
                condition=Q(queue="interactive"),
            ),
        ]
        constraints = [
            CheckConstraint(
                condition=Q(state="finished") ^ Q(outcome=""), name="execution_outcome_iff_finished"
            ),
            CheckConstraint(condition=Q(state="running") ^ Q(claim=""), name="execution_claim_iff_running"),
            CheckConstraint(
                condition=~Q(state="unjudged") | ~Q(reason=""), name="execution_unjudged_has_reason"
            ),
            CheckConstraint(
                condition=Q(scope="") | Q(queue="bulk", asker=None), name="execution_scope_is_bulk"
            ),
            CheckConstraint(
                condition=Q(replaceable=False) | Q(asker__isnull=False),
                name="execution_replaceable_has_asker",
            ),
            UniqueConstraint(
                fields=["asker"],
                condition=Q(state="running", asker__isnull=False),
                name="execution_one_running_per_asker",
            ),
            UniqueConstraint(
                fields=["asker"],
                condition=Q(state="queued", replaceable=True, asker__isnull=False),
                name="execution_one_waiting_per_asker",
            ),
        ]

    def __str__(self) -> str:
        return f"execution {self.pk}: {self.outcome or self.state}"

    @cached_property
    def job(self) -> Job:
        """The job as the runner takes it."""
        return Job.from_json(self.job_data)

    @property
    def is_open(self) -> bool:
        """Whether more is to come."""
        return self.state in (self.State.QUEUED, self.State.RUNNING)

    @property
    def passed(self) -> bool:
        """Whether it is finished, PASSED and not flagged."""
        return self.outcome == Outcome.PASSED and not self.tampered


class Fault(models.Model):
    """A try that ended by our fault. The next try clears the execution's own reason; this stays, for those who operate."""

    execution = models.ForeignKey(Execution, on_delete=models.CASCADE, related_name="faults")
    at = models.DateTimeField(db_default=Now())
    host = models.CharField(max_length=100, help_text="where it was noticed")
    reason = models.TextField()
    last = models.BooleanField(default=False, help_text="whether the execution stayed unjudged after it")

    class Meta:
        ordering = ["-pk"]
        indexes = [models.Index(fields=["at"], name="fault_at")]

    def __str__(self) -> str:
        return f"{self.execution_id} at {self.host}: {self.reason}"


class TestRow(models.Model):
    """An authentic record of a test function, or of an assertion in one, in the order of arrival."""

    __test__ = False  # not a test class, whatever pytest thinks of the name

    execution = models.ForeignKey(Execution, on_delete=models.CASCADE, related_name="rows")
    number = models.PositiveIntegerField()
    test = models.CharField(max_length=200)
    assertion = models.PositiveIntegerField(null=True)
    outcome = models.CharField(max_length=20, choices=[(o.value, o.value) for o in Outcome])
    line = models.PositiveIntegerField(null=True)
    message = models.TextField(blank=True)
    values = models.JSONField(default=list)
    milliseconds = models.FloatField(default=0)

    class Meta:
        ordering = ["execution", "number"]
        constraints = [UniqueConstraint(F("execution"), F("number"), name="testrow_execution_number")]

    def __str__(self) -> str:
        where = self.test if self.assertion is None else f"{self.test} assertion {self.assertion}"
        return f"{where}: {self.outcome}"


def bounded(text: str, limit: int = 64 << 10) -> str:
    """Return the text as every database stores it, its middle left out where it is over `limit` characters.

    Postgres stores no NUL and no database a lone surrogate: both become a replacement character.
    """
    clean = text.replace("\x00", "\ufffd").encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if len(clean) <= limit:
        return clean
    half = limit // 2
    return f"{clean[:half]}\n… {len(clean) - 2 * half} characters left out …\n{clean[-half:]}"
