"""Bulk: one container for the samples of one owner, a confined process for each sample, one after the other."""

from __future__ import annotations

import json
import time
from collections import deque
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from typing import Protocol, cast, runtime_checkable

import structlog

from runner.languages import language
from runner.languages.pid_one import PidOne
from runner.outcome import Measurement
from runner.sandbox.base import Job, SandboxUnavailable
from runner.sandbox.conversation import SILENT, SLACK_SECONDS, Conversation
from runner.sandbox.engine import Box, Engine
from runner.sandbox.inside.streams import Capture, Facts, Rows
from runner.sandbox.inside.zygote import HEADER, KIND_ERR, KIND_OUT, KIND_ROWS
from runner.sandbox.precedence import Precedence
from runner.sandbox.settings import BoxSettings
from runner.sandbox.stream import BoxStream, StreamTimeout

LANDLOCK, NAMESPACES = "zygote", "zygote-userns"
# Samples sent ahead, so that the container never waits for us.
WINDOW = 3
# After so many samples a container is replaced, so that nothing can gather in it.
SAMPLES = 1000
SUCCESSOR_AT = 900
LIFE_SECONDS = 3600.0
TICK_SECONDS = 1.0
# Of 1024: beside it interactive boxes get the processor whenever they want it.
CPU_SHARES = 256

log = structlog.get_logger(__name__)


@runtime_checkable
class Forking(Protocol):
    """A language whose programs can be run in forks of one process."""

    def zygote(self, mode: str) -> PidOne:
        """Return what pid 1 of a zygote executes."""
        ...


def runs_in_forks(kind: Kind) -> bool:
    """Return whether programs of a kind can be run in forks of one process."""
    return isinstance(language(kind.language), Forking)


@dataclass(frozen=True)
class Kind:
    """What two samples must have in common to be run in one container."""

    image: str
    language: str
    seed: int
    memory_bytes: int
    processes: int

    @classmethod
    def of(cls, job: Job, image: str) -> Kind:
        """Return the kind of container that a job needs."""
        return cls(image, job.language, job.seed, job.limits.memory_bytes, job.limits.processes)


@dataclass(frozen=True)
class Ran:
    """What came of the job at this place; no measurement where its container ended without a word of it."""

    place: int
    measurement: Measurement | None
    seconds: float = 0.0


