"""EXPORT: the rows of a study as CSV and JSON Lines, with a codebook; pseudonyms of the study, flat memory."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from itertools import chain
from typing import Any

from annotation import clock
from annotation.codebook import TABLES, Column
from annotation.models import Attempt, Reveal, Run, Study, StudyPerson, Verdict, VerdictStep, Withdrawal
from annotation.replay.events import event_rows
from annotation.results import Logs, attempt_logs, rows_of
from config.cells import csv_line

BATCH = 100
BANDS = ("programming_years", "language_years", "familiarity", "prior_exposure")
Row = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Source:
    """A study's attempts in one batch, and the names of its people."""

    study: Study
    people: Mapping[int, str]
    ids: tuple[int, ...]
    as_of: datetime | None = None


def pseudonyms(study: Study) -> dict[int, str]:
    """Return the name of each person in this study: P01, P02, … in the order they joined, which never changes.

    Another study gives the same person another name, so exports of two studies cannot be joined by person.
    """
    people = StudyPerson.objects.filter(study=study).order_by("pk").values_list("person_id", flat=True)
    return {person: f"P{number:02d}" for number, person in enumerate(people, 1)}


def export(study: Study, table: str, style: str, *, as_of: datetime | None = None) -> Iterator[bytes]:
    """Yield a table of the study, "csv" or "jsonl", a batch of attempts at a time. Raises KeyError for an unknown table.

    Warm-up and gold examples are in none. `as_of` passes over later withdrawals, so that an earlier export comes again.
    """
    columns = TABLES[table].columns
    if table == "people":
        rows = iter([people_rows(study, as_of=as_of)])
    else:
        rows = _events(study) if table == "events" else _rows(study, ROWS[table], as_of)
    return _csv(columns, rows) if style == "csv" else _jsonl(columns, rows)


def attempt_events(attempt: Attempt) -> Iterator[bytes]:
    """Yield what is recorded of one attempt as JSON Lines, as in the study's table of events."""
    own, people = Attempt.objects.filter(pk=attempt.pk), pseudonyms(attempt.slot.study)
    return _jsonl(TABLES["events"].columns, event_rows(own, people))


def _events(study: Study) -> Iterator[list[Row]]:
    return event_rows(Attempt.objects.filter(slot__study=study).counted(), pseudonyms(study))


def _csv(columns: tuple[Column, ...], batches: Iterator[list[Row]]) -> Iterator[bytes]:
    heads = [{column.name: column.name for column in columns}]
    for rows in chain([heads], batches):
        lines = (csv_line(_cell(row[column.name]) for column in columns) for row in rows)
        yield "".join(lines).encode()


def _jsonl(columns: tuple[Column, ...], batches: Iterator[list[Row]]) -> Iterator[bytes]:
    for rows in batches:
        values = ({column.name: _plain(row[column.name]) for column in columns} for row in rows)
        yield "".join(json.dumps(value, ensure_ascii=False) + "\n" for value in values).encode()


def _cell(value: Any) -> Any:
    """Return the value for a cell: an object as JSON, the rest as everywhere."""
    return json.dumps(value, ensure_ascii=False) if isinstance(value, dict) else _plain(value)


def _plain(value: Any) -> Any:
    """Return moments as ISO 8601 in UTC, seconds to the millisecond, the rest as it is."""
    if isinstance(value, datetime):
        return value.isoformat()
    return round(value, 3) if isinstance(value, float) else value


def _rows(
    study: Study, rows_of_batch: Callable[[Source], list[Row]], as_of: datetime | None
) -> Iterator[list[Row]]:
    people, last = pseudonyms(study), 0
    attempts = Attempt.objects.filter(slot__study=study).counted().order_by("pk")
    while ids := tuple(attempts.filter(pk__gt=last).values_list("pk", flat=True)[:BATCH]):
        yield rows_of_batch(Source(study, people, ids, as_of))
        last = ids[-1]


def people_rows(study: Study, *, as_of: datetime | None = None) -> list[Row]:
    """Return a row for each person who took part, in the order they joined: experience in bands, and whether they left."""
    members = StudyPerson.objects.filter(study=study).select_related("background").order_by("pk")
    left: dict[int, bool] = {}
    for pk, at, leave_out in Withdrawal.objects.filter(member__study=study).values_list(
        "member", "at", "leave_out"
    ):
        if as_of is None or at <= as_of:
            left[pk] = left.get(pk, False) or leave_out
    names = pseudonyms(study)
    rows = []
    for member in members:
        said = getattr(member, "background", None)
        bands = {name: getattr(said, name) if said else None for name in BANDS}
        withdrew, left_out = member.pk in left, left.get(member.pk, False)
        rows.append({"person": names[member.person_id], **bands, "withdrew": withdrew, "left_out": left_out})
    return rows


