"""BULK: the samples of an evaluation run, claimed in batches, run in forks of one process, judged and saved in batches.

What comes out is what an execution of its own would give: same job, same measurement, same judge, same rows. Only the
way is shorter: a batch is one message, one claim, and a few transactions. A sample that needs what a mode has not goes
to the next one down; one that leaves a doubt (its container ended without a word, or only wall time decided) is run
in a box of its own, whose word counts.
"""

from __future__ import annotations

import logging
import time
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import partial
from typing import Any

from django.conf import settings
from django.db import connection, transaction
from django.db.models import QuerySet
from django.db.models.functions import Now
from django.utils import timezone

from runner import boxes, claims, modes, obstacles
from runner.claims import Claim, ClaimLost
from runner.confirming import Confirmation, to_confirm, to_run_inside, with_canary
from runner.events import announce
from runner.execution import conditions, execute_claimed, measures, put_back, put_back_untried, waited
from runner.models import Environment, Execution, TestRow
from runner.outcome import Judgement, Measurement, Outcome, Row, judge
from runner.recording import stored
from runner.sandbox.base import Canary, Job, NotBegun, SandboxUnavailable
from runner.sandbox.containers import MODE as SINGLE
from runner.sandbox.lines import Owner
from runner.sandbox.reach import fits
from runner.sandbox.zygote import Kind, Line, runs_in_forks
from runner.waking import wake_batch

logger = logging.getLogger(__name__)

BATCH = 100
# Few enough that no write transaction holds SQLite's lock for over 10 ms.
SAVE_AT = 20
SAVE_SECONDS = 0.5
# Of all that is due, so many batches are named at once by the reconciler.
BATCHES_AT_MOST = 20


def enqueue_many(
    jobs: Sequence[Job], *, environment: Environment, scope: str, listener: str = ""
) -> list[Execution]:
    """Save an execution for each sample of an evaluation run and return them; workers are woken by batches on commit.

    `scope` names the run: its samples share containers, one after the other, with each other and with nobody else's.
    """
    made = [
        Execution(
            environment=environment,
            queue=Execution.Queue.BULK,
            job_data=job.as_json(),
            scope=scope,
            listener=listener,
        )
        for job in jobs
    ]
    for start in range(0, len(made), BATCH):
        batch = made[start : start + BATCH]
        with transaction.atomic():
            Execution.objects.bulk_create(batch)
            transaction.on_commit(partial(wake_batch, [execution.pk for execution in batch]))
    return made


def batches(due: QuerySet[Execution]) -> list[list[int]]:
    """Return the ids of samples that are due, a list for each batch; a batch has one scope and one environment."""
    groups = defaultdict[tuple[str, int], list[int]](list)
    for pk, scope, environment in due.values_list("pk", "scope", "environment_id")[: BATCH * BATCHES_AT_MOST]:
        groups[scope, environment].append(pk)
    return [ids[start : start + BATCH] for ids in groups.values() for start in range(0, len(ids), BATCH)]


def execute_batch(execution_ids: Sequence[int]) -> int:
    """Execute those samples that are due and return how many were this call's to execute.

    Safe to call twice, as `execution.execute` is. Whatever goes wrong on our side puts back what has no outcome yet;
    the reconciler wakes it again by batches.
    """
    taken = [] if boxes.closing() or obstacles.trouble() else claims.take_many(execution_ids)
    groups = defaultdict[tuple[str, Kind], list[Execution]](list)
    for execution in taken:
        kind = Kind.of(execution.job, execution.environment.image_digest)
        groups[execution.scope, kind].append(execution)
    with claims.kept(taken[0].claim if taken else ""):
        for (scope, kind), executions in groups.items():
            Batch(scope, kind, executions).execute()
    return len(taken)


@dataclass(frozen=True)
class Finished:
    """A sample that ran to its end, what that means, and the moments of `time.monotonic()` it began and ended."""

    execution: Execution
    measurement: Measurement
    judgement: Judgement
    began: float
    ended: float
    confirmation: Confirmation | None = None

    def rows(self) -> list[Row]:
        """Return what to keep: the rows in the order they came, every expected test with its judged outcome."""
        judged = {row.test: row for row in self.judgement.tests}
        kept, said = [], set[str]()
        for row in self.measurement.rows:
            if row.assertion is None and row.test in judged:
                said.add(row.test)
                verdict = judged[row.test]
                if verdict.outcome != row.outcome:
                    row = replace(row, outcome=verdict.outcome, message=verdict.message)
            kept.append(row)
        return kept + [row for test, row in judged.items() if test not in said]

    def columns(self, clock: datetime) -> dict[str, Any]:
        """Return what the execution becomes; `clock` is the database's at this moment."""
        now = time.monotonic()
        return {
            "state": Execution.State.FINISHED,
            "outcome": self.judgement.outcome,
            "claim": "",
            "lease_end": None,
            "started_at": clock - timedelta(seconds=now - self.began),
            "finished_at": clock - timedelta(seconds=now - self.ended),
            "tampered": self.confirmation is not None and self.confirmation.tampered,
            "facts": conditions(
                self.execution, self.measurement, repeated=False, confirmation=self.confirmation
            ),
            **measures(self.measurement),
        }


