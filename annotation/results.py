"""STUDY: rows from the database, in a fixed number of queries, for the pure functions of `annotation.study`."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import NamedTuple, TypeVar

from django.db.models import QuerySet, prefetch_related_objects

from annotation import clock
from annotation.broken import left_the_study
from annotation.leaving_out import Declared, declared_for
from annotation.models import (
    COUNTED,
    Arm,
    Attempt,
    Beat,
    Pause,
    Run,
    Slot,
    Study,
    solvers_in_force,
)
from annotation.study.agreement import Agreement, difficulty_agreement
from annotation.study.exclusions import CATALOGUE, Facts
from annotation.study.intervals import Rate, clustered_rate
from annotation.study.rates import StudyRates, study_rates
from annotation.study.rows import AttemptRow, leave_out_unfinished
from annotation.study.sensitivity import UnderLimit, under_limits
from annotation.study.tables import AnnotatorLine, ExampleLine, by_annotator, by_example
from annotation.study.times import TimeToSolve, time_to_solve
from annotation.withdrawing import Withdrawn, asked_to_be_left_out, withdrawn_of
from examples.models import Version
from runner.models import Execution

KNEW_IT = CATALOGUE["knew_it"].reason
WROTE_IT = "wrote the version"
GIVEN_BACK = "slot given back"
DECLINED = "declined"
DEFERRED = "deferred"
REPORTED = "reported broken"
LEFT_AS_BROKEN = "version left the study as broken"
WITHDREW = "withdrew and asked to be left out"
AWAITS_CURATOR = "could not be confirmed, awaits a curator"


# An attempt that was set aside or given back says nothing of whether the example can be solved.
LEFT: dict[str, str] = {
    Attempt.State.RELEASED: GIVEN_BACK,
    Attempt.State.DECLINED: DECLINED,
    Attempt.State.DEFERRED: DEFERRED,
    Attempt.State.REPORTED: REPORTED,
}


K = TypeVar("K")


@dataclass(frozen=True, slots=True)
class Results:
    """Everything the page and the API say of a study.

    `by_level` is the share solved among the attempts rated by each level, `nothing_left_out` the headline rate without
    exclusions. `by_arm` and `by_protocol` are the shares solved of what counts in each that has any, `under_limits` the
    figures of time under other idle limits, `rated_otherwise` how many gave a difficulty that today's scale lacks.
    """

    rows: tuple[AttemptRow, ...]
    rates: StudyRates
    times: TimeToSolve
    agreement: Agreement
    examples: tuple[ExampleLine, ...]
    annotators: tuple[AnnotatorLine, ...]
    by_level: tuple[tuple[str, Rate], ...]
    nothing_left_out: Rate
    withdrawn: Withdrawn
    by_arm: tuple[tuple[str, Rate], ...]
    by_protocol: tuple[tuple[int, Rate], ...]
    under_limits: tuple[UnderLimit, ...]
    rated_otherwise: int

    @property
    def closed(self) -> int:
        """How many attempts the headline rate counts."""
        return self.rates.solved.rate.total


def study_results(study: Study, *, as_of: datetime | None = None) -> Results:
    """Return every figure of the study as it stands, in seven queries; `as_of` passes over later withdrawals.

    Where attempts began under several protocols, the figures within m submissions and the limit on active time are those
    of the most generous of them, and a difficulty counts where today's scale has it.
    """
    prefetch_related_objects([study], "protocols")
    every = rows_of(Attempt.objects.filter(slot__study=study), as_of=as_of, idle_limits=clock.IDLE_LIMITS)
    levels = list(study.protocol.difficulty_levels)
    rows = tuple(row if row.difficulty in (None, *levels) else replace(row, difficulty=None) for row in every)
    used = {row.protocol for row in rows} | {study.protocol.number}
    protocols = [each for each in study.protocols.all() if each.number in used]
    limit = max(each.active_limit_seconds for each in protocols)
    return Results(
        rows=rows,
        rates=study_rates(rows, submissions=max(each.submissions for each in protocols), levels=levels),
        times=time_to_solve(rows, limit=limit),
        agreement=difficulty_agreement(rows, levels=levels),
        examples=by_example(rows, levels=levels),
        annotators=by_annotator(rows, levels=levels),
        by_level=tuple((level, _solved_at(rows, level)) for level in levels),
        nothing_left_out=clustered_rate(
            (row.annotator, row.solved)
            for row in rows
            if row.closed and row.excluded_reason != WITHDREW  # a wish, not a rule of the protocol
        ),
        withdrawn=withdrawn_of(study, as_of=as_of),
        by_arm=_solved_by(rows, lambda row: row.arm, [arm.value for arm in Arm]),
        by_protocol=_solved_by(rows, lambda row: row.protocol, sorted(used)),
        under_limits=under_limits(rows, idle_limits=clock.IDLE_LIMITS, limit=limit),
        rated_otherwise=sum(a.difficulty != b.difficulty for a, b in zip(rows, every, strict=True)),
    )


def _solved_by(
    rows: Iterable[AttemptRow], key: Callable[[AttemptRow], K], order: Sequence[K]
) -> tuple[tuple[K, Rate], ...]:
    """Return the share solved of the rows of each key that has any, in order."""
    counted = leave_out_unfinished(rows).rows
    return tuple(
        (value, clustered_rate((row.annotator, row.solved) for row in counted if key(row) == value))
        for value in order
        if any(key(row) == value for row in counted)
    )


def _solved_at(rows: Iterable[AttemptRow], level: str) -> Rate:
    counted = leave_out_unfinished(rows).rows
    return clustered_rate((row.annotator, row.solved) for row in counted if row.difficulty == level)


def rows_of_versions(versions: QuerySet[Version]) -> list[AttemptRow]:
    """Return a row for every attempt at the versions, in whatever study; unrated, since scales differ."""
    return rows_of(Attempt.objects.filter(slot__version__in=versions.order_by().values("pk")), rated=False)


def rows_of(
    attempts: QuerySet[Attempt],
    *,
    rated: bool = True,
    as_of: datetime | None = None,
    idle_limits: Sequence[int] = (),
) -> list[AttemptRow]:
    """Return the plain row of each attempt, in order, in five queries; warm-up and gold examples have none.

    Each has its counted time under the `idle_limits`, too. What a person asked to be left out stays in where they asked after `as_of`: so earlier figures can be had again.
    """
    attempts = attempts.filter(slot__kind__in=COUNTED)
    logs, declared = attempt_logs(attempts), declared_for(attempts)
    facts = attempts.annotate(
        wanted_solvers=solvers_in_force("slot__study"),
        left_as_broken=left_the_study(study="slot__study", version="slot__version"),
        withdrew=asked_to_be_left_out(study="slot__study", person="annotator", as_of=as_of),
    ).order_by("pk")
    return [
        _row(Fact(*values), logs, declared, rated=rated, idle_limits=idle_limits)
        for values in facts.values_list(*COLUMNS)
    ]


class Fact(NamedTuple):
    """The columns a row is made of; the time comes from the logs."""

    pk: int
    version: int
    example: int
    version_number: int
    author: int | None
    slot_number: int
    solvers: int
    idle_limit: int
    annotator: int
    pseudonym: str
    state: str
    started_at: datetime
    ended_at: datetime | None
    outcome: str | None
    difficulty: str | None
    kind: str
    left_as_broken: bool
    withdrew: bool
    study: int
    protocol: int
    protocol_number: int
    arm: str
    aids: str | None
    prior_exposure: str | None


COLUMNS = (
    "pk",
    "slot__version_id",
    "slot__version__example_id",
    "slot__version__number",
    "slot__version__author_id",
    "slot__number",
    "wanted_solvers",
    "protocol__idle_limit_seconds",
    "annotator_id",
    "annotator__pseudonym",
    "state",
    "started_at",
    "ended_at",
    "verdict__outcome",
    "verdict__difficulty",
    "slot__kind",
    "left_as_broken",
    "withdrew",
    "slot__study_id",
    "protocol_id",
    "protocol__number",
    "arm",
    "verdict__aids",
    "verdict__prior_exposure",
)


@dataclass(frozen=True, slots=True)
class Submitted:
    """A submission: when it was made, its state, whether it PASSED and counts, or awaits a curator for that."""

    at: datetime
    state: str
    passed: bool
    awaits_curator: bool = False


@dataclass(frozen=True, slots=True)
class Logs:
    """Beats, pauses, executions and submissions, by attempt."""

    beats: dict[int, list[clock.Beat]]
    pauses: dict[int, list[clock.Pause]]
    waits: dict[int, list[clock.Wait]]
    submissions: dict[int, list[Submitted]]

    def intervals(
        self, attempt: int, started_at: datetime, ended_at: datetime | None, *, idle_limit: int
    ) -> tuple[clock.Interval, ...]:
        """Return what the clock makes of one attempt; an end before the start, by another machine's clock, is the start."""
        log = clock.AttemptLog(
            started_at=started_at,
            ended_at=max(started_at, ended_at) if ended_at else None,
            beats=self.beats.get(attempt, ()),
            pauses=self.pauses.get(attempt, ()),
            waits=self.waits.get(attempt, ()),
        )
        return clock.derive_intervals(log, idle_limit=idle_limit)


