"""CURATE: rerun a version in other environments and compare: same reference, same seeds, outcomes side by side."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from django.db import transaction

from examples.checking.base import first_failure
from examples.jobs import check_job, empty_program, reference_program
from examples.models import Comparison, Rerun, Version, audit
from runner.models import Environment, Execution, TestRow
from runner.queueing import enqueue

SEEDS = (1, 2, 3)
MOST_ENVIRONMENTS = 6


class NotCompared(Exception):
    """Why the environments cannot be compared, and what helps."""


def fit_for(version: Version) -> list[Environment]:
    """Return the environments in which the version could run: built, for its language; its own first."""
    fit = list(Environment.objects.built().filter(language=version.language))
    return sorted(fit, key=lambda each: (each.pk != version.environment_id, each.name))


def compare(version: Version, others: Sequence[Environment], *, by: Any) -> Comparison:
    """Ask for the version's reference under three seeds, and its empty body once, in its own environment and the others.

    Workers are woken when the transaction commits; the version stays as it is. Raises NotCompared.
    """
    fit = {each.pk: each for each in fit_for(version)}
    if version.environment_id not in fit:
        raise NotCompared(f"Environment {version.environment.name} is not built yet. Build it, then compare.")
    chosen = [version.environment_id, *(each.pk for each in others if each.pk != version.environment_id)]
    strange = [each.name for each in others if each.pk not in fit]
    if strange:
        raise NotCompared(f"{', '.join(strange)} is not built, or for another language. Choose another.")
    if not 2 <= len(chosen) <= MOST_ENVIRONMENTS:
        raise NotCompared(f"Choose 1 to {MOST_ENVIRONMENTS - 1} environments beside the version's own.")
    programs = [(Rerun.Program.REFERENCE, reference_program(version), seed) for seed in SEEDS]
    programs.append((Rerun.Program.EMPTY, empty_program(version), SEEDS[0]))
    with transaction.atomic():
        made = Comparison.objects.create(version=version, asked_by=by)
        for pk in chosen:
            for kind, program, seed in programs:
                execution = enqueue(
                    check_job(version, program, seed=seed),
                    environment=fit[pk],
                    queue=Execution.Queue.BULK,
                )
                Rerun.objects.create(comparison=made, program=kind, execution=execution)
        names = [fit[pk].name for pk in chosen]
        audit(by, "environments compared", f"version:{version.pk}", environments=names)
    return made


@dataclass(frozen=True)
class Column:
    """What came of a version in one environment."""

    environment: Environment
    own: bool
    references: list[Execution]
    empty: Execution | None

    @property
    def is_open(self) -> bool:
        """Whether more is to come."""
        return any(run.is_open for run in self._runs)

    @property
    def passed(self) -> int:
        """How often the reference passed."""
        return sum(run.passed for run in self.references)

    @property
    def fit(self) -> bool:
        """Whether the version would do there: the reference passes every time, and the empty body does not."""
        fails = self.empty is not None and bool(self.empty.outcome) and not self.empty.passed
        return self.passed == len(self.references) and fails

    @cached_property
    def shown(self) -> Execution:
        """The reference's execution that says most: the first that did not pass, else the first."""
        return next((run for run in self.references if not run.passed), self.references[0])

    @cached_property
    def failure(self) -> str:
        """Where the reference failed first, in one line; "" where it passed."""
        return "" if self.shown.passed else first_failure(self.shown)

    @property
    def cpu_seconds(self) -> float | None:
        """The most CPU time that the reference took."""
        return max((run.cpu_seconds for run in self.references if run.cpu_seconds is not None), default=None)

    @property
    def memory_bytes(self) -> int | None:
        """The most memory that the reference took."""
        return max(
            (run.memory_bytes for run in self.references if run.memory_bytes is not None), default=None
        )

    @property
    def _runs(self) -> list[Execution]:
        return [*self.references, *([self.empty] if self.empty else [])]

    @property
    def outcome(self) -> tuple[object, ...]:
        """What makes two environments alike or different: outcomes of the reference by seed, and of the empty body."""
        return tuple(run.outcome or run.state for run in self._runs)


@dataclass(frozen=True)
class Line:
    """One test function, and its outcome in each environment; "" where it has none there."""

    test: str
    outcomes: list[str]

    @property
    def differs(self) -> bool:
        """Whether the environments disagree on it."""
        return len(set(self.outcomes)) > 1


@dataclass(frozen=True)
class SideBySide:
    """A comparison as the page shows it."""

    comparison: Comparison
    columns: list[Column]
    lines: list[Line]

    @property
    def is_open(self) -> bool:
        """Whether more is to come."""
        return any(column.is_open for column in self.columns)

    @property
    def differs(self) -> bool:
        """Whether two environments have different outcomes."""
        return len({column.outcome for column in self.columns}) > 1

    @property
    def unjudged(self) -> bool:
        """Whether we failed to execute something of it."""
        return any(run.state == Execution.State.UNJUDGED for column in self.columns for run in column._runs)

    @property
    def seen(self) -> str:
        """How far it is, in short; the page says it when it asks again."""
        runs = [run for column in self.columns for run in column._runs]
        return f"{self.comparison.pk}-{sum(run.sequence for run in runs)}"


def side_by_side(comparison: Comparison) -> SideBySide:
    """Return the comparison with its executions by environment, the version's own first, and its tests."""
    reruns = list(comparison.reruns.select_related("execution__environment").order_by("pk"))
    environments = {each.execution.environment_id: each.execution.environment for each in reruns}
    columns = []
    for pk, environment in environments.items():
        here = [each for each in reruns if each.execution.environment_id == pk]
        references = [each.execution for each in here if each.program == Rerun.Program.REFERENCE]
        empty = next((each.execution for each in here if each.program == Rerun.Program.EMPTY), None)
        columns.append(Column(environment, pk == comparison.version.environment_id, references, empty))
    return SideBySide(comparison, columns, _lines(comparison.version, columns))


def _lines(version: Version, columns: Sequence[Column]) -> list[Line]:
    """Return a line for each test function that must pass, from the executions that the columns show."""
    shown = [column.shown.pk for column in columns]
    rows = TestRow.objects.filter(execution__in=shown, assertion=None)
    found = {(row.execution_id, row.test): row.outcome for row in rows}
    return [Line(test, [found.get((pk, test), "") for pk in shown]) for test in version.expected]
