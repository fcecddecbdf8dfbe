"""Runs many samples in sandboxes of this process, without the database, and gives what came of each as it comes."""

from __future__ import annotations

import secrets
import threading
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from queue import SimpleQueue

from runner.execution import waited
from runner.outcome import Measurement, Outcome, Row, judge
from runner.reproducing.base import Sample
from runner.sandbox.base import Job, Sandbox, SandboxUnavailable

TRIES = 3


@dataclass(frozen=True)
class Result:
    """What came of one sample; `outcome` is None where we failed to run it, `reason` then says why."""

    id: str
    recorded: bool | None
    outcome: Outcome | None
    cpu_seconds: float = 0.0
    wall_seconds: float = 0.0
    memory_bytes: int = 0
    mode: str = ""
    reason: str = ""

    @property
    def passed(self) -> bool:
        """Return whether the sample passed."""
        return self.outcome is Outcome.PASSED

    @property
    def as_recorded(self) -> bool:
        """Return whether the verdict is the one that was published; a sample without one differs from nothing."""
        return self.recorded is None or self.recorded == self.passed


def run_all(
    samples: Iterable[Sample], *, image: str, sandboxes: Sequence[Sandbox], alone: Sandbox
) -> Iterator[Result]:
    """Yield a result for each sample, as they end; each sandbox runs one job at a time.

    A run that only the machine's slowness ended (`runner.execution.waited`) is repeated in `alone` when all others
    have ended, as an execution would be.
    """
    again: list[Sample] = []
    for sample, result, measurement in _together(samples, image, sandboxes):
        if measurement is not None and waited(
            measurement, judge(measurement, sample.job.expected), sample.job
        ):
            again.append(sample)
        else:
            yield result
    for sample in again:
        yield _run(sample, image, alone)[0]


def _together(
    samples: Iterable[Sample], image: str, sandboxes: Sequence[Sandbox]
) -> Iterator[tuple[Sample, Result, Measurement | None]]:
    """Yield what came of each sample, one thread for each sandbox; an error of the reader is raised here."""
    source, lock = iter(samples), threading.Lock()
    ended: SimpleQueue[tuple[Sample, Result, Measurement | None] | BaseException | None] = SimpleQueue()
    stopped = threading.Event()

    def work(sandbox: Sandbox) -> None:
        try:
            while not stopped.is_set():
                with lock:
                    sample = next(source, None)
                if sample is None:
                    return
                ended.put((sample, *_run(sample, image, sandbox)))
        except BaseException as error:
            ended.put(error)
        finally:
            ended.put(None)

    threads = [threading.Thread(target=work, args=(sandbox,), daemon=True) for sandbox in sandboxes]
    for thread in threads:
        thread.start()
    left = len(threads)
    try:
        while left:
            item = ended.get()
            if isinstance(item, BaseException):
                raise item
            if item is None:
                left -= 1
            else:
                yield item
    finally:
        stopped.set()


def _run(sample: Sample, image: str, sandbox: Sandbox) -> tuple[Result, Measurement | None]:
    """Run one sample, again where the provider failed; the result without an outcome says why there is none."""
    reason = ""
    for _ in range(TRIES):
        try:
            measurement = _measured(sample.job, image, sandbox)
        except SandboxUnavailable as error:
            reason = str(error)
            continue
        judgement = judge(measurement, sample.job.expected)
        return Result(
            sample.id,
            sample.recorded,
            judgement.outcome,
            round(measurement.cpu_seconds, 4),
            round(measurement.wall_seconds, 4),
            measurement.memory_bytes,
            measurement.facts.get("mode", sandbox.mode),
        ), measurement
    return Result(sample.id, sample.recorded, None, mode=sandbox.mode, reason=reason), None


def _unheard(_: Row) -> None:
    """Rows are of no use here: the measurement holds them all."""


def _measured(job: Job, image: str, sandbox: Sandbox) -> Measurement:
    name = f"benchwright-reproduce-{secrets.token_hex(8)}"
    return sandbox.run(job, image=image, name=name, on_started=lambda: None, on_row=_unheard)
