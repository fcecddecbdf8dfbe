"""What a person did on the way into a study, and out of it: consent, background, gold examples, withdrawal; sign-up."""

from __future__ import annotations

from django.db import models
from django.db.models import CheckConstraint, F, Q, UniqueConstraint
from django.db.models.functions import Now

from annotation.models.account import User
from annotation.models.protocol import Protocol
from annotation.models.study import Study, StudyPerson
from examples.models import Version


class Acceptance(models.Model):
    """A person said yes or no to a text of a protocol, known by its sha256; rows are added, and the latest holds."""

    class What(models.TextChoices):
        CONSENT = "consent", "consent"
        GUIDELINES = "guidelines", "guidelines read"

    member = models.ForeignKey(StudyPerson, on_delete=models.PROTECT, related_name="acceptances")
    what = models.CharField(max_length=12, choices=What)
    sha256 = models.CharField(max_length=64)
    accepted = models.BooleanField()
    protocol = models.ForeignKey(Protocol, on_delete=models.PROTECT, related_name="acceptances")
    at = models.DateTimeField(db_default=Now())

    class Meta:
        ordering = ["pk"]
        constraints = [
            CheckConstraint(
                condition=Q(what="consent") | Q(accepted=True), name="acceptance_only_consent_is_declined"
            )
        ]

    def __str__(self) -> str:
        return f"{self.member}: {self.get_what_display()}"


class Background(models.Model):
    """What a person says of their experience, in bands; "" is rather not say."""

    class Years(models.TextChoices):
        UNDER_1 = "under 1", "less than 1 year"
        UNDER_3 = "1 to 2", "1 to 2 years"
        UNDER_6 = "3 to 5", "3 to 5 years"
        UNDER_11 = "6 to 10", "6 to 10 years"
        MORE = "over 10", "more than 10 years"

    class Familiarity(models.TextChoices):
        NONE = "none", "not at all"
        SOME = "some", "have used things like it"
        WELL = "well", "know it well"

    class Exposure(models.TextChoices):
        NONE = "none", "no"
        SOURCES = "sources", "I know some of the code it is made of"
        EXAMPLES = "examples", "I have seen some of its examples or solutions"

    member = models.OneToOneField(StudyPerson, on_delete=models.PROTECT, related_name="background")
    programming_years = models.CharField(max_length=10, choices=Years, blank=True)
    language_years = models.CharField(max_length=10, choices=Years, blank=True)
    familiarity = models.CharField(max_length=10, choices=Familiarity, blank=True)
    prior_exposure = models.CharField(max_length=10, choices=Exposure, blank=True)
    at = models.DateTimeField(db_default=Now())

    class Meta:
        ordering = ["member"]

    def __str__(self) -> str:
        return f"background of {self.member}"


class GoldItem(models.Model):
    """A version of which the curators know that it is right: it measures people, and is in no figure of the study."""

    class Purpose(models.TextChoices):
        QUALIFICATION = "qualification", "qualification"
        RETRY = "retry", "second try of the qualification"
        LATER = "later", "mixed into the work"

    study = models.ForeignKey(Study, on_delete=models.CASCADE, related_name="gold_items")
    version = models.ForeignKey(Version, on_delete=models.PROTECT, related_name="gold_items")
    purpose = models.CharField(max_length=14, choices=Purpose)
    marked_by = models.ForeignKey(User, on_delete=models.PROTECT, related_name="+")
    at = models.DateTimeField(db_default=Now())

    class Meta:
        ordering = ["study", "pk"]
        constraints = [UniqueConstraint(F("study"), F("version"), name="golditem_study_version")]

    def __str__(self) -> str:
        return f"{self.version} in {self.study}: {self.get_purpose_display()}"


class Admission(models.Model):
    """A curator let a person work who did not qualify, or without qualification, with a reason."""

    member = models.OneToOneField(StudyPerson, on_delete=models.PROTECT, related_name="admission")
    reason = models.TextField()
    admitted_by = models.ForeignKey(User, on_delete=models.PROTECT, related_name="+")
    at = models.DateTimeField(db_default=Now())

    class Meta:
        ordering = ["member"]
        constraints = [CheckConstraint(condition=~Q(reason=""), name="admission_has_reason")]

    def __str__(self) -> str:
        return f"admission of {self.member}"


class Withdrawal(models.Model):
    """A person left a study: their rows stay under the pseudonym, in figures or, at their wish, out of them."""

    member = models.ForeignKey(StudyPerson, on_delete=models.PROTECT, related_name="withdrawals")
    leave_out = models.BooleanField(help_text="true: their attempts are in no figure computed from then on")
    words = models.TextField(blank=True)
    recorded_by = models.ForeignKey(User, on_delete=models.PROTECT, related_name="+")
    at = models.DateTimeField(db_default=Now())

    class Meta:
        ordering = ["pk"]

    def __str__(self) -> str:
        return f"withdrawal of {self.member}"


class SignUp(models.Model):
    """Somebody asked for an account by themselves; they cannot sign in until a curator has said yes."""

    user = models.OneToOneField(User, on_delete=models.PROTECT, related_name="sign_up")
    note = models.CharField(max_length=500, blank=True)
    asked_at = models.DateTimeField(db_default=Now())
    approved = models.BooleanField(null=True)
    decided_by = models.ForeignKey(User, null=True, on_delete=models.PROTECT, related_name="+")
    decided_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ["pk"]
        constraints = [
            CheckConstraint(
                condition=Q(approved=None) ^ Q(decided_at__isnull=False), name="signup_decided_has_time"
            )
        ]

    def __str__(self) -> str:
        return f"sign-up of {self.user.pseudonym}"
