"""EVALUATE: how far an evaluation is, and how long the rest will take."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from django.db.models import Count, Q
from django.db.models.functions import Now

from examples.models import Evaluation, ModelSample
from runner.models import Execution

LOOKED_BACK = timedelta(seconds=30)


@dataclass(frozen=True, slots=True)
class Progress:
    """How many samples there are, and how they stand.

    waiting      nothing was executed for them yet
    open         queued or running
    unjudged     our own failures: tried again when the evaluation is scored again, never counted
    judged       with an outcome
    seconds_left None where nothing is open, or nothing has ended lately to go by
    """

    samples: int
    waiting: int
    open: int
    unjudged: int
    judged: int
    seconds_left: float | None = None

    @property
    def state(self) -> str:
        """What the evaluation is, in a word or two."""
        if not self.samples:
            return "no samples"
        if self.open:
            return "running"
        if self.waiting:
            return "waiting" if not self.judged else "partly scored"
        return "not all judged" if self.unjudged else "scored"

    @property
    def share(self) -> float:
        """The part of the samples that is judged, 0 to 1."""
        return self.judged / self.samples if self.samples else 0.0


def progress(evaluation: Evaluation) -> Progress:
    """Return how far the evaluation is, in two queries."""
    return progress_of([evaluation])[evaluation.pk]


def progress_of(evaluations: Sequence[Evaluation]) -> dict[int, Progress]:
    """Return how far each evaluation is, by its id, in two queries whatever their number."""
    rows = ModelSample.objects.filter(item__evaluation__in=evaluations).order_by()
    open_ = Q(execution__state__in=[Execution.State.QUEUED, Execution.State.RUNNING])
    counted = rows.values("item__evaluation").annotate(
        samples=Count("pk"),
        waiting=Count("pk", filter=Q(execution=None)),
        open=Count("pk", filter=open_),
        unjudged=Count("pk", filter=Q(execution__state=Execution.State.UNJUDGED)),
        judged=Count("pk", filter=Q(execution__state=Execution.State.FINISHED)),
    )
    found = {each["item__evaluation"]: dict(each) for each in counted}
    speeds = _speeds(evaluations)
    return {each.pk: _progress(found.get(each.pk, {}), speeds.get(each.scope, 0.0)) for each in evaluations}


def _progress(counts: Mapping[str, Any], per_second: float) -> Progress:
    names = ("samples", "waiting", "open", "unjudged", "judged")
    made = {name: counts.get(name, 0) for name in names}
    left = made["open"] / per_second if made["open"] and per_second else None
    return Progress(**made, seconds_left=left)


def _speeds(evaluations: Sequence[Evaluation]) -> dict[str, float]:
    """Return how many executions ended per second lately, by scope."""
    lately = Execution.objects.filter(
        scope__in=[each.scope for each in evaluations],
        state=Execution.State.FINISHED,
        finished_at__gt=Now() - LOOKED_BACK,
    )
    ended = lately.order_by().values("scope").annotate(count=Count("pk"))
    return {each["scope"]: each["count"] / LOOKED_BACK.total_seconds() for each in ended}
