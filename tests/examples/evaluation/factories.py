"""What tests of evaluations start from: a model's samples for versions, judged as a worker would leave them."""

from __future__ import annotations

import hashlib
from itertools import count
from typing import Any

from django.utils import timezone

from examples.models import Evaluation, EvaluationItem, ModelSample, Version
from runner.models import Execution
from runner.outcome import Outcome
from runner.sandbox.base import Job, Limits

_numbers = count(1)
RIGHT = "    return a + b\n"
WRONG = "    return a - b\n"


def make_evaluation(versions: list[Version], *, name: str = "", **fields: Any) -> Evaluation:
    """Return an evaluation over the versions, of the first one's dataset."""
    name = name or f"evaluation-{next(_numbers)}"
    if "split" not in fields:
        fields.setdefault("dataset", versions[0].example.dataset)
    fields = {"model_name": "model", "origin": Evaluation.Origin.FILE} | fields
    evaluation = Evaluation.objects.create(name=name, **fields)
    EvaluationItem.objects.bulk_create(
        EvaluationItem(evaluation=evaluation, version=version, position=position)
        for position, version in enumerate(versions, start=1)
    )
    return evaluation


def make_sample(item: EvaluationItem, number: int = 1, *, reply: str = RIGHT, **fields: Any) -> ModelSample:
    """Return a sample of the version; nothing is executed for it yet."""
    digest = hashlib.sha256(reply.encode()).hexdigest()
    return ModelSample.objects.create(item=item, number=number, reply=reply, reply_hash=digest, **fields)


def make_execution(outcome: Outcome | None = Outcome.PASSED, *, version: Version, **fields: Any) -> Execution:
    """Return a finished execution in the version's environment; None as outcome is one that stayed unjudged."""
    job = Job("x = 1\n", "def test_add(): ...\n", ("test_add",), Limits.for_cpu(1))
    ended: dict[str, Any] = {"state": Execution.State.FINISHED, "outcome": outcome}
    if outcome is None:
        ended = {"state": Execution.State.UNJUDGED, "reason": "no engine"}
    return Execution.objects.create(
        environment=version.environment,
        queue=Execution.Queue.BULK,
        job_data=job.as_json(),
        finished_at=timezone.now(),
        **ended | fields,
    )


def judged(item: EvaluationItem, *outcomes: Outcome | None) -> list[ModelSample]:
    """Return samples of the version, numbered from 1, with these outcomes; None is one that stayed unjudged."""
    return [
        make_sample(
            item,
            number,
            reply=f"{RIGHT}# {number}\n",
            job_key=f"{next(_numbers):064d}",
            execution=make_execution(outcome, version=item.version),
        )
        for number, outcome in enumerate(outcomes, start=1)
    ]