@dataclass(frozen=True)
class Turn:
    """A job on its way: an execution's own, the same compared inside, or a canary that `passed` waits for.

    A canary `confirms` the job it is a change of; the `done` ones are those that were run before.
    """

    execution: Execution
    job: Job
    canary: Canary | None = None
    passed: Finished | None = None
    confirms: Job | None = None
    done: tuple[Canary, ...] = ()


class Batch:
    """Executions of one scope and one kind, all under one claim, on their way to their outcomes."""

    def __init__(self, scope: str, kind: Kind, executions: Sequence[Execution]) -> None:
        self.scope, self.kind, self.token = scope, kind, executions[0].claim
        self.left = {execution.pk: execution for execution in executions}
        self.alone: set[int] = set()
        self.denied: set[int] = set()
        self.finished: list[Finished] = []
        self.saved_at = self.renewed_at = time.monotonic()

    def execute(self) -> None:
        """Run all of them, in the best mode that has what they need, and save what came of each."""
        try:
            self._run()
        except ClaimLost:
            logger.warning(
                "A batch of %s is somebody else's now; what came of it here is discarded.", self.scope
            )
        except boxes.Closing:
            self._put_back("The worker was stopped; another try follows.", counted=False)
        except NotBegun as why:
            obstacles.note(why)
            for execution in self._unsettled():
                put_back_untried(execution, why)
        except SandboxUnavailable as error:
            self._put_back(str(error))
        except Exception as error:
            logger.exception("A batch of %s failed on our side.", self.scope)
            self._put_back(f"An error of ours: {type(error).__name__}: {error}")

    def _run(self) -> None:
        chain = modes.chain(self.kind.image) if self.kind.image else (SINGLE,)
        for mode in chain:
            fitting = [
                execution
                for execution in self.left.values()
                if mode == SINGLE
                or (execution.pk not in self.alone | self.denied and fits(execution.job, mode))
            ]
            if mode == SINGLE:
                self._run_single(fitting)
            elif fitting and runs_in_forks(self.kind):
                self._run_together(mode, fitting)

    def _run_together(self, mode: str, executions: Sequence[Execution]) -> None:
        """Run samples in forks of one process; those that leave a doubt stay with what is left."""
        turns = [Turn(execution, execution.job) for execution in executions]
        with boxes.lines().lent(Owner(self.scope, mode, self.kind)) as line:
            while turns:
                turns = self._round(line, turns)
        self._save()

    def _round(self, line: Line, turns: Sequence[Turn]) -> list[Turn]:
        """Run jobs and return those that their ends ask for."""
        next_round: list[Turn] = []
        for ran in line.run([turn.job for turn in turns]):
            if ran is not None and ran.measurement is not None:
                next_round += self._take(turns[ran.place], ran.measurement, ran.seconds)
            self._keep_up()
        return next_round

    def _take(self, turn: Turn, measurement: Measurement, seconds: float) -> list[Turn]:
        """Judge what was measured and return what is to be run beside it; as `execution` does for one alone.

        Where only wall time decided, it is left to run again, alone; where it was denied something, in a box of its own.
        """
        execution, job, ended = turn.execution, turn.job, time.monotonic()
        judgement = judge(measurement, job.expected)
        if turn.passed is not None and turn.canary is not None and turn.confirms is not None:
            came = Confirmation(turn.canary, judgement.outcome, seconds * 1000)
            done = (*turn.done, turn.canary)
            return self._confirm(replace(turn.passed, confirmation=came), turn.confirms, done)
        if waited(measurement, judgement, job):
            self.alone.add(execution.pk)
            return []
        if "denied" in measurement.facts and judgement.outcome is not Outcome.PASSED:
            self.denied.add(execution.pk)
            return []
        inside = to_run_inside(job, measurement)
        if inside is not None:
            return [Turn(execution, inside)]
        if job.inside and not execution.job.inside:
            measurement = replace(measurement, facts=measurement.facts | {"compared": "inside"})
        finished = Finished(execution, measurement, judgement, ended - seconds, ended)
        return self._confirm(finished, job, ())

    def _confirm(self, finished: Finished, job: Job, done: tuple[Canary, ...]) -> list[Turn]:
        """Return the next canary of the job to run; none where all were, or one passed: then it is finished."""
        flagged = finished.confirmation is not None and finished.confirmation.tampered
        canary = None if flagged else to_confirm(job, finished.judgement, done)
        if canary is None:
            self._finish(finished)
            return []
        return [Turn(finished.execution, with_canary(job, canary), canary, finished, job, done)]

    def _finish(self, finished: Finished) -> None:
        self.finished.append(finished)
        del self.left[finished.execution.pk]

    def _run_single(self, executions: Sequence[Execution]) -> None:
        """Run each in a box of its own, as any other execution, which answers for its own faults."""
        for execution in executions:
            self._renew()
            if boxes.closing():
                raise boxes.Closing
            del self.left[execution.pk]
            execute_claimed(execution, Claim(execution.pk, self.token), alone=execution.pk in self.alone)

    def _keep_up(self) -> None:
        """Save and renew as far as it is time for that. Raises boxes.Closing, ClaimLost."""
        now = time.monotonic()
        if boxes.closing():
            raise boxes.Closing
        if len(self.finished) >= SAVE_AT or (self.finished and now - self.saved_at > SAVE_SECONDS):
            self._save()
        if now - self.renewed_at > settings.RUNNER_LEASE_SECONDS / 3:
            self._renew()

    def _renew(self) -> None:
        self.renewed_at = time.monotonic()
        if not claims.renew_many(self.token) and self.left:
            raise ClaimLost(self.token)

    def _save(self) -> None:
        """Save what has finished, each fenced by the claim; what somebody else has by now is left out."""
        while self.finished:
            boxes.give_way()
            chunk, self.finished = self.finished[:SAVE_AT], self.finished[SAVE_AT:]
            with transaction.atomic():
                held, clock = self._held(chunk)
                settle([each.execution for each in held], [each.columns(clock) for each in held])
                TestRow.objects.bulk_create(
                    stored(each.execution, row, number)
                    for each in held
                    for number, row in enumerate(each.rows(), start=1)
                )
            announce_last(each.execution for each in held)
        self.saved_at = time.monotonic()

    def _held(self, chunk: Sequence[Finished]) -> tuple[list[Finished], datetime]:
        """Return which of them still carry our claim, locked until the transaction's end, and the database's clock."""
        ours = Execution.objects.select_for_update().filter(
            pk__in=[each.execution.pk for each in chunk], claim=self.token
        )
        clocks = dict(ours.annotate(clock=Now()).values_list("pk", "clock"))
        held = [each for each in chunk if each.execution.pk in clocks]
        return held, next(iter(clocks.values()), timezone.now())

    def _unsettled(self) -> list[Execution]:
        """Save what has finished and return what has not."""
        self._save()
        return list(self.left.values())

    def _put_back(self, reason: str, *, counted: bool = True) -> None:
        for execution in self._unsettled():
            put_back(execution, reason=reason, counted=counted)


