"""Runs for tests: a dataset, an environment with warm boxes, fragments, and an endpoint that a script answers."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from django.test import override_settings

from examples.generation.fragments.base import Candidate, Origin, SourceFile
from examples.generation.running import generate
from examples.generation.runs import Options, start_run
from examples.llm.endpoint import configured
from examples.models import Dataset, Fragment, GenerationRun
from runner.models import Environment
from runner.outcome import Measurement
from runner.sandbox.base import Job, OnRow, OnStarted
from runner.sandbox.pool import Pool
from tests.scripted_endpoint import Script, ScriptedEndpoint, scripted_endpoint


class Warm:
    """Warm boxes for every queue: real containers without the start of each."""

    mode = "pool"

    def __init__(self, pool: Pool) -> None:
        self.pool = pool

    def run(self, job: Job, *, image: str, name: str, on_started: OnStarted, on_row: OnRow) -> Measurement:
        """Run the job in a box that waits."""
        return self.pool.run(job, image=image, name=name, on_started=on_started, on_row=on_row)

    def close(self) -> None:
        """Leave the pool to the next test."""


def candidate(source: str, name: str, *, repository: str = "somebody/somewhere") -> Candidate:
    """Return a function of a source as finding hands it on."""
    file = SourceFile("lib/module.py", source, Origin(repository, "MIT", {"sha": "0" * 40}))
    return Candidate(file, name, 1, "")


def start(*found: Candidate, name: str = "run-1", **options: Any) -> GenerationRun:
    """Start a run over candidates in the plain environment, without waking a worker."""
    dataset, _ = Dataset.objects.get_or_create(name="made", defaults={"title": "Made", "licence": "MIT"})
    return start_run(
        name,
        dataset=dataset,
        environment=Environment.objects.get(name="plain"),
        found=found,
        options=Options(**{"model": "tiny", **options}),
        by=None,
        wake=False,
    )


def generate_all(run: GenerationRun) -> list[Fragment]:
    """Bring every waiting fragment of a run to its end, one after the other, and return all."""
    for fragment in run.fragments.filter(state=Fragment.State.WAITING):
        generate(fragment.pk)
    run.refresh_from_db()
    return list(run.fragments.order_by("number"))


@contextmanager
def asked(script: Script, **settings: Any) -> Iterator[ScriptedEndpoint]:
    """Let the site's endpoint be one that a script answers."""
    with scripted_endpoint(script) as server:
        quick = {"LLM_BASE_URL": server.base_url, "LLM_BACKOFF_SECONDS": 0.0, "LLM_TIMEOUT_SECONDS": 5.0}
        with override_settings(**{**quick, **settings}):
            configured.cache_clear()
            yield server
    configured.cache_clear()
