"""Protocols: the rules of a study, numbered, and frozen when they come into force."""

from __future__ import annotations

from typing import Any

from django.db import models
from django.db.models import CheckConstraint, F, OuterRef, Q, Subquery, UniqueConstraint
from django.db.models.functions import Now

from annotation.models.account import User
from annotation.models.study import Study

DEFAULT_DIFFICULTY = ["trivial", "requires effort", "very hard"]
DIFFICULTY_QUESTION = "How hard was it?"
INSTRUCTION_ANCHORS = [
    "It is clear what is asked.",
    "Some blanks, but one sensible reading fills them.",
    "Vague: two competent readers would build different things.",
    "Cannot be understood without more information.",
]
TEST_ANCHORS = [
    "Every correct solution would pass.",
    "Most would; an unusual correct one may be rejected.",
    "Reasonable correct solutions are rejected.",
    "The tests look for something other than the instruction.",
]


class Arm(models.TextChoices):
    """What help an attempt may use."""

    NONE = "none", "no help"
    SEARCH = "search", "web search"
    ASSISTANT = "assistant", "code assistant"


def default_difficulty() -> list[str]:
    """Return the default scale; only "requires effort" is the paper's published wording (arXiv 2404.00566)."""
    return list(DEFAULT_DIFFICULTY)


def default_instruction_anchors() -> list[str]:
    """Return what the grades 0 to 3 of an instruction mean, in our words."""
    return list(INSTRUCTION_ANCHORS)


def default_test_anchors() -> list[str]:
    """Return what the grades 0 to 3 of tests mean, in our words."""
    return list(TEST_ANCHORS)


def default_arms() -> list[str]:
    """Return the one arm without help."""
    return [Arm.NONE.value]


def default_exclusion_rules() -> list[dict[str, Any]]:
    """Return the one rule that every study had before rules could be chosen."""
    return [{"rule": "knew_it"}]


class ProtocolQuerySet(models.QuerySet["Protocol"]):
    """Which protocols."""

    def frozen(self) -> ProtocolQuerySet:
        """Those that are or were in force."""
        return self.filter(frozen_at__isnull=False)


def solvers_in_force(study: str) -> Subquery:
    """Return k of the study at the path, for a query: of its highest frozen protocol, as k is only ever raised."""
    frozen = Protocol.objects.frozen().filter(study=OuterRef(study)).order_by("-number")
    return Subquery(frozen.values("solvers")[:1])


class Protocol(models.Model):
    """The rules of a study under one number; nothing of them changes once `frozen_at` is set.

    Number 1 is written with the study and frozen when it opens. A change after that is the next number, with its
    reason: written as a draft (only the highest may be unfrozen), then put into force. An attempt keeps the protocol
    under which it began.
    """

    class Order(models.TextChoices):
        BALANCED = "balanced", "balanced"

    study = models.ForeignKey(Study, on_delete=models.CASCADE, related_name="protocols")
    number = models.PositiveSmallIntegerField(default=1)
    reason = models.TextField(blank=True, help_text="why it was changed; empty for the first")
    frozen_at = models.DateTimeField(null=True)
    created_by = models.ForeignKey(User, null=True, on_delete=models.PROTECT, related_name="+")
    created_at = models.DateTimeField(db_default=Now())

    solvers = models.PositiveSmallIntegerField(default=2, help_text="k: independent solvers for each version")
    seed = models.PositiveIntegerField(default=0, help_text="of sample, order and arms")
    sample_size = models.PositiveIntegerField(
        null=True, blank=True, help_text="versions drawn; empty where they were chosen by hand"
    )
    strata = models.JSONField(default=list, blank=True, help_text="by what the sample was stratified")
    order = models.CharField(max_length=12, choices=Order, default=Order.BALANCED)

    shows_visible_tests = models.BooleanField(default=True)
    arms = models.JSONField(default=default_arms, help_text="allowed help: none, search, assistant")
    records_pastes = models.BooleanField(default=False, help_text="sizes of pastes, with consent")

    active_limit_seconds = models.PositiveIntegerField(
        default=1800, help_text="limit on active time of an attempt"
    )
    idle_limit_seconds = models.PositiveIntegerField(
        default=120, help_text="without input beyond this is idle"
    )
    give_up_after_seconds = models.PositiveIntegerField(
        default=0, help_text="active seconds before giving up is offered; 0 is at once"
    )
    submissions = models.PositiveSmallIntegerField(
        default=1, help_text="m: submissions allowed in an attempt"
    )

    difficulty_question = models.CharField(max_length=200, default=DIFFICULTY_QUESTION)
    difficulty_levels = models.JSONField(default=default_difficulty)
    instruction_anchors = models.JSONField(default=default_instruction_anchors)
    test_anchors = models.JSONField(default=default_test_anchors)
    note_from = models.PositiveSmallIntegerField(default=2, help_text="a grade at or above it needs a note")
    asks_confidence = models.BooleanField(default=False)
    asks_prior_exposure = models.BooleanField(default=False)
    reveals_after_closing = models.BooleanField(
        default=False, help_text="reference and hidden tests, for a second judgement"
    )

    guidelines = models.TextField(blank=True, help_text="Markdown, shown to annotators")
    consent_text = models.TextField(blank=True, help_text="Markdown; empty asks for no consent")
    exclusion_rules = models.JSONField(default=default_exclusion_rules, blank=True)

    warm_up = models.BooleanField(default=False)
    pass_mark = models.FloatField(
        null=True, blank=True, help_text="share of gold examples to solve; empty for no qualification"
    )
    gold_every = models.PositiveSmallIntegerField(
        default=0, help_text="one gold example after so many; 0 is never"
    )

    objects = ProtocolQuerySet.as_manager()

    class Meta:
        ordering = ["study", "number"]
        constraints = [
            UniqueConstraint(F("study"), F("number"), name="protocol_study_number"),
            UniqueConstraint(fields=["study"], condition=Q(frozen_at=None), name="protocol_one_draft"),
            CheckConstraint(condition=Q(number__gte=1), name="protocol_number_from_1"),
            CheckConstraint(condition=Q(number=1) | ~Q(reason=""), name="protocol_change_has_reason"),
            CheckConstraint(condition=Q(solvers__gte=1), name="protocol_has_solvers"),
            CheckConstraint(condition=Q(submissions__gte=1), name="protocol_has_submissions"),
            CheckConstraint(
                condition=Q(active_limit_seconds__gte=60), name="protocol_limit_a_minute_or_more"
            ),
            CheckConstraint(condition=Q(idle_limit_seconds__gte=1), name="protocol_has_idle_limit"),
            CheckConstraint(condition=Q(note_from__lte=3), name="protocol_note_from_a_grade"),
            CheckConstraint(
                condition=Q(pass_mark=None) | Q(pass_mark__gte=0, pass_mark__lte=1),
                name="protocol_pass_mark_is_a_share",
            ),
            CheckConstraint(
                condition=Q(records_pastes=False) | ~Q(consent_text=""), name="protocol_pastes_need_consent"
            ),
        ]

    def __str__(self) -> str:
        return f"protocol {self.number}"
