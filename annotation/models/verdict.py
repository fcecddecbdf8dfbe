"""What annotators say at the end, and what curators decide."""

from __future__ import annotations

from django.db import models
from django.db.models import CheckConstraint, F, Q, UniqueConstraint
from django.db.models.functions import Now

from annotation.models.account import User
from annotation.models.attempt import Attempt
from annotation.models.protocol import Arm
from examples.models import Version


class Verdict(models.Model):
    """What an annotator says when closing an attempt; the machine's outcome stays in its own columns.

    It is the one current value. How its answers came about, and what they were before a curator re-opened it, is kept
    by `VerdictStep`. "" and None in what only some protocols ask mean: not asked, or not answered.
    """

    class Outcome(models.TextChoices):
        SOLVED = "solved", "solved"
        GAVE_UP = "gave_up", "gave up"
        OUT_OF_TIME = "out_of_time", "out of time"
        UNDERSPECIFIED = "underspecified", "under-specified"
        TESTS_WRONG = "tests_wrong", "tests wrong or over-strict"
        ENVIRONMENT_BROKEN = "environment_broken", "environment broken"
        KNEW_IT = "knew_it", "knew it already"

    class Confidence(models.IntegerChoices):
        GUESSING = 0, "guessing"
        FAIRLY = 1, "fairly sure"
        SURE = 2, "sure"
        CERTAIN = 3, "certain"

    class Exposure(models.TextChoices):
        NO = "no", "no"
        SIMILAR = "similar", "something like it"
        SEEN = "seen", "this code or its solution"

    attempt = models.OneToOneField(Attempt, on_delete=models.PROTECT, related_name="verdict")
    outcome = models.CharField(max_length=20, choices=Outcome)
    solved = models.BooleanField(help_text="by execution: a submission PASSED within the limits")
    difficulty = models.CharField(max_length=60)
    instruction_quality = models.PositiveSmallIntegerField(
        help_text="0 well specified to 3 impossible to understand"
    )
    test_quality = models.PositiveSmallIntegerField(
        help_text="0 cover all solutions to 3 look for something else"
    )
    instruction_note = models.TextField(blank=True, help_text="what is unclear in the instruction")
    test_note = models.TextField(blank=True, help_text="what the tests are too strict about, or miss")
    text = models.TextField(blank=True)
    evidence = models.TextField(blank=True, help_text="why the example is to blame")
    evidence_test = models.CharField(
        max_length=300, blank=True, help_text="a visible assertion as test:number, or hidden, or none"
    )
    evidence_input = models.TextField(blank=True, help_text="such as a call")
    evidence_expected = models.TextField(blank=True, help_text="what a right answer gives for it")
    evidence_got = models.TextField(blank=True, help_text="what the test demands, or what came instead")
    confidence = models.PositiveSmallIntegerField(null=True, choices=Confidence)
    aids = models.CharField(
        max_length=10, blank=True, choices=Arm, help_text="what was used, as its user declares"
    )
    aids_text = models.TextField(blank=True, help_text="which one, and for what")
    prior_exposure = models.CharField(max_length=10, blank=True, choices=Exposure)
    revision = models.PositiveSmallIntegerField(
        default=1, help_text="grows when it is given again after a curator re-opened it"
    )
    carried = models.BooleanField(default=False)
    created_at = models.DateTimeField(db_default=Now())

    class Meta:
        ordering = ["attempt"]
        constraints = [
            CheckConstraint(
                condition=Q(instruction_quality__lte=3), name="verdict_instruction_quality_0_to_3"
            ),
            CheckConstraint(condition=Q(test_quality__lte=3), name="verdict_test_quality_0_to_3"),
            CheckConstraint(
                condition=Q(confidence=None) | Q(confidence__lte=3), name="verdict_confidence_0_to_3"
            ),
            CheckConstraint(condition=Q(revision__gte=1), name="verdict_revision_from_1"),
        ]

    def __str__(self) -> str:
        return self.get_outcome_display()

    @property
    def words(self) -> str:
        """Everything said in free text about instruction and tests, a paragraph each."""
        return "\n\n".join(filter(None, (self.instruction_note, self.test_note, self.text)))

    @property
    def blamed_test(self) -> str:
        """Which test the evidence names: a visible assertion as test:number, "a hidden one", "" for none."""
        return {"hidden": "a hidden one", "none": ""}.get(self.evidence_test, self.evidence_test)

    @property
    def evidence_words(self) -> str:
        """The evidence as lines: which test, input, expected, got, and why."""
        named = (
            ("test", self.blamed_test),
            ("input", self.evidence_input),
            ("expected", self.evidence_expected),
            ("got", self.evidence_got),
        )
        return "\n".join(
            [*(f"{name}: {said}" for name, said in named if said), *filter(None, [self.evidence])]
        )


class VerdictStep(models.Model):
    """A change of the closing form as the server received it; rows are added, never changed.

    saved      answers that were changed before closing, each with its new value; all of them in order are the draft
    closed     the answers with which the attempt was closed, all of them
    reopened   a curator gave the form back, with a reason; the next `closed` is a new revision of the verdict
    """

    class Kind(models.TextChoices):
        SAVED = "saved", "saved"
        CLOSED = "closed", "closed"
        REOPENED = "reopened", "re-opened"

    attempt = models.ForeignKey(Attempt, on_delete=models.CASCADE, related_name="verdict_steps")
    number = models.PositiveIntegerField(help_text="from 1, in the attempt")
    kind = models.CharField(max_length=10, choices=Kind)
    changed = models.JSONField(default=dict, help_text="field of the form to its new value")
    reason = models.TextField(blank=True)
    by = models.ForeignKey(User, on_delete=models.PROTECT, related_name="+")
    at = models.DateTimeField(db_default=Now())

    class Meta:
        ordering = ["attempt", "number"]
        constraints = [
            UniqueConstraint(F("attempt"), F("number"), name="verdictstep_attempt_number"),
            CheckConstraint(
                condition=Q(kind="reopened") ^ Q(reason=""), name="verdictstep_reason_iff_reopened"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.get_kind_display()} {self.number}"


class Adjudication(models.Model):
    """A curator's decision on a version where verdicts or executions disagree, with its reason."""

    class Decision(models.TextChoices):
        SOLVABLE = "solvable", "solvable as it stands"
        REPAIR = "repair", "needs a new version"
        RETIRE = "retire", "to be retired"

    class Severity(models.IntegerChoices):
        NONE = 0, "0: nothing is wrong"
        MINOR = 1, "1: minor, no outcome depends on it"
        MAJOR = 2, "2: major, some right solutions are hit"
        SEVERE = 3, "3: severe, it measures something else"

    version = models.ForeignKey(Version, on_delete=models.PROTECT, related_name="adjudications")
    decision = models.CharField(max_length=20, choices=Decision)
    severity = models.PositiveSmallIntegerField(
        null=True, choices=Severity, help_text="of the flaw; none for a decision from before it was asked for"
    )
    reason = models.TextField()
    decided_by = models.ForeignKey(User, on_delete=models.PROTECT, related_name="adjudications")
    decided_at = models.DateTimeField(db_default=Now())

    class Meta:
        ordering = ["version", "pk"]
        constraints = [
            CheckConstraint(condition=~Q(reason=""), name="adjudication_has_reason"),
            CheckConstraint(
                condition=Q(severity=None) | Q(severity__lte=3), name="adjudication_severity_0_to_3"
            ),
        ]

    def __str__(self) -> str:
        return self.get_decision_display()
