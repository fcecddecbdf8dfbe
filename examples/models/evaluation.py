"""Evaluations of models: the versions a model was given, its samples, and the execution that judged each."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.db.models import CheckConstraint, F, Q, UniqueConstraint
from django.db.models.functions import Now

from config.access import Person, Role
from examples.models.dataset import Dataset
from examples.models.example import Version
from examples.models.release import Split
from runner.models import Environment, Execution


class EvaluationQuerySet(models.QuerySet["Evaluation"]):
    """Which evaluations."""

    def visible_to(self, user: Person) -> EvaluationQuerySet:
        """Curators see all, readers those over splits they may download, others none."""
        if not user.is_authenticated:
            return self.none()
        if user.curates:
            return self.all()
        if user.role != Role.READER:
            return self.none()
        return self.filter(split__in=Split.objects.visible_to(user))


class Evaluation(models.Model):
    """A model measured over a dataset's versions, or over a split of a frozen release; its versions never change.

    What a parameter was is recorded where it is known, and None where it is not. Its state is not stored: it follows
    from its samples and their executions (`examples.evaluation.progress`).
    """

    class Origin(models.TextChoices):
        FILE = "file", "a file"
        ENDPOINT = "endpoint", "an endpoint"

    name = models.SlugField(max_length=100, unique=True)
    model_name = models.CharField(max_length=200, help_text="the model's own name")
    dataset = models.ForeignKey(Dataset, null=True, on_delete=models.PROTECT, related_name="evaluations")
    split = models.ForeignKey(Split, null=True, on_delete=models.PROTECT, related_name="evaluations")
    origin = models.CharField(max_length=10, choices=Origin)
    sources = models.JSONField(default=list, help_text='files its samples came from: [{"name", "sha256"}]')

    samples_asked = models.PositiveIntegerField(null=True, help_text="n: samples asked for a version")
    temperature = models.FloatField(null=True)
    top_p = models.FloatField(null=True)
    max_tokens = models.PositiveIntegerField(null=True)
    parameters = models.JSONField(default=dict, help_text="whatever else is known of how it was asked")

    cpu_limit_seconds = models.FloatField(null=True, help_text="one limit for all; None: each version's own")
    environment = models.ForeignKey(
        Environment,
        null=True,
        on_delete=models.PROTECT,
        related_name="evaluations",
        help_text="one environment for all; None: each version's own",
    )
    scoring_at = models.DateTimeField(
        null=True, help_text="last sign of the scoring that was asked for; NULL: none is under way"
    )
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.PROTECT, related_name="+"
    )
    created_at = models.DateTimeField(db_default=Now())

    objects = EvaluationQuerySet.as_manager()

    class Meta:
        ordering = ["-pk"]
        constraints = [
            CheckConstraint(
                condition=Q(dataset=None, split__isnull=False) | Q(dataset__isnull=False, split=None),
                name="evaluation_dataset_or_split",
            ),
            CheckConstraint(
                condition=Q(samples_asked=None) | Q(samples_asked__gte=1), name="evaluation_samples_from_one"
            ),
            CheckConstraint(
                condition=Q(temperature=None) | Q(temperature__gte=0),
                name="evaluation_temperature_not_negative",
            ),
            CheckConstraint(
                condition=Q(top_p=None) | (Q(top_p__gt=0) & Q(top_p__lte=1)), name="evaluation_top_p_is_part"
            ),
            CheckConstraint(
                condition=Q(max_tokens=None) | Q(max_tokens__gte=1), name="evaluation_max_tokens_from_one"
            ),
            CheckConstraint(
                condition=Q(cpu_limit_seconds=None) | Q(cpu_limit_seconds__gt=0),
                name="evaluation_cpu_limit_positive",
            ),
        ]

    def __str__(self) -> str:
        return self.name

    @property
    def over(self) -> Dataset | Split:
        """What it is over: one of the two is there (`evaluation_dataset_or_split`)."""
        over = self.dataset or self.split
        assert over is not None
        return over

    @property
    def scope(self) -> str:
        """The name under which its samples share containers with each other and with nobody else's."""
        return f"evaluation:{self.pk}"


class EvaluationItem(models.Model):
    """A version the model was given. One without any sample is an item too: it is never left out unseen."""

    evaluation = models.ForeignKey(Evaluation, on_delete=models.CASCADE, related_name="items")
    version = models.ForeignKey(Version, on_delete=models.PROTECT, related_name="evaluation_items")
    position = models.PositiveIntegerField()

    class Meta:
        ordering = ["evaluation", "position"]
        constraints = [
            UniqueConstraint(F("evaluation"), F("version"), name="evaluationitem_evaluation_version"),
            UniqueConstraint(F("evaluation"), F("position"), name="evaluationitem_evaluation_position"),
        ]

    def __str__(self) -> str:
        return f"{self.version} in evaluation {self.evaluation_id}"


class ModelSampleQuerySet(models.QuerySet["ModelSample"]):
    """Which model samples."""

    def visible_to(self, user: Person) -> ModelSampleQuerySet:
        """Those a person may read: curators all, nobody else any, since a right sample is a solution."""
        return self.all() if user.is_authenticated and user.curates else self.none()

    def waiting(self) -> ModelSampleQuerySet:
        """Those that nothing was executed for yet."""
        return self.filter(execution=None)

    def unjudged(self) -> ModelSampleQuerySet:
        """Those whose execution we failed at: ours to repeat, and never counted."""
        return self.filter(execution__state=Execution.State.UNJUDGED)


class ModelSample(models.Model):
    """Code by a model for a version, as it was received; executed like a submission.

    `job_key` is the hash of what was executed for it (program, tests, limits, image; `examples.evaluation.scoring`).
    Samples with one key have one execution, whatever evaluation they belong to.
    """

    item = models.ForeignKey(EvaluationItem, on_delete=models.CASCADE, related_name="samples")
    number = models.PositiveIntegerField(help_text="from 1 within its version")
    reply = models.TextField()
    reply_hash = models.CharField(max_length=64)
    recorded = models.BooleanField(null=True, help_text="the verdict that came with it; shown, never counted")
    facts = models.JSONField(
        default=dict, help_text="what else came with it: finish reason, tokens, record number"
    )
    job_key = models.CharField(max_length=64, blank=True, db_index=True)
    execution = models.ForeignKey(Execution, null=True, on_delete=models.PROTECT, related_name="samples")
    created_at = models.DateTimeField(db_default=Now())

    objects = ModelSampleQuerySet.as_manager()

    class Meta:
        ordering = ["item", "number"]
        constraints = [
            UniqueConstraint(F("item"), F("number"), name="modelsample_item_number"),
            CheckConstraint(condition=Q(number__gte=1), name="modelsample_number_from_one"),
            CheckConstraint(
                condition=Q(execution=None) | ~Q(job_key=""), name="modelsample_executed_has_key"
            ),
        ]

    def __str__(self) -> str:
        return f"sample {self.number} of item {self.item_id}"