class Sample(Conversation):
    """The host's side of one sample: what is sent for its next process, and what came back."""

    def __init__(self, place: int, job: Job) -> None:
        nobody = cast(BoxStream, None)  # it never speaks by itself: the line does, for all that are in flight
        super().__init__(nobody, job, language(job.language).prepare(job), lambda _row: None)
        self.place = place
        self.cpu_spent = self.wall_spent = self.cpu_counted = 0.0
        self.denied = False

    def entry(self) -> bytes:
        """Return the bytes a zygote reads for the next process: header, sheet of the program, tests."""
        limits, first, revealed = self.job.limits, not self.ends, self.job.revealed
        self.loading, self.testing = Rows(), Rows()
        self.raw = bytearray()
        keep = limits.output_bytes if first or revealed else 0
        self.out, self.err = Capture(keep), Capture(keep)
        sheet = json.dumps(self.header()).encode()
        tests = self.testing.key + self.prepared.payload(self._remaining())
        cpu = min(limits.cpu_seconds, 2 * limits.cpu_seconds - self.cpu_counted)
        wall = limits.wall_seconds - self.wall_spent
        head = HEADER.pack(len(sheet), len(tests), cpu, wall, keep > 0, revealed, self.loading.key)
        return head + sheet + tests

    def starts(self) -> None:
        """Note that the container comes to this sample now."""
        self.began = time.monotonic()

    @property
    def deadline(self) -> float:
        """Return when the container must have spoken."""
        return self.began + self.job.limits.wall_seconds - self.wall_spent + SLACK_SECONDS

    def take(self, kind: str, data: bytes) -> None:
        """Take raw bytes of the process: rows, or what it printed."""
        if kind == KIND_ROWS.decode():
            self.raw += data
        elif kind == KIND_OUT.decode():
            self.out.feed(data)
        elif kind == KIND_ERR.decode():
            self.err.feed(data)
        else:
            raise SandboxUnavailable(f"The zygote sent {kind!r}, which it should not.")

    def conclude(self, facts: Facts) -> bool:
        """Take the facts of the process's end; return whether the run is over."""
        load_error = ""
        for row in (self.testing if facts["loaded"] else self.loading).feed(bytes(self.raw)):
            if facts["loaded"]:
                self._row(row)
            elif not self.ends:
                load_error = str(row.get("load_error", load_error))
                self.denied |= PermissionError.__name__ in load_error
        self.cpu_counted += min(facts["cpu_seconds"], self.job.limits.cpu_seconds)
        self.cpu_spent += facts["cpu_seconds"]
        self.wall_spent += facts["wall_seconds"]
        whole = {"cpu_seconds": self.cpu_spent, "wall_seconds": self.wall_spent, "load_error": load_error}
        printed = {"stdout": self.out.text(), "stderr": self.err.text()}
        self.ends.append(self._measurement(facts | whole | printed))
        return not self._goes_on()

    def _row(self, said: Facts) -> None:
        self.denied |= said.get("denied") is True
        super()._row(said)

    def overdue(self) -> None:
        """Note that the container did not keep the wall limit and was killed."""
        self.ends.append(self._overdue())

    def sum(self, facts: dict[str, str]) -> Measurement:
        """Return what was measured, of all processes together; `denied` is a fact where a PermissionError ended any."""
        return self._sum(facts | ({"denied": "yes"} if self.denied else {}))


