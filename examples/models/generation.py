"""Examples that are made: runs, their fragments, what was asked for each, what came back, and what became of it.

Money is counted in millionths of the run's currency, as whole numbers: sums are exact on every database.
"""

from __future__ import annotations

import difflib
from typing import Any

from django.conf import settings
from django.db import models
from django.db.models import CheckConstraint, F, Q, UniqueConstraint
from django.db.models.functions import Now

from config.access import Person
from examples.models.dataset import Dataset
from examples.models.example import Example
from runner.models import Environment, Execution


class Step(models.TextChoices):
    """The steps of generation, in order (CodeBenchGen, https://arxiv.org/abs/2404.00566, section 3)."""

    STANDALONE = "standalone", "standalone"
    WRITE_TESTS = "write_tests", "write tests"
    REPAIR = "repair", "repair"
    AUGMENTATION = "augmentation", "augmentation"
    ACCEPTANCE = "acceptance", "acceptance"


class GenerationRunQuerySet(models.QuerySet["GenerationRun"]):
    """Which runs."""

    def visible_to(self, user: Person) -> GenerationRunQuerySet:
        """Curators see all, nobody else any: fragments and rounds hold references and hidden tests."""
        return self.all() if user.is_authenticated and user.curates else self.none()

    def running(self) -> GenerationRunQuerySet:
        """Those whose waiting fragments workers may take."""
        return self.filter(state=GenerationRun.State.RUNNING)


class GenerationRun(models.Model):
    """One pass over fragments, with a model or without any; what it may spend, and what it has.

    `charged_*` is what was spent and what calls under way have reserved. It grows by one conditional UPDATE before a call
    is sent (examples/generation/budget.py), so that the budget holds however many workers ask at once.
    """

    class Path(models.TextChoices):
        MODEL = "model", "with a model"
        PLAIN = "plain", "without any model"

    class State(models.TextChoices):
        RUNNING = "running", "running"
        STOPPED = "stopped", "stopped"
        FINISHED = "finished", "finished"

    name = models.SlugField(unique=True)
    dataset = models.ForeignKey(Dataset, on_delete=models.PROTECT, related_name="generation_runs")
    path = models.CharField(max_length=10, choices=Path)
    environment = models.ForeignKey(Environment, on_delete=models.PROTECT, related_name="generation_runs")

    base_url = models.CharField(max_length=300, blank=True, help_text="of the endpoint, never with a key")
    model = models.CharField(max_length=200, blank=True)
    temperature = models.FloatField(default=0.0)
    seed = models.BigIntegerField(null=True)
    max_tokens = models.PositiveIntegerField(default=2048, help_text="of one reply")
    json_mode = models.BooleanField(
        default=False, help_text="whether the endpoint can be held to JSON (response_format)"
    )
    prompt_micros = models.PositiveBigIntegerField(
        default=0, help_text="price of a million prompt tokens, in millionths"
    )
    completion_micros = models.PositiveBigIntegerField(
        default=0, help_text="price of a million tokens of replies, in millionths"
    )
    prompts = models.JSONField(default=dict, help_text="hash of each step's prompt file")

    rounds = models.PositiveSmallIntegerField(
        default=3, help_text="at most so many repairs, and as many more questions where a rule is broken"
    )
    augment = models.BooleanField(
        default=False, help_text="whether tests are added with the reference as oracle"
    )
    review = models.BooleanField(
        default=False, help_text="whether a curator decides about each fragment that held"
    )
    replays = models.ForeignKey(
        "self",
        null=True,
        on_delete=models.PROTECT,
        related_name="replayed_by",
        help_text="the recorded run whose replies answer this one; nothing is sent",
    )

    budget_tokens = models.PositiveBigIntegerField(null=True, help_text="NULL: no limit")
    budget_micros = models.PositiveBigIntegerField(null=True, help_text="NULL: no limit")
    charged_tokens = models.PositiveBigIntegerField(default=0)
    charged_micros = models.PositiveBigIntegerField(default=0)

    state = models.CharField(max_length=10, choices=State, default=State.RUNNING)
    reason = models.TextField(blank=True, help_text="why it stopped, and what helps")
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.PROTECT, related_name="+"
    )
    created_at = models.DateTimeField(db_default=Now())
    finished_at = models.DateTimeField(null=True)

    objects = GenerationRunQuerySet.as_manager()

    class Meta:
        ordering = ["-pk"]
        constraints = [
            CheckConstraint(
                condition=Q(path="model") & ~Q(model="") | Q(path="plain", model="", replays=None),
                name="generationrun_model_iff_asked",
            ),
            CheckConstraint(
                condition=Q(state="stopped") ^ Q(reason=""), name="generationrun_reason_iff_stopped"
            ),
            CheckConstraint(
                condition=Q(state="finished") ^ Q(finished_at=None), name="generationrun_end_iff_finished"
            ),
            CheckConstraint(condition=Q(max_tokens__gte=1), name="generationrun_max_tokens_positive"),
        ]

    def __str__(self) -> str:
        return self.name


