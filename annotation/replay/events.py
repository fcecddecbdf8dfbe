"""EXPORT: everything that is recorded of attempts, one row an event, in the order of time; in flat memory.

Drafts and runs are read a few at a time: an attempt may hold thousands of them, and a study thousands of attempts.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from heapq import merge
from itertools import islice
from typing import Any, Generic, NamedTuple, Protocol, TypeVar

from django.db.models import QuerySet

from annotation.answers import as_said
from annotation.drafts import first_answer
from annotation.models import Attempt, Draft, Paste, Reveal, Run, Verdict, VerdictStep
from annotation.results import Logs, attempt_logs

BATCH, CHUNK = 50, 50
Row = dict[str, Any]


class Event(NamedTuple):
    """What happened at a moment, named, and everything that is recorded of it."""

    at: datetime
    event: str
    detail: Row


class OfAttempt(Protocol):
    """A row that belongs to an attempt."""

    attempt_id: int


R = TypeVar("R", bound=OfAttempt)


class Feed(Generic[R]):
    """Rows sorted by attempt, handed out an attempt at a time while they are read."""

    def __init__(self, rows: Iterable[R]) -> None:
        self.rows = iter(rows)
        self.waiting = next(self.rows, None)

    def of(self, attempt: int) -> Iterator[R]:
        """Yield the rows of an attempt, which must be asked for in ascending order, and each to its end."""
        while self.waiting is not None and self.waiting.attempt_id == attempt:
            row, self.waiting = self.waiting, next(self.rows, None)
            yield row


def event_rows(attempts: QuerySet[Attempt], people: Mapping[int, str]) -> Iterator[list[Row]]:
    """Yield the events of the attempts, a list of at most `CHUNK` rows at a time; `people` name their annotators."""
    last = 0
    while ids := list(attempts.filter(pk__gt=last).order_by("pk").values_list("pk", flat=True)[:BATCH]):
        rows = _rows(ids, people)
        while chunk := list(islice(rows, CHUNK)):
            yield chunk
        last = ids[-1]


def _rows(ids: list[int], people: Mapping[int, str]) -> Iterator[Row]:
    """Yield the rows of a batch, in a number of queries that grows with chunks of drafts and runs only."""
    attempts = Attempt.objects.filter(pk__in=ids).order_by("pk")
    logs, closing, reveals, pastes = attempt_logs(attempts), _closing(ids), _reveals(ids), _pastes(ids)
    drafts = Feed(Draft.objects.filter(attempt__in=ids).order_by("attempt_id", "revision").iterator(CHUNK))
    runs = Feed(
        Run.objects.filter(attempt__in=ids)
        .order_by("attempt_id", "number")
        .select_related("execution", "ruling")
        .defer("execution__job_data", "lines")
        .prefetch_related("execution__rows")
        .iterator(CHUNK)
    )
    for attempt in attempts.select_related("slot__version", "protocol", "verdict"):
        beside = sorted(
            [
                *_frame(attempt),
                *_intervals(attempt, logs),
                *(closing.get(attempt.pk) or _verdict(attempt)),
                *reveals.get(attempt.pk, ()),
                *pastes.get(attempt.pk, ()),
            ],
            key=_moment,
        )
        coded = merge(map(_draft, drafts.of(attempt.pk)), map(_run, runs.of(attempt.pk)), key=_moment)
        for event in merge(beside, coded, key=_moment):
            yield {
                "attempt": attempt.pk,
                "person": people.get(attempt.annotator_id, ""),
                "at": event.at,
                "seconds": max(0.0, (event.at - attempt.started_at).total_seconds()),
                "event": event.event,
                "detail": event.detail,
            }


def _moment(event: Event) -> datetime:
    return event.at


def _frame(attempt: Attempt) -> Iterator[Event]:
    yield Event(
        attempt.started_at,
        "started",
        {
            "arm": attempt.arm,
            "protocol": attempt.protocol.number,
            "function": first_answer(attempt),
        },
    )
    if attempt.ended_at:
        yield Event(
            attempt.ended_at, "ended", {"state": attempt.state, "gave_up_reason": attempt.gave_up_reason}
        )


def _intervals(attempt: Attempt, logs: Logs) -> Iterator[Event]:
    limit = attempt.protocol.idle_limit_seconds
    for each in logs.intervals(attempt.pk, attempt.started_at, attempt.ended_at, idle_limit=limit):
        detail = {"kind": str(each.kind), "until": each.end.isoformat(), "seconds": round(each.seconds, 3)}
        yield Event(each.start, "interval", detail)


def _draft(draft: Draft) -> Event:
    detail = {"revision": draft.revision, "function": draft.function, "module": draft.module}
    return Event(draft.saved_at, "draft", detail)


def _run(run: Run) -> Event:
    execution = run.execution
    detail = {
        "number": run.number,
        "sha256": run.sha256,
        "function": run.function,
        "module": run.module,
        "snippet": run.snippet,
        "state": execution.state,
        "outcome": execution.outcome,
        "flagged": execution.tampered,
        "ruling": "" if run.decided is None else "stands" if run.decided.stands else "refused",
        "cpu_seconds": execution.cpu_seconds,
        "wall_seconds": execution.wall_seconds,
        "memory_bytes": execution.memory_bytes,
        "stdout": execution.stdout,
        "stderr": execution.stderr,
        "load_error": execution.load_error,
        "rows": [
            {
                "test": row.test,
                "assertion": row.assertion,
                "line": row.line,
                "outcome": row.outcome,
                "message": row.message,
                "values": row.values,
            }
            for row in execution.rows.all()
        ],
    }
    return Event(run.created_at, {Run.Kind.VISIBLE: "run"}.get(Run.Kind(run.kind), run.kind), detail)


def _closing(ids: list[int]) -> Mapping[int, list[Event]]:
    """Return the steps of the closing form by attempt, in one query; who re-opened one is not named."""
    found: dict[int, list[Event]] = defaultdict(list)
    names = {
        VerdictStep.Kind.SAVED: "answered",
        VerdictStep.Kind.CLOSED: "closed",
        VerdictStep.Kind.REOPENED: "reopened",
    }
    for step in VerdictStep.objects.filter(attempt__in=ids).order_by("attempt_id", "number"):
        detail = {"reason": step.reason} if step.reason else dict(step.changed)
        found[step.attempt_id].append(Event(step.at, names[VerdictStep.Kind(step.kind)], detail))
    return found


def _verdict(attempt: Attempt) -> Iterator[Event]:
    """Yield the verdict of an attempt that was closed before its steps were kept."""
    verdict: Verdict | None = getattr(attempt, "verdict", None)
    if verdict:
        columns = {field.name: getattr(verdict, field.name) for field in Verdict._meta.fields}
        yield Event(verdict.created_at, "closed", dict(as_said(columns)))


def _reveals(ids: list[int]) -> Mapping[int, list[Event]]:
    """Return the reveal and the second judgement by attempt, in one query."""
    found: dict[int, list[Event]] = {}
    for each in Reveal.objects.filter(attempt__in=ids).select_related("judgement"):
        events = found[each.attempt_id] = [Event(each.at, "revealed", {})]
        if second := getattr(each, "judgement", None):
            names = ("reference", "tests", "instruction_quality", "test_quality", "text")
            detail = {name: getattr(second, name) for name in names}
            events.append(Event(second.created_at, "second_judgement", detail))
    return found


def _pastes(ids: list[int]) -> Mapping[int, list[Event]]:
    """Return the pastes by attempt, in one query: how much from where, which is all that is recorded."""
    found: dict[int, list[Event]] = defaultdict(list)
    for each in Paste.objects.filter(attempt__in=ids).order_by("attempt_id", "at", "pk"):
        names = ("editor", "origin", "characters", "lines")
        found[each.attempt_id].append(Event(each.at, "paste", {name: getattr(each, name) for name in names}))
    return found