class Line:
    """The containers of one owner, one at a time, and the samples in flight. For one thread.

    Sends nothing ahead while a run has precedence, so that the container is idle after the few it has.
    """

    def __init__(
        self, engine: Engine, mode: str, kind: Kind, *, keeper: str, precedence: Precedence | None = None
    ) -> None:
        self.engine, self.mode, self.kind, self.keeper = engine, mode, kind, keeper
        self.precedence = precedence or Precedence()
        self.used_at = time.monotonic()
        self._box: Box | None = None
        self._sent = 0
        self._outgoing = bytearray()
        self._successor: Future[Box] | None = None
        self._helper = ThreadPoolExecutor(1, thread_name_prefix="zygote")
        self._coming: Iterator[Sample] = iter(())
        self._waiting: deque[Sample] = deque()
        self._flight: deque[Sample] = deque()

    def run(self, jobs: Sequence[Job]) -> Iterator[Ran | None]:
        """Run the jobs and yield what came of each as it ends, in any order; None when there is nothing new.

        None comes at least once a second. Raises SandboxUnavailable when no container can be had; a job that was not
        yielded by then has not run to its end.
        """
        self._coming = (Sample(place, job) for place, job in enumerate(jobs))
        self._waiting.clear()
        self._flight.clear()
        while True:
            box = self._fill()
            if box is None:
                self.used_at = time.monotonic()
                return
            try:
                yield self._step(box)
            except SandboxUnavailable as error:
                head = self._flight.popleft()
                log.warning(
                    "zygote.lost", mode=self.mode, reason=str(error), ended=self.engine.how_it_ended(box.id)
                )
                self._drop()
                yield Ran(head.place, None)

    def is_fit(self) -> bool:
        """Return whether the container that waits for the next jobs, if there is one, is alive."""
        return self._box is None or self._box.stream.is_quiet()

    def close(self) -> None:
        """Remove the container, and the one that was to follow it."""
        self._drop()
        if self._successor is not None:
            with suppress(SandboxUnavailable):
                self.engine.dispose(self._successor.result())
            self._successor = None
        self._helper.shutdown()

    def _fill(self) -> Box | None:
        """Send samples ahead and return the container they are in; None when none is left. Raises SandboxUnavailable."""
        if self._box is not None and self._sent >= SAMPLES and not self._flight:
            self._drop()
        if not self._flight:
            self.precedence.give_way()
        elif self.precedence.left_seconds():
            return self._box
        while len(self._flight) < WINDOW and (self._box is None or self._sent < SAMPLES):
            sample = self._waiting.popleft() if self._waiting else next(self._coming, None)
            if sample is None:
                break
            self._waiting.appendleft(sample)  # where it stays when no container can be had
            if self._box is None:
                self._box = self._started()
            self._outgoing += self._waiting.popleft().entry()
            self._sent += 1
            self._flight.append(sample)
            if len(self._flight) == 1:
                sample.starts()
            if self._sent == SUCCESSOR_AT:
                self._successor = self._helper.submit(self._start)
        return self._box if self._flight else None

    def _step(self, box: Box) -> Ran | None:
        """Take the container's next frame; return what came of a sample where that ends its run."""
        head = self._flight[0]
        try:
            frame = box.stream.exchange(
                self._outgoing, until=min(head.deadline, time.monotonic() + TICK_SECONDS)
            )
        except StreamTimeout:
            return self._overdue(box) if time.monotonic() >= head.deadline else None
        if frame["kind"] != "done":
            head.take(frame["kind"], frame.get("data", b""))
            return None
        over = head.conclude(frame["facts"])
        self._flight.popleft()
        if frame["leaving"]:
            self._drop()
        elif self._flight:
            self._flight[0].starts()
        if over:
            return self._ran(head, box)
        self._waiting.appendleft(head)  # its other tests, in a fresh process
        return None

    def _overdue(self, box: Box) -> Ran:
        """Kill a container that did not keep a wall limit, which then decides. Raises SandboxUnavailable.

        One that had ended by itself did not break a limit: the engine went silent, and no program is to blame.
        """
        if not self.engine.kill(box):
            raise SandboxUnavailable(SILENT)
        head = self._flight.popleft()
        self._drop()
        head.overdue()
        return self._ran(head, box)

    def _ran(self, sample: Sample, box: Box) -> Ran:
        facts = box.facts | {"mode": self.mode, "seed": str(sample.job.seed)}
        return Ran(sample.place, sample.sum(facts), time.monotonic() - sample.began)

    def _drop(self) -> None:
        """Give up the container; samples it has not come to wait for the next one."""
        self._waiting.extendleft(reversed(self._flight))
        self._flight.clear()
        self._outgoing.clear()
        box, self._box, self._sent = self._box, None, 0
        if box is not None:
            box.stream.close()
            try:
                self._helper.submit(self.engine.dispose, box)
            except RuntimeError:  # the interpreter ends and starts no further thread
                self.engine.dispose(box)

    def _started(self) -> Box:
        """Return the container that was started ahead, else a new one. Raises SandboxUnavailable."""
        ahead, self._successor = self._successor, None
        if ahead is not None:
            box = ahead.result()
            if box.stream.is_quiet():
                return box
            self.engine.dispose(box)
        return self._start()

    def _start(self) -> Box:
        kind, spoken = self.kind, language(self.kind.language)
        if not isinstance(spoken, Forking):
            raise SandboxUnavailable(f"Programs in {kind.language} are not run in forks of one process.")
        settings = BoxSettings(
            image=kind.image,
            language=spoken,
            seed=kind.seed,
            memory_bytes=kind.memory_bytes,
            processes=kind.processes,
            runtime=self.engine.runtime,
            zygote=spoken.zygote(self.mode),
            cpu_shares=CPU_SHARES,
            namespaces=self.mode == NAMESPACES,
        )
        return self.engine.start(settings, keeper=self.keeper, life_seconds=LIFE_SECONDS)
