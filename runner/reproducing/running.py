"""Runs many samples in places of this process and gives what came of each as it comes."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from queue import SimpleQueue
from typing import NamedTuple, Protocol

from runner.outcome import Outcome
from runner.reproducing.base import Sample
from runner.sandbox.base import Job

TRIES = 3


class Came(NamedTuple):
    """What came of one of several jobs: its number among them, its outcome, or the reason why there is none.

    `doubtful` says that only the machine's slowness may have decided, so that it is to be run once more, alone.
    """

    number: int
    outcome: Outcome | None
    cpu_seconds: float = 0.0
    wall_seconds: float = 0.0
    memory_bytes: int = 0
    mode: str = ""
    reason: str = ""
    doubtful: bool = False


class Place(Protocol):
    """Where jobs run, one after the other; used by one thread."""

    @property
    def takes(self) -> int:
        """Return how many jobs it is best given at a time."""
        ...

    def run(self, jobs: Sequence[Job]) -> Iterator[Came]:
        """Yield what came of each job, as they end."""
        ...


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


def run_all(samples: Iterable[Sample], *, places: Sequence[Place], alone: Place) -> Iterator[Result]:
    """Yield a result for each sample, as they end; each place is used by a thread of its own.

    What could not be run, and what only the machine's slowness may have ended, is run once more in `alone` when all
    others have ended, as an execution would be.
    """
    again: list[Sample] = []
    for sample, came in _together(samples, places):
        if came.outcome is None or came.doubtful:
            again.append(sample)
        else:
            yield _result(sample, came)
    for sample in again:
        yield _result(sample, _tried(sample, alone))


def _together(samples: Iterable[Sample], places: Sequence[Place]) -> Iterator[tuple[Sample, Came]]:
    """Yield what came of each sample, one thread for each place; an error of the reader is raised here."""
    source, lock = iter(samples), threading.Lock()
    ended: SimpleQueue[tuple[Sample, Came] | BaseException | None] = SimpleQueue()
    stopped = threading.Event()

    def work(place: Place) -> None:
        try:
            while not stopped.is_set():
                with lock:
                    batch = list(islice(source, place.takes))
                if not batch:
                    return
                for came in place.run([sample.job for sample in batch]):
                    ended.put((batch[came.number], came))
        except BaseException as error:
            ended.put(error)
        finally:
            ended.put(None)

    threads = [threading.Thread(target=work, args=(place,), daemon=True) for place in places]
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
        for thread in threads:
            thread.join()


def _tried(sample: Sample, place: Place) -> Came:
    """Return what came of a sample at the first try that did not fail on our side, else of the last one."""
    came = Came(0, None)
    for _ in range(TRIES):
        (came,) = place.run([sample.job])
        if came.outcome is not None:
            break
    return came


def _result(sample: Sample, came: Came) -> Result:
    measured = round(came.cpu_seconds, 4), round(came.wall_seconds, 4), came.memory_bytes
    return Result(sample.id, sample.recorded, came.outcome, *measured, mode=came.mode, reason=came.reason)