def attempt_logs(attempts: QuerySet[Attempt]) -> Logs:
    """Return what the clock may look at for all the attempts, in three queries, whatever their number."""
    ids = attempts.order_by().values("pk")
    logs = Logs(defaultdict(list), defaultdict(list), defaultdict(list), defaultdict(list))
    beats = Beat.objects.filter(attempt__in=ids).order_by("attempt_id", "at", "pk")
    for attempt, at, tab, visible, ms in beats.values_list(
        "attempt_id", "at", "tab", "visible", "ms_since_input"
    ):
        logs.beats[attempt].append(clock.Beat(at, tab, visible, ms))
    pauses = Pause.objects.filter(attempt__in=ids).order_by("attempt_id", "started_at")
    for attempt, start, end in pauses.values_list("attempt_id", "started_at", "ended_at"):
        logs.pauses[attempt].append(clock.Pause(start, end))
    _add_runs(logs, Run.objects.filter(attempt__in=ids))
    return logs


def _add_runs(logs: Logs, runs: QuerySet[Run]) -> None:
    """Add each run's wait for the runner, and the submissions among them."""
    rows = runs.order_by("attempt_id", "number").values_list(
        "attempt_id",
        "kind",
        "created_at",
        "execution__state",
        "execution__outcome",
        "execution__tampered",
        "ruling__stands",
        "execution__created_at",
        "execution__finished_at",
    )
    for attempt, kind, at, state, outcome, tampered, stands, queued, finished in rows:
        over = state not in (Execution.State.QUEUED, Execution.State.RUNNING)
        logs.waits[attempt].append(clock.Wait(queued, (finished or queued) if over else None))
        if kind == Run.Kind.SUBMISSION:
            passed = outcome == "PASSED" and (not tampered or stands is True)
            awaits = outcome == "PASSED" and tampered and stands is None
            logs.submissions[attempt].append(Submitted(at, state, passed, awaits))


