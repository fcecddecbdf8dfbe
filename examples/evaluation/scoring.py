"""EVALUATE: execute what has no execution yet, each different job once; safe to call again, and by several at once."""

from __future__ import annotations

import hashlib
import json
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import NamedTuple

from django.db import transaction
from django.db.models.functions import Now

from examples.assembly import Answer
from examples.evaluation.creating import EvaluationRefused
from examples.jobs import full_job
from examples.languages.ways import ways
from examples.models import Evaluation, ModelSample, Version
from runner.bulk import BATCH, enqueue_many
from runner.claims import now_plus
from runner.models import Environment, Execution
from runner.queueing import try_again
from runner.sandbox.base import Job, Limits

# A batch of a hundred takes a second or two; after this long without one, its worker is gone.
SILENT_SECONDS = 60


@dataclass
class Asked:
    """What a call of `score_evaluation` asked for.

    executions  jobs that nothing was executed for yet
    reused      samples that got an execution which was there: of this evaluation or another one
    retried     executions that had stayed unjudged
    """

    executions: int = 0
    reused: int = 0
    retried: int = 0


class Keyed(NamedTuple):
    """A sample's job, and the hash of all that its outcome can depend on."""

    sample: int
    key: str
    job: Job
    environment: Environment


def score_evaluation(
    evaluation: Evaluation, *, tell: Callable[[Asked], None] | None = None, retry: bool = True
) -> Asked:
    """Ask for an execution of every sample that has none, and again for those that stayed unjudged; return what was asked.

    A job that was executed for any sample before is not executed again. Workers are woken batch by batch, and each batch
    is committed whole, so a call that was cut off is finished by the next one. Raises EvaluationRefused where an
    environment has no image yet.
    """
    try:
        refuse_unbuilt(evaluation)
    except EvaluationRefused:
        _note(evaluation, None)
        raise
    asked = Asked(retried=retry_unjudged(evaluation) if retry else 0)
    jobs = Jobs(evaluation)
    last = 0
    while batch := _waiting(evaluation, after=last):
        last = batch[-1].pk
        _link([jobs.keyed(sample) for sample in batch], evaluation, asked)
        _note(evaluation, Now())
        if tell:
            tell(asked)
    _note(evaluation, None)
    return asked


def ask_to_score(evaluation: Evaluation) -> None:
    """Note that a worker is to score the evaluation, so that it is found where the queue loses the message."""
    Evaluation.objects.filter(pk=evaluation.pk).update(scoring_at=Now())


def left_scoring() -> list[int]:
    """Return the evaluations whose scoring was asked for and gives no sign any more, each to one caller in a while."""
    silent = Evaluation.objects.filter(scoring_at__lt=now_plus(-SILENT_SECONDS))
    ids = list(silent.values_list("pk", flat=True))
    return [pk for pk in ids if silent.filter(pk=pk).update(scoring_at=Now())]


def _note(evaluation: Evaluation, sign: Now | None) -> None:
    """Give a sign that the scoring goes on, or that it has ended; nothing where none was asked of a worker."""
    asked_for = Evaluation.objects.filter(pk=evaluation.pk, scoring_at__isnull=False)
    asked_for.update(scoring_at=sign)


def retry_unjudged(evaluation: Evaluation) -> int:
    """Put the evaluation's unjudged executions back into the queue, and return how many they were."""
    unjudged = Execution.objects.filter(
        state=Execution.State.UNJUDGED, samples__item__evaluation=evaluation
    ).distinct()
    return sum(try_again(execution) for execution in unjudged)


class Jobs:
    """The jobs of an evaluation's samples, made by the same door as an annotator's submission."""

    def __init__(self, evaluation: Evaluation) -> None:
        self.evaluation = evaluation
        self._blank = lru_cache(maxsize=16)(self._blank_job)

    def keyed(self, sample: ModelSample) -> Keyed:
        """Return the job that judges the sample, with its key."""
        blank, version, environment = self._blank(sample.item.version_id)
        answer = Answer(sample.reply)
        program = ways(version.language).assemble(version.context, version.gap, answer).program
        job = replace(blank, program=program)
        return Keyed(sample.pk, job_key(job, environment.image_digest), job, environment)

    def _blank_job(self, version_id: int) -> tuple[Job, Version, Environment]:
        """Return a version's job without a program: its samples share all the rest."""
        version = Version.objects.select_related("example__dataset", "environment").get(pk=version_id)
        job = full_job(version, "")
        if self.evaluation.cpu_limit_seconds is not None:
            job = replace(job, limits=Limits.for_cpu(self.evaluation.cpu_limit_seconds))
        return job, version, self.evaluation.environment or version.environment


def job_key(job: Job, image_digest: str) -> str:
    """Return the sha256, in hex, of a job with its limits and the image it runs in; the same key, the same outcome."""
    whole = {"job": job.as_json(), "image": image_digest}
    return hashlib.sha256(json.dumps(whole, sort_keys=True).encode()).hexdigest()


def _waiting(evaluation: Evaluation, *, after: int) -> list[ModelSample]:
    waiting = ModelSample.objects.waiting().filter(item__evaluation=evaluation, pk__gt=after)
    return list(waiting.select_related("item").order_by("pk")[:BATCH])


def _link(batch: Sequence[Keyed], evaluation: Evaluation, asked: Asked) -> None:
    """Give each sample of a batch its execution, made where no sample with its key has one, in one transaction."""
    with transaction.atomic():
        free = ModelSample.objects.waiting().filter(pk__in=[each.sample for each in batch])
        still = set(free.select_for_update(of=("self",)).values_list("pk", flat=True))
        batch = [each for each in batch if each.sample in still]
        known = _executed({each.key for each in batch})
        new = {each.key: each for each in batch if each.key not in known}
        known |= _enqueued(new, evaluation)
        for each in batch:
            free.filter(pk=each.sample).update(job_key=each.key, execution=known[each.key])
    asked.executions += len(new)
    asked.reused += len(batch) - len(new)


def _executed(keys: set[str]) -> dict[str, int]:
    """Return the executions that samples with these keys have, in whatever evaluation, by key."""
    rows = ModelSample.objects.filter(job_key__in=keys, execution__isnull=False)
    return dict(rows.values_list("job_key", "execution_id"))


def _enqueued(new: dict[str, Keyed], evaluation: Evaluation) -> dict[str, int]:
    """Return an execution for each of the jobs, by key."""
    by_environment = defaultdict[Environment, list[Keyed]](list)
    for each in new.values():
        by_environment[each.environment].append(each)
    made: dict[str, int] = {}
    for environment, keyed in by_environment.items():
        jobs = [each.job for each in keyed]
        executions = enqueue_many(jobs, environment=environment, scope=evaluation.scope)
        made |= {each.key: execution.pk for each, execution in zip(keyed, executions, strict=True)}
    return made


def refuse_unbuilt(evaluation: Evaluation) -> None:
    """Raise EvaluationRefused where an environment that the samples need has no image yet."""
    used = Environment.objects.filter(versions__evaluation_items__evaluation=evaluation)
    if evaluation.environment_id is not None:
        used = Environment.objects.filter(pk=evaluation.environment_id)
    unbuilt = used.filter(image_digest="").order_by("name").values_list("name", flat=True).distinct()
    if unbuilt:
        raise EvaluationRefused(f"Not built yet: {', '.join(unbuilt)}. Build what the versions run in first.")
