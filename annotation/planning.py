"""STUDY: what the calculator says: how wide intervals will be, how much work that is, and what an open study shows."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from math import ceil

from annotation.models import Attempt, Slot, Study
from annotation.results import rows_of
from annotation.study.forecast import Forecast, forecast
from annotation.study.intervals import Estimate
from annotation.study.power import (
    attempts_for,
    clustered_attempts_for,
    clustered_half_width,
    design_effect,
    icc_of,
)
from annotation.study.rows import leave_out_unfinished

PEOPLE = (3, 5, 8, 12, 20, 30)
VERSIONS = (10, 20, 50, 100, 200, 500)


@dataclass(frozen=True)
class Wanted:
    """What the calculator is asked: shares from 0 to 1, and minutes of active time an attempt takes."""

    share: float
    half_width: float
    per_person: int
    solvers: int
    icc: float
    icc_versions: float
    minutes: float


@dataclass(frozen=True)
class Needed:
    """How much work the wanted interval takes."""

    independent: int
    effect: float
    attempts: int
    people: int
    versions: int
    hours: float


@dataclass(frozen=True)
class Row:
    """A line of the table: so many versions, and the half-width with each number of people; None where undefined."""

    versions: int
    attempts: int
    half_widths: tuple[float | None, ...]


@dataclass(frozen=True)
class Actual:
    """What a study has shown so far: of the attempts that count, and when it will be done."""

    study: Study
    solved: int
    counted: int
    people: int
    icc: Estimate
    icc_versions: Estimate
    minutes: float | None
    forecast: Forecast | None


def needed(wanted: Wanted) -> Needed:
    """Return what the wanted half-width needs, each person making `per_person` attempts, each version getting k."""
    effect = design_effect(
        wanted.per_person, wanted.icc, per_version=wanted.solvers, icc_versions=wanted.icc_versions
    )
    attempts = clustered_attempts_for(
        wanted.share,
        wanted.half_width,
        per_annotator=wanted.per_person,
        icc=wanted.icc,
        per_version=wanted.solvers,
        icc_versions=wanted.icc_versions,
    )
    people = max(ceil(attempts / wanted.per_person), wanted.solvers)
    return Needed(
        attempts_for(wanted.share, wanted.half_width),
        effect,
        attempts,
        people,
        ceil(attempts / wanted.solvers),
        attempts * wanted.minutes / 60,
    )


def table(wanted: Wanted) -> list[Row]:
    """Return the half-widths over a range of people and versions, with k solvers each."""
    return [
        Row(
            versions,
            versions * wanted.solvers,
            tuple(
                clustered_half_width(
                    wanted.share,
                    versions=versions,
                    per_version=wanted.solvers,
                    annotators=people,
                    icc=wanted.icc,
                    icc_versions=wanted.icc_versions,
                )
                if people >= wanted.solvers
                else None
                for people in PEOPLE
            ),
        )
        for versions in VERSIONS
    ]


def actual(study: Study, *, now: datetime) -> Actual:
    """Return what the study has shown so far, and its forecast while it is open or paused."""
    rows = leave_out_unfinished(rows_of(Attempt.objects.filter(slot__study=study))).rows
    seconds = [row.active_seconds for row in rows if row.active_seconds is not None]
    return Actual(
        study=study,
        solved=sum(row.solved for row in rows),
        counted=len(rows),
        people=len({row.annotator for row in rows}),
        icc=icc_of((row.annotator, row.solved) for row in rows),
        icc_versions=icc_of((row.version_id, row.solved) for row in rows),
        minutes=sum(seconds) / len(seconds) / 60 if seconds else None,
        forecast=_forecast(study, now) if study.state in (Study.State.OPEN, Study.State.PAUSED) else None,
    )


def _forecast(study: Study, now: datetime) -> Forecast:
    closed_at = Attempt.objects.filter(slot__study=study, state=Attempt.State.CLOSED).values_list(
        "verdict__created_at", flat=True
    )
    remaining = study.slots.exclude(state=Slot.State.CLOSED).count()
    return forecast(
        (moment for moment in closed_at if moment),
        remaining=remaining,
        opened_at=study.opened_at or study.created_at,
        now=now,
    )