def _row(
    fact: Fact, logs: Logs, declared: Declared, *, rated: bool, idle_limits: Sequence[int]
) -> AttemptRow:
    submissions = logs.submissions.get(fact.pk, [])
    judged = [each for each in submissions if each.state == Execution.State.FINISHED]
    first = next((number for number, each in enumerate(judged, 1) if each.passed), None)
    seconds = _counted_seconds(fact, logs, {fact.idle_limit, *idle_limits})
    awaits = first is None and any(each.awaits_curator for each in judged)
    return AttemptRow(
        version_id=fact.version,
        example=f"EX-{fact.example:04d} v{fact.version_number}",
        annotator=fact.annotator,
        pseudonym=fact.pseudonym,
        outcome=fact.outcome,
        closed=fact.state == Attempt.State.CLOSED,
        solved=first is not None,
        solved_at_submission=first,
        difficulty=fact.difficulty if rated else None,
        active_seconds=seconds.get(fact.idle_limit),
        interrupted=bool(submissions) and submissions[-1].state == Execution.State.UNJUDGED,
        excluded_reason=_why_excluded(fact, declared, seconds=seconds.get(fact.idle_limit), awaits=awaits),
        extra=fact.kind == Slot.Kind.EXTRA or fact.slot_number > fact.solvers,
        arm=fact.arm,
        protocol=fact.protocol_number,
        counted_under={limit: seconds[limit] for limit in idle_limits if limit in seconds},
    )


def _counted_seconds(fact: Fact, logs: Logs, idle_limits: Iterable[int]) -> dict[int, float]:
    """Return the active plus reading seconds under each idle limit; none where no page told of any."""
    if not logs.beats.get(fact.pk):
        return {}
    return {
        limit: clock.active_seconds(logs.intervals(fact.pk, fact.started_at, fact.ended_at, idle_limit=limit))
        for limit in idle_limits
    }


def _why_excluded(fact: Fact, declared: Declared, *, seconds: float | None, awaits: bool) -> str:
    """Return the reason to leave the attempt out of every figure, "" for none.

    First what no protocol can choose, since it is no measure of the example; then the rules of its own protocol.
    """
    if fact.withdrew:
        return WITHDREW
    if fact.left_as_broken:
        return LEFT_AS_BROKEN
    if fact.state in LEFT:
        return LEFT[fact.state]
    if fact.author == fact.annotator:
        return WROTE_IT
    facts = Facts(
        outcome=fact.outcome,
        prior_exposure=fact.prior_exposure or "",
        arm=fact.arm,
        aids=fact.aids or "",
        counted_seconds=seconds,
    )
    reason = declared.reason(facts, protocol=fact.protocol, study=fact.study, person=fact.annotator)
    return reason or (AWAITS_CURATOR if awaits else "")
