"""FAIRNESS: everything that curators decided about a study's versions, as rows in the order of time."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from django.db.models import QuerySet

from annotation.models import Adjudication, Assessment, Fix, Ruling, SecondReading, Study
from examples.models import Alternative, Version

DECISIONS: tuple[str, ...] = (
    "at",
    "version",
    "example",
    "kind",
    "what",
    "severity",
    "reason",
    "by",
    "solution",
)


def decision_rows(study: Study) -> list[dict[str, Any]]:
    """Return a row for each decision, second reader, judged solution, ruling, alternative and fix, oldest first.

    `by` is the curator's pseudonym; `solution` a hash where it is about one. Moments are ISO 8601.
    """
    versions = Version.objects.filter(slots__study=study).distinct()
    rows = sorted(_rows(study, versions), key=lambda row: row["at"])
    return [{**row, "at": row["at"].isoformat()} for row in rows]


def _rows(study: Study, versions: QuerySet[Version]) -> Iterator[dict[str, Any]]:
    here = versions.order_by().values("pk")
    decisions = Adjudication.objects.filter(version__in=here).select_related("version", "decided_by")
    for one in decisions:
        yield _row(
            one.decided_at, one.version, "decision", one.decision, one.reason, one.decided_by, one.severity
        )
    for asked in SecondReading.objects.filter(version__in=here).select_related("version", "asked_by"):
        yield _row(asked.asked_at, asked.version, "second reader", "asked for", asked.reason, asked.asked_by)
    for said in Assessment.objects.filter(version__in=here).select_related("version", "made_by"):
        word = "right" if said.right else "wrong"
        yield _row(
            said.made_at, said.version, "solution", word, said.reason, said.made_by, solution=said.sha256
        )
    rulings = Ruling.objects.filter(run__attempt__slot__study=study)
    for ruling in rulings.select_related("run__attempt__slot__version", "decided_by"):
        version, word = ruling.run.attempt.slot.version, "stands" if ruling.stands else "does not stand"
        yield _row(
            ruling.decided_at,
            version,
            "submission",
            word,
            ruling.reason,
            ruling.decided_by,
            solution=ruling.run.sha256,
        )
    accepted = Alternative.objects.filter(version__in=here).select_related(
        "version", "accepted_by", "withdrawn_by"
    )
    for each in accepted:
        yield _row(
            each.accepted_at,
            each.version,
            "alternative",
            "accepted",
            each.reason,
            each.accepted_by,
            solution=each.sha256,
        )
        if each.withdrawn_at:
            yield _row(
                each.withdrawn_at,
                each.version,
                "alternative",
                "withdrawn",
                each.withdrawn_reason,
                each.withdrawn_by,
                solution=each.sha256,
            )
    for fix in Fix.objects.filter(base__in=here).select_related("base", "made", "made_by", "ended_by"):
        yield _row(fix.made_at, fix.base, "fix", "tried", fix.note, fix.made_by)
        if fix.ended_at:
            what = f"accepted as version {fix.made.number}" if fix.made else "discarded"
            yield _row(fix.ended_at, fix.base, "fix", what, fix.reason, fix.ended_by)


def _row(
    at: Any,
    version: Version,
    kind: str,
    what: str,
    reason: str,
    by: Any,
    severity: int | None = None,
    solution: str = "",
) -> dict[str, Any]:
    return {
        "at": at,
        "version": version.pk,
        "example": f"EX-{version.example_id:04d} v{version.number}",
        "kind": kind,
        "what": str(what),
        "severity": severity,
        "reason": reason,
        "by": by.pseudonym,
        "solution": solution,
    }
