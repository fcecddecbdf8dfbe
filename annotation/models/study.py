"""Studies: protocol, people, and the slots that people take."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from functools import cached_property
from typing import TYPE_CHECKING

from django.db import models
from django.db.models import CheckConstraint, F, Q, UniqueConstraint
from django.db.models.functions import Now

from annotation.models.account import User
from config.access import Person, Role
from examples.models import Version

if TYPE_CHECKING:
    from annotation.models.protocol import Protocol


class StudyQuerySet(models.QuerySet["Study"]):
    """Which studies."""

    def visible_to(self, user: Person) -> StudyQuerySet:
        """Curators see every study, annotators those they take part in once it is open, others none."""
        if not user.is_authenticated:
            return self.none()
        if user.curates:
            return self.all()
        if user.role == Role.ANNOTATOR:
            return self.filter(people__person_id=user.pk).exclude(state=Study.State.DRAFT)
        return self.none()


class Study(models.Model):
    """Versions, people, and the protocol under which they meet: its rules are rows of `Protocol`."""

    class State(models.TextChoices):
        DRAFT = "draft", "draft"
        OPEN = "open", "open"
        PAUSED = "paused", "paused"
        CLOSED = "closed", "closed"

    name = models.SlugField(unique=True)
    title = models.CharField(max_length=200)
    state = models.CharField(max_length=10, choices=State, default=State.DRAFT)
    created_by = models.ForeignKey(User, null=True, on_delete=models.PROTECT, related_name="+")
    created_at = models.DateTimeField(db_default=Now())
    opened_at = models.DateTimeField(null=True)
    closed_at = models.DateTimeField(null=True)

    objects = StudyQuerySet.as_manager()

    class Meta:
        ordering = ["-pk"]
        verbose_name_plural = "studies"
        constraints = [
            CheckConstraint(
                condition=Q(state="draft") | Q(opened_at__isnull=False), name="study_opened_has_time"
            ),
        ]

    def __str__(self) -> str:
        return self.title

    @cached_property
    def protocol(self) -> Protocol:
        """The protocol in force: the highest that is frozen; before the study opens, the draft of the first."""
        known = sorted(self.protocols.all(), key=lambda each: each.number)
        return next((each for each in reversed(known) if each.frozen_at), known[0])

    @property
    def proposed(self) -> Protocol | None:
        """The draft of the next change, None where there is none; of a study that never opened, its only protocol."""
        return next((each for each in self.protocols.all() if each.frozen_at is None), None)

    def refresh_from_db(
        self,
        using: str | None = None,
        fields: Iterable[str] | None = None,
        from_queryset: models.QuerySet[Study] | None = None,
    ) -> None:
        """Forget the protocol too, which may have changed since."""
        self.__dict__.pop("protocol", None)
        super().refresh_from_db(using, fields, from_queryset)


class StudyPerson(models.Model):
    """An annotator who takes part in a study; taken out of it they stay as `active=False`, never deleted."""

    study = models.ForeignKey(Study, on_delete=models.CASCADE, related_name="people")
    person = models.ForeignKey(User, on_delete=models.PROTECT, related_name="studies")
    active = models.BooleanField(default=True)
    cap = models.PositiveSmallIntegerField(
        null=True, blank=True, help_text="examples of the study they are given at most; empty is no limit"
    )

    class Meta:
        ordering = ["study", "pk"]
        constraints = [UniqueConstraint(F("study"), F("person"), name="studyperson_study_person")]

    def __str__(self) -> str:
        return f"{self.person.pseudonym} in {self.study}"


class SlotQuerySet(models.QuerySet["Slot"]):
    """Which slots."""

    def of_the_study(self) -> SlotQuerySet:
        """The k places of each version: those that the protocol asks for."""
        return self.filter(kind=Slot.Kind.STUDY)

    def takeable(self, now: datetime) -> SlotQuerySet:
        """Places free, or held with a lease that is over; one table only, so that an UPDATE checks the row it changes."""
        over = Q(state__in=[Slot.State.TAKEN, Slot.State.KEPT], lease_end__lt=now)
        return self.of_the_study().filter(Q(state=Slot.State.FREE) | over, paused=False)


class Slot(models.Model):
    """One of the k places of a version in a study; taken it is an assignment, leased to its annotator.

    free    annotator None
    taken   leased until `lease_end`; kept alive by the page's beats
    kept    its annotator deferred it: theirs until `lease_end`, and not what they work on now
    closed  its attempt is closed

    A `paused` one is given to nobody: its version was reported broken, or has left the study since. Besides the k places
    there are those of one person alone, made as they are needed: figures, exports and releases leave them out.
    """

    class State(models.TextChoices):
        FREE = "free", "free"
        TAKEN = "taken", "taken"
        KEPT = "kept", "kept for later"
        CLOSED = "closed", "closed"

    class Kind(models.TextChoices):
        STUDY = "study", "place of the study"
        EXTRA = "extra", "surplus: a submission came after the place had gone to another"
        WARM_UP = "warm_up", "warm-up"
        QUALIFICATION = "qualification", "gold example of the qualification"
        GOLD = "gold", "gold example mixed into the work"

    study = models.ForeignKey(Study, on_delete=models.CASCADE, related_name="slots")
    version = models.ForeignKey(Version, on_delete=models.PROTECT, related_name="slots")
    number = models.PositiveSmallIntegerField(
        help_text="1 to k; of the other kinds from 1001, so that raising k never meets one"
    )
    kind = models.CharField(max_length=14, choices=Kind, default=Kind.STUDY)
    state = models.CharField(max_length=10, choices=State, default=State.FREE)
    paused = models.BooleanField(default=False)
    annotator = models.ForeignKey(User, null=True, on_delete=models.PROTECT, related_name="slots")
    taken_at = models.DateTimeField(null=True)
    lease_end = models.DateTimeField(null=True)

    objects = SlotQuerySet.as_manager()

    class Meta:
        ordering = ["study", "version", "number"]
        indexes = [models.Index(fields=["study", "state", "version"], name="slot_study_state_version")]
        constraints = [
            UniqueConstraint(F("study"), F("version"), F("number"), name="slot_study_version_number"),
            UniqueConstraint(fields=["study", "version", "annotator"], name="slot_study_version_annotator"),
            UniqueConstraint(
                fields=["study", "annotator"],
                condition=Q(state="taken") & ~Q(kind="extra"),
                name="slot_one_open_per_person",
            ),
            CheckConstraint(
                condition=Q(state="free") ^ Q(annotator__isnull=False), name="slot_annotator_iff_not_free"
            ),
            CheckConstraint(
                condition=Q(state__in=["taken", "kept"]) ^ Q(lease_end=None), name="slot_lease_iff_held"
            ),
            CheckConstraint(
                condition=Q(kind="study") ^ Q(number__gt=1000), name="slot_other_kinds_from_1001"
            ),
        ]

    def __str__(self) -> str:
        return f"slot {self.number} of {self.version} in {self.study}"


COUNTED = [Slot.Kind.STUDY, Slot.Kind.EXTRA]  # what figures, exports and releases are made of