def attempt_rows(source: Source) -> list[Row]:
    """Return a row for each attempt: outcome, times by kind, why it is left out of figures."""
    attempts = Attempt.objects.filter(pk__in=source.ids).order_by("pk")
    logs = attempt_logs(attempts)
    counted = rows_of(attempts, as_of=source.as_of)
    found = attempts.select_related("slot__version__example", "protocol")
    return [
        {
            "attempt": attempt.pk,
            "person": source.people.get(attempt.annotator_id, ""),
            "example": row.example,
            "content_hash": attempt.slot.version.content_hash,
            "slot": attempt.slot.number,
            "protocol": attempt.protocol.number,
            "arm": attempt.arm,
            "state": attempt.state,
            "started_at": attempt.started_at,
            "ended_at": attempt.ended_at,
            "solved": row.solved,
            "solved_at_submission": row.solved_at_submission,
            "submissions": len(logs.submissions.get(attempt.pk, ())),
            "outcome": row.outcome,
            "difficulty": row.difficulty,
            "gave_up_reason": attempt.gave_up_reason,
            "extra": row.extra,
            "left_out": row.excluded_reason,
            "interrupted": row.interrupted,
            **_times(attempt, logs),
        }
        for attempt, row in zip(found, counted, strict=True)
    ]


def _times(attempt: Attempt, logs: Logs) -> Row:
    """Return the seconds of each kind under its protocol's idle limit, and the active ones under 60, 120 and 300 s."""
    limits = {
        limit: logs.intervals(attempt.pk, attempt.started_at, attempt.ended_at, idle_limit=limit)
        for limit in {attempt.protocol.idle_limit_seconds, *clock.IDLE_LIMITS}
    }
    kinds = clock.totals(limits[attempt.protocol.idle_limit_seconds])
    counted = {f"counted_seconds_{limit}": clock.active_seconds(limits[limit]) for limit in clock.IDLE_LIMITS}
    return {**{f"{kind}_seconds": seconds for kind, seconds in kinds.items()}, **counted}


def run_rows(source: Source) -> list[Row]:
    """Return a row for each run and submission, with its code and what came of it."""
    runs = Run.objects.filter(attempt__in=source.ids).order_by("attempt_id", "number")
    return [
        {
            "attempt": run.attempt_id,
            "person": source.people.get(run.attempt.annotator_id, ""),
            "number": run.number,
            "kind": run.kind,
            "created_at": run.created_at,
            "function": run.function,
            "module": run.module,
            "snippet": run.snippet,
            "sha256": run.sha256,
            "state": run.execution.state,
            "outcome": run.execution.outcome,
            "flagged": run.execution.tampered,
            "ruling": "" if run.decided is None else "stands" if run.decided.stands else "refused",
            "cpu_seconds": run.execution.cpu_seconds,
            "wall_seconds": run.execution.wall_seconds,
            "memory_bytes": run.execution.memory_bytes,
            "image": run.execution.facts.get("image", ""),
        }
        for run in runs.select_related("attempt", "execution", "ruling").defer("execution__job_data")
    ]


def interval_rows(source: Source) -> list[Row]:
    """Return a row for each interval that the clock derives, under its protocol's idle limit."""
    attempts = Attempt.objects.filter(pk__in=source.ids).order_by("pk")
    logs = attempt_logs(attempts)
    return [
        {
            "attempt": attempt.pk,
            "person": source.people.get(attempt.annotator_id, ""),
            "kind": str(interval.kind),
            "start": interval.start,
            "end": interval.end,
            "seconds": interval.seconds,
        }
        for attempt in attempts.select_related("protocol")
        for interval in logs.intervals(
            attempt.pk,
            attempt.started_at,
            attempt.ended_at,
            idle_limit=attempt.protocol.idle_limit_seconds,
        )
    ]


VERDICT = [column.name for column in TABLES["verdicts"].columns if column.name not in ("attempt", "person")]
SECOND = ("reference", "tests", "instruction_quality", "test_quality", "text", "created_at")


def verdict_rows(source: Source) -> list[Row]:
    """Return a row for each verdict."""
    verdicts = Verdict.objects.filter(attempt__in=source.ids).select_related("attempt").order_by("attempt_id")
    return [
        {
            "attempt": verdict.attempt_id,
            "person": source.people.get(verdict.attempt.annotator_id, ""),
            **{name: getattr(verdict, name) for name in VERDICT},
        }
        for verdict in verdicts
    ]


def answer_rows(source: Source) -> list[Row]:
    """Return a row for each change of a closing form, in the order in which they came."""
    steps = VerdictStep.objects.filter(attempt__in=source.ids).select_related("attempt")
    return [
        {
            "attempt": step.attempt_id,
            "person": source.people.get(step.attempt.annotator_id, ""),
            **{name: getattr(step, name) for name in ("number", "kind", "at", "changed", "reason")},
        }
        for step in steps.order_by("attempt_id", "number")
    ]


def second_rows(source: Source) -> list[Row]:
    """Return a row for each reveal, with the second judgement where one was given."""
    reveals = Reveal.objects.filter(attempt__in=source.ids).select_related("attempt", "judgement")
    return [
        {
            "attempt": each.attempt_id,
            "person": source.people.get(each.attempt.annotator_id, ""),
            "revealed_at": each.at,
            **{name: getattr(getattr(each, "judgement", None), name, "") for name in SECOND},
        }
        for each in reveals.order_by("attempt_id")
    ]


ROWS: dict[str, Callable[[Source], list[Row]]] = {
    "attempts": attempt_rows,
    "runs": run_rows,
    "intervals": interval_rows,
    "verdicts": verdict_rows,
    "answers": answer_rows,
    "second_judgements": second_rows,
}
