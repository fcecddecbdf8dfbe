"""ADJUDICATE: verdicts that also hold for a later version of which only the tests changed, and what they count for."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from django.db.models import Count, F, QuerySet

from annotation.models import COUNTED, Attempt, CarriedVerdict, Fix, Run, Trial, Verdict, solvers_in_force
from annotation.results import rows_of
from annotation.solutions import same_task
from annotation.study.rows import AttemptRow
from annotation.withdrawing import asked_to_be_left_out
from examples.models import Version
from runner.models import Execution


def carries(fix: Fix, target: Version) -> bool:
    """Return whether what was said of the base also holds for the fix: instruction and context are as they were."""
    base = fix.base
    return (base.instruction, base.context, base.gap) == (target.instruction, target.context, target.gap)


def carry(fix: Fix, made: Version) -> int:
    """Let each verdict on the base's task hold for the version that the fix became; return how many. In a transaction.

    Whether an attempt is solved there is by its own submissions, executed against the fix; one of which nothing can be
    said, since an execution stayed unjudged, is not carried.
    """
    trials = {each.sha256: each for each in fix.trials.filter(number=1).select_related("execution")}
    submissions: dict[int, list[Run]] = {}
    at_task = Run.objects.filter(
        attempt__slot__version__in=same_task(fix.base).values("pk"), kind=Run.Kind.SUBMISSION
    )
    for run in at_task.select_related("execution", "ruling").defer("execution__job_data").order_by("number"):
        submissions.setdefault(run.attempt_id, []).append(run)
    verdicts = Verdict.objects.filter(
        attempt__slot__version__in=same_task(fix.base).values("pk"),
        attempt__slot__kind__in=COUNTED,
        attempt__state=Attempt.State.CLOSED,
    )
    carried = [
        row
        for verdict in verdicts.order_by("pk")
        if (row := _carried(verdict, made, submissions.get(verdict.attempt_id, ()), trials))
    ]
    CarriedVerdict.objects.bulk_create(carried)
    Verdict.objects.filter(pk__in=[row.verdict_id for row in carried]).update(carried=True)
    return len(carried)


def _carried(
    verdict: Verdict, made: Version, submissions: Iterable[Run], trials: Mapping[str, Trial]
) -> CarriedVerdict | None:
    """Return the row, None where an execution that would decide is missing."""
    execution, unknown = None, False
    for run in submissions:
        if run.execution.state != Execution.State.FINISHED:
            continue  # our fault then: it never counted
        trial = trials.get(run.sha256)
        if trial is None or trial.execution.state != Execution.State.FINISHED:
            unknown = True
            continue
        execution = trial.execution
        if execution.passed and not (run.execution.tampered and not run.passed):
            return CarriedVerdict(verdict=verdict, version=made, solved=True, execution=execution)
    if unknown:
        return None
    return CarriedVerdict(verdict=verdict, version=made, solved=False, execution=execution)


def carried_studies(versions: Any) -> Iterable[tuple[int, str, int, int]]:
    """Yield version id, study's title, k, and how many verdicts of the study were carried to the version."""
    rows = CarriedVerdict.objects.filter(version__in=versions).order_by()
    counted: Any = (
        rows.values("version_id", "verdict__attempt__slot__study")
        .annotate(
            wanted=solvers_in_force("verdict__attempt__slot__study"),
            title=F("verdict__attempt__slot__study__title"),
            carried=Count("pk"),
        )
        .values_list("version_id", "title", "wanted", "carried")
    )
    return list(counted)


def carried_independent(versions: Any) -> dict[int, int]:
    """Return how many carried verdicts are of independent people who solve the version, by version id."""
    rows = (
        CarriedVerdict.objects.filter(
            ~asked_to_be_left_out(
                study="verdict__attempt__slot__study", person="verdict__attempt__annotator"
            ),
            version__in=versions,
            solved=True,
        )
        .exclude(verdict__outcome=Verdict.Outcome.KNEW_IT)
        .exclude(version__author=F("verdict__attempt__annotator"))
        .order_by()
        .values_list("version")
        .annotate(people=Count("verdict__attempt__annotator", distinct=True))
    )
    return dict(rows)


def carried_rows(versions: QuerySet[Version]) -> list[AttemptRow]:
    """Return the rows of attempts whose verdicts were carried to the versions, as they stand there; unrated."""
    carried = list(
        CarriedVerdict.objects.filter(version__in=versions.order_by().values("pk"))
        .select_related("version")
        .order_by("pk")
        .annotate(attempt=F("verdict__attempt"))
    )
    if not carried:
        return []
    attempts = Attempt.objects.filter(verdict__carried_to__version__in=versions.order_by().values("pk"))
    ids = list(attempts.distinct().order_by("pk").values_list("pk", flat=True))
    rows = dict(zip(ids, rows_of(Attempt.objects.filter(pk__in=ids), rated=False), strict=True))
    return [_there(rows[each.attempt], each) for each in carried]


def _there(row: AttemptRow, carried: CarriedVerdict) -> AttemptRow:
    version = carried.version
    at = row.solved_at_submission or (1 if carried.solved else None)
    return replace(
        row,
        version_id=version.pk,
        example=f"EX-{version.example_id:04d} v{version.number}",
        solved=carried.solved,
        solved_at_submission=at if carried.solved else None,
    )
