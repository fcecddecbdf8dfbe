"""The places a reproduction runs in: those of this process alone, given back at its end."""

from __future__ import annotations

import secrets
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from typing import NamedTuple, Protocol

from runner import boxes
from runner.execution import waited
from runner.outcome import Measurement, Row, judge
from runner.reproducing.running import Came, Place
from runner.sandbox.base import Job, Sandbox, SandboxUnavailable
from runner.sandbox.containers import MODE as SINGLE
from runner.sandbox.containers import ColdSandbox
from runner.sandbox.engine import Engine
from runner.sandbox.pool import Pool
from runner.sandbox.reach import fits
from runner.sandbox.zygote import LANDLOCK, NAMESPACES, Kind, Line

MODES = (LANDLOCK, NAMESPACES, SINGLE)
SAID = {
    SINGLE: "a container for each program",
    LANDLOCK: "one container, a confined fork for each program",
    NAMESPACES: "one container, a fork in namespaces of its own for each program",
}
BATCH = 100


class Measured(NamedTuple):
    """What was measured of one of several jobs, or why nothing was."""

    number: int
    measurement: Measurement | None
    reason: str = ""


class Measuring(Protocol):
    """Runs jobs and measures."""

    @property
    def takes(self) -> int:
        """Return how many jobs it is best given at a time."""
        ...

    def measure(self, jobs: Sequence[Job]) -> Iterator[Measured]:
        """Yield what was measured of each job, as they end."""
        ...


@dataclass(frozen=True)
class Judged:
    """A place that judges what is measured, as an execution would, without the database."""

    measuring: Measuring

    @property
    def takes(self) -> int:
        """Return how many jobs it is best given at a time."""
        return self.measuring.takes

    def run(self, jobs: Sequence[Job]) -> Iterator[Came]:
        """Yield what came of each job; one whose value could not be compared outside its process runs again inside."""
        inside = []
        for number, measurement, reason in self.measuring.measure(jobs):
            if measurement is not None and measurement.opaque:
                inside.append(number)
            else:
                yield _judged(number, jobs[number], measurement, reason)
        again = [replace(jobs[number], inside=True) for number in inside]
        for at, measurement, reason in self.measuring.measure(again) if again else ():
            yield _judged(inside[at], again[at], measurement, reason)


class Boxes:
    """A container for each job."""

    takes = 1

    def __init__(self, sandbox: Sandbox, image: str) -> None:
        self.sandbox, self.image = sandbox, image

    def measure(self, jobs: Sequence[Job]) -> Iterator[Measured]:
        """Yield what was measured of each job, one after the other."""
        for number, job in enumerate(jobs):
            name = f"benchwright-reproduce-{secrets.token_hex(8)}"
            try:
                measurement = self.sandbox.run(
                    job, image=self.image, name=name, on_started=_started, on_row=_unheard
                )
            except SandboxUnavailable as error:
                yield Measured(number, None, str(error))
            else:
                yield Measured(number, measurement)


class Forks:
    """A container that forks for each job, renewed by itself; what a fork has not is left to another place."""

    takes = BATCH

    def __init__(self, engine: Engine, mode: str, image: str, keeper: str) -> None:
        self.engine, self.mode, self.image, self.keeper = engine, mode, image, keeper
        self.lines: dict[Kind, Line] = {}

    def measure(self, jobs: Sequence[Job]) -> Iterator[Measured]:
        """Yield what was measured of each job; those that fit are of one kind."""
        left = [number for number, job in enumerate(jobs) if fits(job, self.mode)]
        for number in set(range(len(jobs))).difference(left):
            yield Measured(number, None, f"It needs what the mode {self.mode} has not.")
        if not left:
            return
        open_ = set(left)
        try:
            for ran in self._line(jobs[left[0]]).run([jobs[number] for number in left]):
                if ran is not None:
                    open_.remove(left[ran.place])
                    yield Measured(left[ran.place], ran.measurement, "Its container ended without a word.")
        except SandboxUnavailable as error:
            for number in sorted(open_):
                yield Measured(number, None, str(error))

    def _line(self, job: Job) -> Line:
        kind = Kind.of(job, self.image)
        if kind not in self.lines:
            self.lines[kind] = Line(self.engine, self.mode, kind, keeper=self.keeper)
        return self.lines[kind]

    def close(self) -> None:
        """Remove the containers."""
        for line in self.lines.values():
            line.close()


@dataclass(frozen=True)
class Places:
    """Where samples run, where they run alone, and what to say of it."""

    together: Sequence[Place]
    alone: Place
    said: str


@contextmanager
def places(mode: str, image: str, at_once: int) -> Iterator[Places]:
    """Lend places of a mode for so many programs at once."""
    engine, said = boxes.engine(), f"mode {mode}: {SAID[mode]}; {at_once} at once"
    with ExitStack() as stack:
        cold = ColdSandbox(engine)
        stack.callback(cold.close)
        alone = Judged(Boxes(cold, image))
        if mode == SINGLE:
            pool = Pool(engine, {image: 2 * at_once})
            stack.callback(pool.close)
            yield Places([Judged(Boxes(pool, image))] * at_once, alone, said)
            return
        forks = [Forks(engine, mode, image, cold.keeper) for _ in range(at_once)]
        for each in forks:
            stack.callback(each.close)
        yield Places([Judged(each) for each in forks], alone, said)


def _judged(number: int, job: Job, measurement: Measurement | None, reason: str) -> Came:
    if measurement is None:
        return Came(number, None, reason=reason)
    judgement = judge(measurement, job.expected)
    return Came(
        number,
        judgement.outcome,
        measurement.cpu_seconds,
        measurement.wall_seconds,
        measurement.memory_bytes,
        measurement.facts.get("mode", ""),
        doubtful=waited(measurement, judgement, job),
    )


def _started() -> None:
    """Nobody waits for the start."""


def _unheard(_: Row) -> None:
    """Rows are of no use here: the measurement holds them all."""
