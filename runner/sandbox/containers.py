"""Runs one job in one hardened container that nothing else has used or will use."""

from __future__ import annotations

import secrets
from collections.abc import Callable

from runner.languages import language
from runner.outcome import Measurement
from runner.sandbox.base import Job, OnRow, OnStarted
from runner.sandbox.conversation import Conversation
from runner.sandbox.engine import Box, Engine
from runner.sandbox.settings import BoxSettings

MODE = "single"
COLD_LIFE_SECONDS = 60.0


class ColdSandbox:
    """Starts a container for every job; for checks under their own hash seed, and where no pool is wanted."""

    mode = MODE

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self.keeper = secrets.token_hex(8)

    def run(self, job: Job, *, image: str, name: str, on_started: OnStarted, on_row: OnRow) -> Measurement:
        """Run the job in a fresh container of that name. Raises SandboxUnavailable when the provider failed."""
        settings = BoxSettings.of(image, language(job.language), job.seed, job.limits, self.engine.runtime)
        life = job.limits.wall_seconds + COLD_LIFE_SECONDS
        box = self.engine.start(settings, keeper=self.keeper, name=name, life_seconds=life)
        try:
            return run_in_box(self.engine, box, job, name=name, on_started=on_started, on_row=on_row)
        finally:
            self.engine.dispose(box)

    def close(self) -> None:
        """Remove whatever container is left of our runs. Raises SandboxUnavailable."""
        self.engine.remove_all(self.keeper)


def run_in_box(
    engine: Engine,
    box: Box,
    job: Job,
    *,
    name: str,
    on_started: OnStarted,
    on_row: OnRow,
    on_slow: Callable[[], None] = lambda: None,
) -> Measurement:
    """Run the job in a waiting box; the caller disposes of it.

    A box from the pool has a name of its own. It takes the claim's name when the run is still going after a moment:
    renaming costs more than a short run, and needs to be true only for runs somebody could want to end. `on_slow` is
    called then, too.
    """

    def after_a_moment() -> None:
        on_slow()
        if box.name != name:
            engine.rename(box, name)

    talk = Conversation(box.stream, job, box.settings.language.prepare(job), on_row)
    talk.begin()
    on_started()
    facts = box.facts | {"mode": MODE, "seed": str(job.seed)}
    return talk.finish(facts, on_slow=after_a_moment, kill=lambda: engine.kill(box))
