"""REPLAY: the moments of an attempt at which its code is known, and the code at one of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from django.db.models.functions import Length

from annotation.drafts import first_answer
from annotation.models import Attempt, Draft, Run


class Source(StrEnum):
    """Where the code of a step stands."""

    START = "start"
    DRAFT = "draft"
    RUN = "run"


@dataclass(frozen=True, slots=True)
class Step:
    """The start, a saved revision, or a run or submission.

    number    from 0, by time; the address of the step on the page
    seconds   since the attempt began, by the server's clock
    row       pk of the draft or run; 0 for the start
    size      characters of function and module together
    """

    number: int
    at: datetime
    seconds: float
    source: Source
    row: int
    title: str
    size: int


@dataclass(frozen=True, slots=True)
class Code:
    """What both regions of the editor held."""

    function: str
    module: str = ""

    @property
    def text(self) -> str:
        """Both regions as one text, helpers first, so that one difference shows both."""
        return f"{self.module.rstrip()}\n\n\n{self.function}" if self.module.strip() else self.function


def steps_of(attempt: Attempt, runs: Sequence[Run]) -> tuple[Step, ...]:
    """Return the steps in order, in one query that fetches no code; `runs` are the attempt's, by number."""
    start = first_answer(attempt)
    size = Length("function") + Length("module")
    drafts = (
        attempt.drafts.order_by("revision")
        .annotate(size=size)
        .values_list("saved_at", "pk", "revision", "size")
    )
    found = [(attempt.started_at, Source.START, 0, "Started", len(start))]
    found += [(at, Source.DRAFT, pk, f"Revision {revision}", size) for at, pk, revision, size in drafts]
    found += [(run.created_at, Source.RUN, run.pk, title_of(run), 0) for run in runs]
    found.sort(
        key=lambda step: step[0]
    )  # stable: what came in one moment stays in the order start, draft, run
    return tuple(
        Step(number, at, max(0.0, (at - attempt.started_at).total_seconds()), source, row, title, size)
        for number, (at, source, row, title, size) in enumerate(found)
    )


def title_of(run: Run) -> str:
    """Return a run's name in the timeline: "Run 3", "Scratch run 4", "Submission 5"."""
    return {Run.Kind.VISIBLE: "Run", Run.Kind.SCRATCH: "Scratch run"}.get(
        Run.Kind(run.kind), "Submission"
    ) + f" {run.number}"


def code_of(attempt: Attempt, step: Step) -> Code:
    """Return the code at a step, in one query."""
    if step.source == Source.DRAFT:
        return Code(*Draft.objects.values_list("function", "module").get(attempt=attempt, pk=step.row))
    if step.source == Source.RUN:
        return Code(*Run.objects.values_list("function", "module").get(attempt=attempt, pk=step.row))
    return Code(first_answer(attempt))


def last_before(steps: Sequence[Step], number: int) -> int:
    """Return the step before a step; the first has none before it and is its own."""
    return max(0, min(number, len(steps) - 1) - 1)