def settle(executions: Sequence[Execution], changes: Sequence[dict[str, Any]]) -> None:
    """Write to each execution its changes, all of the same columns, and let its sequence grow.

    One statement with many parameters: an UPDATE for each through the ORM takes longer to compose than to execute, a
    third of all that a sample costs this process. The caller holds the rows.
    """
    if not changes:
        return
    fields = [field for field in Execution._meta.concrete_fields if field.name in changes[0]]
    quote = connection.ops.quote_name
    columns = ", ".join(f"{quote(str(field.column))} = %s" for field in fields)
    sequence = quote("sequence")
    sql = f"UPDATE {quote(Execution._meta.db_table)} SET {sequence} = {sequence} + 1, {columns} WHERE id = %s"  # noqa: S608 - names of ours
    with connection.cursor() as cursor:
        cursor.executemany(
            sql,
            [
                [*(field.get_db_prep_save(change[field.name], connection) for field in fields), execution.pk]
                for execution, change in zip(executions, changes, strict=True)
            ],
        )


def announce_last(executions: Iterable[Execution]) -> None:
    """Tell each listener of one of the executions that changed: its page reads all of them anew."""
    for execution in {each.listener: each for each in executions if each.listener}.values():
        execution.refresh_from_db(fields=["sequence", "state"])
        announce(execution)
