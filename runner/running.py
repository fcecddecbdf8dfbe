"""Run a job in a sandbox beside the thread that writes to the database: what happens comes back through a queue."""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass
from queue import Empty, SimpleQueue

from django.conf import settings

from runner.outcome import Measurement, Row
from runner.sandbox.base import Job, Limits, Sandbox, SandboxUnavailable


@dataclass(frozen=True)
class Started:
    """The program began to run at this moment of `time.monotonic()`."""

    at: float


@dataclass(frozen=True)
class Arrived:
    """A row arrived at this moment of `time.monotonic()`."""

    row: Row
    at: float


@dataclass(frozen=True)
class Ended:
    """The run is over: what was measured, or why there is nothing to measure."""

    measurement: Measurement | None
    error: Exception | None


Event = Started | Arrived | Ended


class _Abandoned(Exception):
    """Nobody waits for this run any more."""


class Run(threading.Thread):
    """The sandbox's side: it may block for as long as the engine does, without the database waiting for it."""

    def __init__(self, sandbox: Sandbox, job: Job, *, image: str, name: str) -> None:
        super().__init__(name=name, daemon=True)
        self._sandbox, self._job, self._image, self._container = sandbox, job, image, name
        self._events: SimpleQueue[Event] = SimpleQueue()
        self._abandoned = threading.Event()
        self.deadline = time.monotonic() + allowed_seconds(job.limits)

    def run(self) -> None:
        """Run the job and report everything that happens, the end included, whatever it is."""
        try:
            measurement = self._sandbox.run(
                self._job,
                image=self._image,
                name=self._container,
                on_started=lambda: self._report(Started(time.monotonic())),
                on_row=lambda row: self._report(Arrived(row, time.monotonic())),
            )
        except Exception as error:
            # Whatever the provider raises is ours to answer: the caller puts the execution back.
            self._events.put(Ended(None, error))
        else:
            self._events.put(Ended(measurement, None))

    def abandon(self) -> None:
        """Let the run end at its next report; what it still says goes nowhere."""
        self._abandoned.set()

    def next(self, within_seconds: float | None) -> Event | None:
        """Return what happened next, None when nothing did in that time. Raises SandboxUnavailable after the deadline."""
        left = self.deadline - time.monotonic()
        wait = left if within_seconds is None else min(within_seconds, left)
        try:
            return self._events.get(timeout=max(wait, 0)) if wait > 0 else self._events.get_nowait()
        except Empty:
            if left <= 0:
                raise SandboxUnavailable("The sandbox gave no answer in time.") from None
            return None

    def _report(self, event: Event) -> None:
        """Put the event into the queue; end the run where nobody waits for it."""
        if self._abandoned.is_set():
            raise _Abandoned
        self._events.put(event)


def allowed_seconds(limits: Limits) -> float:
    """Return how long a run may take with everything the engine does before and after it."""
    engine: int = settings.RUNNER_ENGINE_TIMEOUT_SECONDS
    return limits.wall_seconds + 2 * engine
