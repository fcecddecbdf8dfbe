"""CURATE: accepted alternatives are regression fixtures: every later version is executed against them."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

from django.db import IntegrityError, transaction
from django.db.models import F, QuerySet
from django.db.models.functions import Now

from examples.jobs import answer_program, check_job
from examples.models import Alternative, AlternativeRun, Version, audit
from examples.releasing.gate import AlternativeFact
from runner import queueing
from runner.models import Execution


class AlternativeRefused(Exception):
    """This cannot be accepted or withdrawn; the message says why."""


def accept_alternative(
    version: Version, *, function: str, module: str, sha256: str, reason: str, by: Any
) -> Alternative:
    """Keep a solution as an accepted alternative of the version's example, and return it.

    It is executed against this version and all later ones; workers are woken when the transaction commits. Accepted
    twice it is there once. Raises AlternativeRefused without a reason.
    """
    if not reason.strip():
        raise AlternativeRefused("Say why it is right: later versions will be held to it.")
    known = Alternative.objects.standing().filter(example=version.example_id, sha256=sha256)
    try:
        with transaction.atomic():
            if found := known.first():
                return found
            made = Alternative.objects.create(
                example_id=version.example_id,
                version=version,
                function=function,
                module=module,
                sha256=sha256,
                reason=reason.strip(),
                accepted_by=by,
            )
            audit(by, "alternative accepted", f"version:{version.pk}", sha256=sha256)
            for later in version.example.versions.filter(number__gte=version.number):
                ask_alternatives(later)
    except IntegrityError:  # another curator was faster
        return known.get()
    return made


def withdraw_alternative(alternative: Alternative, *, reason: str, by: Any) -> bool:
    """Let an alternative hold no later version any more; return whether it did until now. Its row stays."""
    if not reason.strip():
        raise AlternativeRefused("Say why it holds no longer.")
    with transaction.atomic():
        done = (
            Alternative.objects.standing()
            .filter(pk=alternative.pk)
            .update(withdrawn_at=Now(), withdrawn_by=by, withdrawn_reason=reason.strip())
        )
        if done:
            audit(by, "alternative withdrawn", f"version:{alternative.version_id}", sha256=alternative.sha256)
    return bool(done)


def ask_alternatives(version: Version) -> int:
    """Ask for the execution of each standing alternative that was not executed against the version; return how many.

    Called again it asks only for what is missing, and again for what stayed unjudged.
    """
    of_example = Alternative.objects.standing().filter(
        example=version.example_id, version__number__lte=version.number
    )
    asked = 0
    for alternative in of_example.exclude(runs__version=version):
        program = answer_program(version, alternative.function, alternative.module)
        try:
            with transaction.atomic():
                execution = queueing.enqueue(
                    check_job(version, program),
                    environment=version.environment,
                    queue=Execution.Queue.BULK,
                )
                AlternativeRun.objects.create(alternative=alternative, version=version, execution=execution)
        except IntegrityError:  # asked for by another worker at this moment
            continue
        asked += 1
    lost = AlternativeRun.objects.filter(
        version=version, alternative__in=of_example, execution__state=Execution.State.UNJUDGED
    )
    return asked + sum(queueing.try_again(run.execution) for run in lost.select_related("execution"))


def alternatives_of(versions: QuerySet[Version]) -> dict[int, tuple[AlternativeFact, ...]]:
    """Return what the gate must know of each version's standing alternatives, by version id, in two queries."""
    ids = versions.order_by().values("pk")
    due = (
        Alternative.objects.standing()
        .filter(example__versions__in=ids, version__number__lte=F("example__versions__number"))
        .order_by("pk")
        .values_list("example__versions", "pk", "sha256")
    )
    runs = AlternativeRun.objects.filter(version__in=ids).values_list(
        "version_id", "alternative_id", "execution_id", "execution__state", "execution__outcome"
    )
    came = {
        (version, pk): (execution, state, outcome)
        for version, pk, execution, state, outcome in runs.order_by()
    }
    found: dict[int, list[AlternativeFact]] = defaultdict(list)
    for version, pk, sha256 in due:
        fact = AlternativeFact(sha256, *came.get((version, pk), (None, "", "")))
        found[version].append(fact)
    return {version: tuple(facts) for version, facts in found.items()}
