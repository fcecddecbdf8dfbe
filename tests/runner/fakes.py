"""A sandbox that does as it is told, for faults that no real engine has on demand."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace

import pytest

from runner import boxes
from runner.models import Environment, Execution
from runner.outcome import Measurement, Outcome, Row
from runner.sandbox.base import Job, Limits, OnRow, OnStarted

PASSED = Measurement(
    loaded=True,
    rows=(Row("test_one", 1, Outcome.PASSED, line=2), Row("test_one", None, Outcome.PASSED, line=1)),
    exit_status=0,
    signal=None,
    out_of_memory=False,
    cpu_exceeded=False,
    wall_exceeded=False,
    output_exceeded=False,
    cpu_seconds=0.01,
    wall_seconds=0.02,
    memory_bytes=1 << 20,
    facts={"mode": "fake"},
)
TIMED_OUT = replace(PASSED, rows=(), exit_status=None, signal=9, wall_exceeded=True, cpu_seconds=0.1)

Script = Callable[[OnStarted, OnRow], Measurement]


class FakeSandbox:
    """Runs what it is given instead of the job: one script per run, the last one again and again."""

    mode = "fake"

    def __init__(self, *scripts: Script | Measurement | Exception) -> None:
        self.scripts = list(scripts)
        self.names: list[str] = []
        self.closed = False

    def run(self, job: Job, *, image: str, name: str, on_started: OnStarted, on_row: OnRow) -> Measurement:
        self.names.append(name)
        script = self.scripts.pop(0) if len(self.scripts) > 1 else self.scripts[0]
        if isinstance(script, Exception):
            raise script
        if isinstance(script, Measurement):
            on_started()
            for row in script.rows:
                on_row(row)
            return script
        return script(on_started, on_row)

    def close(self) -> None:
        self.closed = True


@contextmanager
def sandboxed(
    monkeypatch: pytest.MonkeyPatch, *scripts: Script | Measurement | Exception
) -> Iterator[FakeSandbox]:
    """Let executions of this process run in a fake sandbox; gives it, and the names of containers it was to remove."""
    fake = FakeSandbox(*scripts)
    with monkeypatch.context() as patch:
        patch.setattr(boxes, "sandbox", lambda: fake)
        patch.setattr(boxes, "closing", lambda: fake.closed)
        patch.setattr(boxes, "remove", lambda name: fake.names.append(f"removed {name}"))
        yield fake


def a_job(**changes: object) -> Job:
    """A job with one expected test."""
    job = Job(
        program="def one():\n    return 1\n",
        tests="def test_one():\n    assert one() == 1\n",
        expected=("test_one",),
        limits=Limits.for_cpu(1),
    )
    return replace(job, **changes)


def built_environment() -> Environment:
    """An environment that says it is built."""
    from django.utils import timezone

    return Environment.objects.create(name="plain", image_digest="sha256:0", built_at=timezone.now())


def queued(**columns: object) -> Execution:
    """A queued execution of `a_job`."""
    columns = {"queue": "interactive", **columns}
    made = Execution(environment=built_environment(), job_data=a_job().as_json(), **columns)
    made.save()
    return made
