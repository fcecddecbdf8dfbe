"""ASSIGN: what curators decide on a version that was reported broken: go on, repair, or take it out of the study."""

from __future__ import annotations

from datetime import datetime

from django.db import transaction
from django.db.models import Exists, OuterRef, Q, QuerySet

from annotation.leases import give_back
from annotation.models import Attempt, BrokenReport, Slot, Study, User
from annotation.studies import Choice, StudyRefused, add_versions
from examples.models import Version, audit

Decision = BrokenReport.Decision


def reports_of(study: Study) -> QuerySet[BrokenReport]:
    """Return the study's reports, those that wait first, with what the page shows of them."""
    found = study.broken_reports.select_related(
        "attempt__annotator", "version__example__current", "run__execution", "decided_by", "replaced_by"
    )
    return found.order_by("decision", "-pk")  # "" sorts first: what waits


def out_of_the_study() -> Q:
    """Return the reports by which a version has left its study: taken out, or its place given to a new version."""
    return Q(decision=Decision.TAKE_OUT) | Q(decision=Decision.REPAIR, replaced_by__isnull=False)


def left_the_study(*, study: str, version: str) -> Exists:
    """Return whether a row's version has left the row's study as broken, for an annotation over the named columns."""
    return Exists(
        BrokenReport.objects.filter(out_of_the_study(), study=OuterRef(study), version=OuterRef(version))
    )


def stopped(study: int) -> QuerySet[BrokenReport, int]:
    """Return the versions of a study that nobody new gets: reported and not decided on, in repair, or taken out."""
    reports = BrokenReport.objects.filter(study=study).exclude(decision=Decision.GO_ON)
    return reports.order_by().values_list("version", flat=True)


def decide(report: BrokenReport, *, decision: str, reason: str, by: User, now: datetime) -> None:
    """Decide on a report, with a reason, logged. Raises StudyRefused.

    go on     the version is given out again, unless another report of it still waits
    repair    it stays paused until `put_in_place` gives its places to a new version
    take out  it leaves the study: open attempts at it are ended, drafts stay, and it is in no figure
    """
    if decision not in Decision.values:
        raise StudyRefused("Choose one of the decisions.")
    if not reason.strip():
        raise StudyRefused("Give a reason: the person who reported it reads it.")
    if Attempt.objects.filter(annotator=by, slot__version__example=report.version.example_id).exists():
        raise StudyRefused("You worked on this example, so somebody else decides on it.")
    with transaction.atomic():
        waiting = BrokenReport.objects.filter(pk=report.pk, decision="")
        if not waiting.update(decision=decision, reason=reason.strip(), decided_by=by, decided_at=now):
            raise StudyRefused("Somebody has decided on this report meanwhile; look at it again.")
        slots = Slot.objects.filter(study=report.study_id, version=report.version_id)
        if decision == Decision.TAKE_OUT:
            _end_open_work(slots, now)
        if decision == Decision.GO_ON and not _stays_paused(report):
            slots.update(paused=False)
        audit(
            by,
            "broken report decided",
            f"study:{report.study_id}",
            report=report.pk,
            version=report.version_id,
            decision=decision,
        )
    report.refresh_from_db()


def put_in_place(report: BrokenReport, *, by: User, now: datetime) -> Version:
    """Give the study the repaired example's current version instead of the broken one, and return it. Raises StudyRefused."""
    version = report.version.example.current
    if report.decision != Decision.REPAIR or report.replaced_by_id:
        raise StudyRefused("This report waits for no repair.")
    if version is None or version.pk == report.version_id:
        raise StudyRefused("The example has no newer version yet: propose one on its page first.")
    if version.check_state != Version.CheckState.PASSED:
        raise StudyRefused("The checks of the new version have not passed yet.")
    with transaction.atomic():
        if not BrokenReport.objects.filter(pk=report.pk, replaced_by=None).update(replaced_by=version):
            raise StudyRefused("Somebody was faster; look at it again.")
        add_versions(report.study, Choice((version.pk,), {}), by=by)
        _end_open_work(Slot.objects.filter(study=report.study_id, version=report.version_id), now)
        audit(
            by,
            "repaired version put in place",
            f"study:{report.study_id}",
            before=report.version_id,
            after=version.pk,
        )
    return version


def _stays_paused(report: BrokenReport) -> bool:
    same = BrokenReport.objects.filter(study=report.study_id, version=report.version_id)
    return same.exclude(decision=Decision.GO_ON).exists()


def _end_open_work(slots: QuerySet[Slot], now: datetime) -> None:
    """Give back what people hold of a version that leaves the study; who only owes the verdict may still give it."""
    owed = Attempt.objects.filter(slot=OuterRef("pk"), state=Attempt.State.SUBMITTED)
    for slot in slots.filter(~Exists(owed), state__in=[Slot.State.TAKEN, Slot.State.KEPT]):
        give_back(slot, now=now)
