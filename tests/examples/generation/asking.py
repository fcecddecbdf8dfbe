"""Runs for tests: a dataset, an environment with warm boxes, fragments, and an endpoint that a script answers."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from django.test import override_settings

from examples.generation.fragments.base import Origin, SourceFile
from examples.generation.fragments.screening import Wanted
from examples.generation.fragments.taking import take_fragments
from examples.generation.running import generate
from examples.generation.runs import Options, start_run
from examples.llm import Reply, configured
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


def file_of(source: str, name: str, *, licence: str = "MIT") -> SourceFile:
    """Return a source whose function of that name is wanted."""
    origin = Origin("somebody/somewhere", licence, {"commit": "0" * 40})
    return SourceFile(f"lib/{name}.py", source, origin, name=name)


def start(*files: SourceFile, name: str = "run-1", **options: Any) -> GenerationRun:
    """Start a run over the functions of files, in the plain environment, without waking a worker."""
    dataset, _ = Dataset.objects.get_or_create(name="made", defaults={"title": "Made", "licence": "MIT"})
    run = start_run(
        name,
        dataset=dataset,
        environment=Environment.objects.get(name="plain"),
        options=Options(**{"model": "tiny", **options}),
        by=None,
    )
    take_fragments(run, files, Wanted())
    return run


def generate_all(run: GenerationRun) -> list[Fragment]:
    """Bring every waiting fragment of a run to its end, one after the other, and return all."""
    for fragment in run.fragments.filter(state=Fragment.State.WAITING):
        generate(fragment.pk)
    run.refresh_from_db()
    return list(run.fragments.order_by("number"))


@dataclass(frozen=True)
class Answering:
    """A model of this process, for what no endpoint can do: end a worker in the middle of a question."""

    reply: Callable[[], Reply]

    def answer(self, request: Mapping[str, Any]) -> Reply:
        """Return what is to be returned, or raise."""
        return self.reply()


@contextmanager
def asked(script: Script, **settings: Any) -> Iterator[ScriptedEndpoint]:
    """Let the site's endpoint be one that a script answers."""
    with scripted_endpoint(script) as server:
        quick = {"LLM_BASE_URL": server.base_url, "LLM_BACKOFF_SECONDS": 0.0, "LLM_TIMEOUT_SECONDS": 5.0}
        with override_settings(**{**quick, **settings}):
            configured.cache_clear()
            yield server
    configured.cache_clear()
