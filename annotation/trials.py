"""ADJUDICATE: recorded solutions are executed on demand, against a version or a fix of it, in the bulk queue."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from django.db import IntegrityError, transaction
from django.db.models import QuerySet

from annotation.models import Fix, Trial, User
from annotation.solutions import Recorded
from examples.jobs import answer_program, check_job, reference_program
from examples.models import Version, audit
from runner import queueing
from runner.models import Execution

MOST_REPEATS = 50


class NotExecuted(Exception):
    """Nothing can be executed as things stand; the message says why and what helps."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """One execution: of the reference (no solution), or of a solution, for the n-th time."""

    solution: Recorded | None
    number: int

    @property
    def key(self) -> tuple[str, int]:
        """What makes it one of its kind: the solution's hash, "" for the reference, and the number."""
        return (self.solution.sha256 if self.solution else "", self.number)


def ask_trials(
    version: Version,
    solutions: Iterable[Recorded],
    *,
    by: User,
    fix: Fix | None = None,
    target: Version | None = None,
    times: int = 1,
    reference: bool = True,
) -> int:
    """Ask for what was not executed yet of the solutions, and the reference, `times` each; return how many were asked for.

    `target` is what they are executed against where it is not the version itself: the content of a fix. Asked for again,
    only what is missing is, and what stayed unjudged once more; so a call that was cut off is finished by the next one.
    The n-th execution of a program has seed n - 1. Raises NotExecuted.
    """
    target = target or version
    if not target.environment.image_digest:
        raise NotExecuted(f"Environment {target.environment.name} is not built yet. Build it first.")
    if not 1 <= times <= MOST_REPEATS:
        raise NotExecuted(f"Give a number from 1 to {MOST_REPEATS}.")
    programs: list[Recorded | None] = [*([None] if reference else []), *solutions]
    wanted = [Wanted(each, number) for each in programs for number in range(1, times + 1)]
    known = set(trials_of(version, fix).values_list("sha256", "number"))
    asked = sum(_ask(each, version, target, fix, by) for each in wanted if each.key not in known)
    lost = trials_of(version, fix).filter(execution__state=Execution.State.UNJUDGED)
    asked += sum(queueing.try_again(trial.execution) for trial in lost.select_related("execution"))
    if asked:
        audit(by, "executions asked for", f"fix:{fix.pk}" if fix else f"version:{version.pk}", count=asked)
    return asked


def trials_of(version: Version, fix: Fix | None = None) -> QuerySet[Trial]:
    """Return the trials of a version as it stands, or of a fix of it."""
    return Trial.objects.filter(version=version, fix=fix)


def _ask(wanted: Wanted, version: Version, target: Version, fix: Fix | None, by: User) -> int:
    """Save one trial with its execution; 0 where somebody else did so at this moment."""
    solution = wanted.solution
    if solution:
        program = answer_program(target, solution.function, solution.module)
    else:
        program = reference_program(target)
    try:
        with transaction.atomic():
            Trial.objects.create(
                version=version,
                fix=fix,
                program=Trial.Program.SOLUTION if solution else Trial.Program.REFERENCE,
                sha256=solution.sha256 if solution else "",
                function=solution.function if solution else "",
                module=solution.module if solution else "",
                number=wanted.number,
                asked_by=by,
                execution=queueing.enqueue(
                    check_job(target, program, seed=wanted.number - 1),
                    environment=target.environment,
                    queue=Execution.Queue.BULK,
                ),
            )
    except IntegrityError:
        return 0
    return 1
