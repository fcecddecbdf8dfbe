"""Make a run, or tell what came of it, as a process with the settings of a drill. For tests only.

`python -m tests.examples.generation.killed_run make IMAGE_DIGEST TOKENS`, then `… tell`, which prints JSON
"""

from __future__ import annotations

import json
import sys
from typing import Any

import django

from tests.examples.generation.sample import sample

NAMES = (
    "quote_split",
    "slicelist",
    "untranslateName",
    "target_names",
    "packbools",
    "date",
    "_endCodeIfNeeded",
)


def make(image: str, tokens: str) -> None:
    """Make a run with a row for the image's environment."""
    from django.utils import timezone

    from runner.models import Environment

    built = {"image_digest": image, "built_at": timezone.now()}
    Environment.objects.update_or_create(name="plain", defaults=built)
    make_run(int(tokens))


def make_run(tokens: int) -> None:
    """Make a run over seven fragments of the sample; a worker finds what waits."""
    from examples.generation.fragments.screening import Wanted
    from examples.generation.fragments.taking import take_fragments
    from examples.generation.runs import Options, start_run
    from examples.models import Dataset
    from runner.models import Environment

    dataset = Dataset.objects.create(name="made", title="Made", licence="MIT")
    run = start_run(
        "killed",
        dataset=dataset,
        environment=Environment.objects.get(name="plain"),
        options=Options(model="tiny", budget_tokens=tokens),
        by=None,
    )
    take_fragments(run, [each for each in sample() if each.name in NAMES], Wanted())


def tell() -> None:
    """Print what came of the run."""
    print(json.dumps(found()))


def found() -> dict[str, Any]:
    """Return the run's state and charge, its fragments, its calls, and what they were charged in all."""
    from examples.models import Call, GenerationRun, Round

    run = GenerationRun.objects.get()
    fields = ("fragment__number", "number", "attempt", "state", "request_hash", "charged_tokens")
    return {
        "state": run.state,
        "reason": run.reason,
        "charged": run.charged_tokens,
        "budget": run.budget_tokens,
        "fragments": list(run.fragments.order_by("number").values_list("function", "state", "reason")),
        "calls": list(Call.objects.order_by("fragment", "number", "attempt").values_list(*fields)),
        "rounds": Round.objects.count(),
        "examples": run.dataset.examples.count(),
    }


if __name__ == "__main__":
    django.setup()
    {"make": make, "tell": tell}[sys.argv[1]](*sys.argv[2:])