class FragmentQuerySet(models.QuerySet["Fragment"]):
    """Which fragments."""

    def visible_to(self, user: Person) -> FragmentQuerySet:
        """Those of the runs a person sees."""
        return self.filter(run__in=GenerationRun.objects.visible_to(user))

    def due(self) -> FragmentQuerySet:
        """Waiting, or left by a worker whose lease is over by the database's clock; of any run."""
        lost = Q(state=Fragment.State.WORKING, lease_end__lt=Now())
        return self.filter(Q(state=Fragment.State.WAITING) | lost)

    def open(self) -> FragmentQuerySet:
        """Not at an end: waiting or being worked on."""
        return self.filter(state__in=[Fragment.State.WAITING, Fragment.State.WORKING])


class Fragment(models.Model):
    """A piece of source code with a target function, on its way to an example; untrusted, never executed outside a box.

    A worker that advances it holds `claim` until `lease_end`, and writes only under that.
    """

    class State(models.TextChoices):
        WAITING = "waiting", "waiting"
        LEFT_OUT = "left_out", "left out"
        WORKING = "working", "being worked on"
        READY = "ready", "awaits a curator"
        ACCEPTED = "accepted", "accepted"
        REJECTED = "rejected", "rejected"
        STOPPED = "stopped", "stopped"

    run = models.ForeignKey(GenerationRun, on_delete=models.CASCADE, related_name="fragments")
    number = models.PositiveIntegerField(help_text="within the run, from 1")
    source = models.TextField(help_text="the whole file or module, or what was published of it")
    path = models.CharField(max_length=500, blank=True)
    function = models.CharField(max_length=300, blank=True, help_text="qualified name, Class.method")
    repository = models.CharField(max_length=300, blank=True)
    licence = models.CharField(max_length=100, blank=True, help_text="of the repository; blank means unknown")
    origin = models.CharField(max_length=300, blank=True, help_text="commit, version or address")
    structure_hash = models.CharField(max_length=64, blank=True, help_text="of the syntax tree, names apart")
    touches = models.JSONField(default=list, help_text="such as network, gpu, subprocess, files")

    state = models.CharField(max_length=10, choices=State, default=State.WAITING)
    reason_code = models.SlugField(max_length=60, blank=True)
    reason = models.TextField(blank=True)
    example = models.OneToOneField(Example, null=True, on_delete=models.PROTECT, related_name="fragment")
    claim = models.CharField(max_length=32, blank=True)
    lease_end = models.DateTimeField(null=True)
    tries = models.PositiveSmallIntegerField(default=0, help_text="how often a worker took it")
    created_at = models.DateTimeField(db_default=Now())
    finished_at = models.DateTimeField(null=True)

    objects = FragmentQuerySet.as_manager()

    class Meta:
        ordering = ["run", "number"]
        indexes = [
            models.Index(fields=["state", "lease_end"], name="fragment_state_lease"),
            models.Index(fields=["structure_hash"], name="fragment_structure"),
        ]
        constraints = [
            UniqueConstraint(F("run"), F("number"), name="fragment_run_number"),
            CheckConstraint(condition=Q(number__gte=1), name="fragment_number_from_one"),
            CheckConstraint(condition=Q(state="working") ^ Q(claim=""), name="fragment_claim_iff_working"),
            CheckConstraint(
                condition=Q(state="accepted") ^ Q(example=None), name="fragment_example_iff_accepted"
            ),
            CheckConstraint(
                condition=~Q(state__in=["left_out", "rejected", "stopped"]) | ~Q(reason_code=""),
                name="fragment_end_has_reason",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.run_id}/{self.number} {self.function}"

    @property
    def is_open(self) -> bool:
        """Whether more is to come."""
        return self.state in (self.State.WAITING, self.State.WORKING)


class Call(models.Model):
    """A question to a model: committed, with what it may cost at most, before it is sent.

    One that is `recorded` is never asked again. One that is `sent` while nobody works on its fragment was lost: it counts
    in full, and its slot (fragment, number) is asked again by a further attempt. One that was `refused` cost nothing.
    """

    class State(models.TextChoices):
        SENT = "sent", "sent"
        RECORDED = "recorded", "recorded"
        LOST = "lost", "lost"
        REFUSED = "refused", "refused by the endpoint"

    run = models.ForeignKey(GenerationRun, on_delete=models.CASCADE, related_name="calls")
    fragment = models.ForeignKey(Fragment, on_delete=models.CASCADE, related_name="calls")
    step = models.CharField(max_length=20, choices=Step)
    number = models.PositiveIntegerField(help_text="of the round it is for")
    attempt = models.PositiveSmallIntegerField(default=1)
    request = models.JSONField(help_text="the body sent: model, messages, parameters")
    request_hash = models.CharField(max_length=64, help_text="of the request as canonical JSON")
    prompt_version = models.CharField(max_length=64)
    reserved_tokens = models.PositiveBigIntegerField(help_text="at most: prompt and max_tokens")
    reserved_micros = models.PositiveBigIntegerField(default=0)

    state = models.CharField(max_length=10, choices=State, default=State.SENT)
    reply = models.TextField(blank=True)
    finish = models.CharField(max_length=40, blank=True, help_text="why the reply ended: stop, length, …")
    prompt_tokens = models.PositiveBigIntegerField(null=True, help_text="as the endpoint counts")
    completion_tokens = models.PositiveBigIntegerField(null=True)
    charged_tokens = models.PositiveBigIntegerField(help_text="reserved, then spent; 0 where refused")
    charged_micros = models.PositiveBigIntegerField(default=0)
    seconds = models.FloatField(null=True)
    problem = models.TextField(blank=True, help_text="why it was lost or refused")
    sent_at = models.DateTimeField(db_default=Now())
    ended_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ["fragment", "number", "attempt"]
        constraints = [
            UniqueConstraint(F("fragment"), F("number"), F("attempt"), name="call_fragment_number_attempt"),
            UniqueConstraint(
                fields=["fragment", "number"],
                condition=Q(state__in=["sent", "recorded"]),
                name="call_one_under_way_per_slot",
            ),
            CheckConstraint(condition=Q(state="sent") ^ Q(ended_at__isnull=False), name="call_end_iff_ended"),
            CheckConstraint(
                condition=~Q(state="refused") | Q(charged_tokens=0, charged_micros=0),
                name="call_refused_costs_nothing",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.step} {self.number}.{self.attempt} of fragment {self.fragment_id}: {self.state}"

    @property
    def prompt(self) -> str:
        """The messages sent, as text for people."""
        return "\n\n".join(each["content"] for each in self.request["messages"])

    @property
    def model(self) -> str:
        """The model that was asked."""
        return str(self.request["model"])

    @property
    def parameters(self) -> dict[str, Any]:
        """Everything sent but the messages and the model."""
        return {name: value for name, value in self.request.items() if name not in ("messages", "model")}


class Round(models.Model):
    """One text of a fragment on its way: by a model (`call`), by a curator (`edited_by`), or by rule (neither).

    `text` is what the round proposes for its `subject`. Where a rule is broken, `rule` names it and `text` goes no
    further; otherwise it takes the place of the last one. `execution` is the reference against the tests after it.
    """

    class Subject(models.TextChoices):
        PROGRAM = "program", "program"
        TESTS = "tests", "tests"
        INSTRUCTION = "instruction", "instruction"

    fragment = models.ForeignKey(Fragment, on_delete=models.CASCADE, related_name="rounds")
    number = models.PositiveIntegerField(help_text="within the fragment, from 1")
    step = models.CharField(max_length=20, choices=Step)
    subject = models.CharField(max_length=20, choices=Subject)
    call = models.OneToOneField(Call, null=True, on_delete=models.PROTECT, related_name="round")
    edited_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.PROTECT, related_name="+"
    )
    text = models.TextField(blank=True)
    adaptations = models.JSONField(
        default=list, help_text="how the program differs from its source: kind, before, after"
    )
    note = models.TextField(blank=True, help_text="what was done, where no model and no curator did it")
    rule = models.SlugField(max_length=60, blank=True, help_text="the rule it breaks, empty where none")
    message = models.TextField(blank=True, help_text="what broke it")
    execution = models.ForeignKey(Execution, null=True, on_delete=models.PROTECT, related_name="rounds")
    seconds = models.FloatField(null=True, help_text="from asking to the outcome")
    created_at = models.DateTimeField(db_default=Now())

    class Meta:
        ordering = ["fragment", "number"]
        constraints = [
            UniqueConstraint(F("fragment"), F("number"), name="round_fragment_number"),
            CheckConstraint(condition=Q(number__gte=1), name="round_number_from_one"),
            CheckConstraint(condition=Q(call=None) | Q(edited_by=None), name="round_call_or_curator"),
            CheckConstraint(condition=Q(rule="") | ~Q(message=""), name="round_rule_has_message"),
        ]

    def __str__(self) -> str:
        return f"round {self.number} of fragment {self.fragment_id}: {self.rule or self.subject}"

    def diff(self, before: str) -> str:
        """Return a unified diff from the text before to this one; "" where they are the same."""
        lines = difflib.unified_diff(
            before.splitlines(), self.text.splitlines(), "before", f"round {self.number}", lineterm=""
        )
        return "\n".join(lines)


class PackageWish(models.Model):
    """A package that a reply asks for; nothing is installed before a curator makes an environment of it."""

    class State(models.TextChoices):
        OPEN = "open", "open"
        APPROVED = "approved", "approved"
        REFUSED = "refused", "refused"

    fragment = models.ForeignKey(Fragment, on_delete=models.CASCADE, related_name="wishes")
    package = models.CharField(max_length=100, help_text="as the reply writes it")
    said = models.TextField(help_text="the line of the reply that asks for it")
    state = models.CharField(max_length=10, choices=State, default=State.OPEN)
    environment = models.ForeignKey(
        Environment, null=True, on_delete=models.SET_NULL, related_name="wishes", help_text="made for it"
    )
    decided_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.PROTECT, related_name="+"
    )
    created_at = models.DateTimeField(db_default=Now())

    class Meta:
        ordering = ["pk"]
        verbose_name_plural = "package wishes"
        constraints = [
            UniqueConstraint(F("fragment"), F("package"), name="packagewish_fragment_package"),
            CheckConstraint(
                condition=Q(state="open") ^ Q(decided_by__isnull=False), name="packagewish_decided"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.package}: {self.state}"
