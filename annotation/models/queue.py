"""How annotators leave an attempt before its end, and what curators decide where one was reported broken."""

from __future__ import annotations

from django.db import models
from django.db.models import CheckConstraint, Q, UniqueConstraint
from django.db.models.functions import Now

from annotation.models.account import User
from annotation.models.attempt import Attempt, Run
from annotation.models.study import Study
from examples.models import Version


class Parting(models.Model):
    """An annotator set an attempt aside: rows are added, never changed.

    defer    comes back to its person; the place is kept until `kept_until`
    decline  never that person's again; the place is free at once
    """

    class Act(models.TextChoices):
        DEFER = "defer", "deferred"
        DECLINE = "decline", "declined"

    attempt = models.ForeignKey(Attempt, on_delete=models.PROTECT, related_name="partings")
    act = models.CharField(max_length=10, choices=Act)
    reason = models.TextField(blank=True)
    kept_until = models.DateTimeField(null=True)
    at = models.DateTimeField(db_default=Now())

    class Meta:
        ordering = ["pk"]
        constraints = [
            CheckConstraint(condition=Q(act="defer") | ~Q(reason=""), name="parting_decline_has_reason"),
            CheckConstraint(
                condition=Q(act="decline") ^ Q(kept_until__isnull=False), name="parting_kept_iff_deferred"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.attempt} {self.get_act_display()}"


class BrokenReport(models.Model):
    """An annotator holds a version for broken, with evidence: nobody new gets it in this study until a curator decides.

    go on      it is not broken: given out again, to the one who reported it too
    repair     it stays paused until a new version of the example takes its place
    take out   it leaves the study; what was done on it is in no figure
    """

    class What(models.TextChoices):
        INSTRUCTION = "instruction", "the instruction contradicts itself or the tests"
        CONTEXT = "context", "the code around it"
        TESTS = "tests", "a visible test"
        ENVIRONMENT = "environment", "a package, a file or the network is missing"
        OTHER = "other", "something else"

    class Decision(models.TextChoices):
        GO_ON = "go_on", "go on as it is"
        REPAIR = "repair", "repair it"
        TAKE_OUT = "take_out", "take it out of the study"

    attempt = models.ForeignKey(Attempt, on_delete=models.PROTECT, related_name="broken_reports")
    study = models.ForeignKey(Study, on_delete=models.PROTECT, related_name="broken_reports")
    version = models.ForeignKey(Version, on_delete=models.PROTECT, related_name="broken_reports")
    what = models.CharField(max_length=12, choices=What)
    evidence = models.TextField(help_text="what was seen, what was expected")
    run = models.ForeignKey(
        Run, null=True, on_delete=models.PROTECT, related_name="+", help_text="the last one before the report"
    )
    at = models.DateTimeField(db_default=Now())
    decision = models.CharField(max_length=10, choices=Decision, blank=True)
    reason = models.TextField(blank=True)
    decided_by = models.ForeignKey(User, null=True, on_delete=models.PROTECT, related_name="+")
    decided_at = models.DateTimeField(null=True)
    replaced_by = models.ForeignKey(Version, null=True, on_delete=models.PROTECT, related_name="+")

    class Meta:
        ordering = ["pk"]
        indexes = [models.Index(fields=["study", "version"], name="brokenreport_study_version")]
        constraints = [
            UniqueConstraint(
                fields=["attempt"], condition=Q(decision=""), name="brokenreport_one_open_per_attempt"
            ),
            CheckConstraint(condition=~Q(evidence=""), name="brokenreport_has_evidence"),
            CheckConstraint(
                condition=Q(decision="", decided_at=None, decided_by=None, reason="")
                | (~Q(decision="") & ~Q(reason="") & Q(decided_at__isnull=False, decided_by__isnull=False)),
                name="brokenreport_decided_whole",
            ),
            CheckConstraint(
                condition=Q(replaced_by=None) | Q(decision="repair"), name="brokenreport_replaced_by_repair"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.version} in {self.study}: {self.get_what_display()}"
