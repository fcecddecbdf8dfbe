"""The places a reproduction runs in: those of this process alone, given back at its end."""

from __future__ import annotations

import secrets
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass

from runner import boxes
from runner.outcome import Row
from runner.reproducing.running import Came, Place
from runner.sandbox.base import Job, Sandbox, SandboxUnavailable
from runner.sandbox.containers import MODE as SINGLE
from runner.sandbox.containers import ColdSandbox
from runner.sandbox.engine import Engine
from runner.sandbox.pool import Pool
from runner.sandbox.zygote import LANDLOCK, NAMESPACES, Kind, Line

MODES = (LANDLOCK, NAMESPACES, SINGLE)
SAID = {
    SINGLE: "a container for each program",
    LANDLOCK: "one container, a confined fork for each program",
    NAMESPACES: "one container, a fork in namespaces of its own for each program",
}
BATCH = 100


@dataclass(frozen=True)
class Boxes:
    """A container for each job."""

    sandbox: Sandbox
    image: str
    takes: int = 1

    @property
    def mode(self) -> str:
        """Return the sandbox's mode."""
        return self.sandbox.mode

    def run(self, jobs: Sequence[Job]) -> Iterator[Came]:
        """Yield what came of each job, one after the other."""
        for number, job in enumerate(jobs):
            name = f"benchwright-reproduce-{secrets.token_hex(8)}"
            try:
                measured = self.sandbox.run(
                    job, image=self.image, name=name, on_started=_started, on_row=_unheard
                )
            except SandboxUnavailable as error:
                yield Came(number, None, str(error))
            else:
                yield Came(number, measured)


class Forks:
    """A container that forks for each job, renewed by itself."""

    takes = BATCH

    def __init__(self, engine: Engine, mode: str, image: str, keeper: str) -> None:
        self.engine, self.mode, self.image, self.keeper = engine, mode, image, keeper
        self.lines: dict[Kind, Line] = {}

    def run(self, jobs: Sequence[Job]) -> Iterator[Came]:
        """Yield what came of each job; all of them are of one kind."""
        kind = Kind.of(jobs[0], self.image)
        if kind not in self.lines:
            self.lines[kind] = Line(self.engine, self.mode, kind, keeper=self.keeper)
        left = set(range(len(jobs)))
        try:
            for ran in self.lines[kind].run(jobs):
                if ran is not None:
                    left.remove(ran.place)
                    yield Came(ran.place, ran.measurement, "The container ended without a word.")
        except SandboxUnavailable as error:
            for number in sorted(left):
                yield Came(number, None, str(error))

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
        if mode == SINGLE:
            pool = Pool(engine, {image: 2 * at_once})
            stack.callback(pool.close)
            yield Places([Boxes(pool, image)] * at_once, Boxes(cold, image), said)
            return
        forks = [Forks(engine, mode, image, cold.keeper) for _ in range(at_once)]
        for each in forks:
            stack.callback(each.close)
        yield Places(forks, Boxes(cold, image), said)


def _started() -> None:
    """Nobody waits for the start."""


def _unheard(_: Row) -> None:
    """Rows are of no use here: the measurement holds them all."""
