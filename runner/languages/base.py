"""What a language must tell the sandbox: how to start its supervisor, and how a job's tests travel."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol, runtime_checkable

from runner.comparing import Comparator
from runner.languages.pid_one import PidOne
from runner.sandbox.base import Canary, Job


@dataclass(frozen=True)
class PlannedAssertion:
    """An assertion a test function holds, whether it is reached or not.

    comparator  what the host compares the value with that the process tells; None where the process says how it came out
    certain     whether it was evaluated whenever the test has ended well
    """

    test: str
    assertion: int
    line: int
    comparator: Comparator | None = None
    certain: bool = False


class CanaryPlan(NamedTuple):
    """Whether a job's tests need a canary, and the changes of them that may serve, the most telling first."""

    needed: bool
    candidates: tuple[Canary, ...]


@runtime_checkable
class Doubting(Protocol):
    """A language that can make an expectation of its tests wrong."""

    def canaries(self, job: Job) -> CanaryPlan:
        """Return what may serve as canaries of the job."""
        ...


class Prepared(Protocol):
    """A job's tests, ready to be sent."""

    @property
    def planned(self) -> tuple[PlannedAssertion, ...]:
        """Return the assertions that stand in the expected tests, in source order."""
        ...

    @property
    def build_seconds(self) -> float:
        """Return the CPU seconds that building the program and its tests may take, beside the limits; 0 to build nothing."""
        ...

    def payload(self, run: Sequence[str]) -> bytes:
        """Return the bytes for the program's process; `run` are the ids still to be run."""
        ...


class Language(Protocol):
    """One profile per language.

    executes       whether a file that is made in the box must be able to run: /work is then mounted without noexec
    memory_bytes   what a box needs at least for the language's own tools, 0 where any limit will do
    """

    name: str
    executes: bool
    memory_bytes: int

    def pid_one(self) -> PidOne:
        """Return what pid 1 of a box for this language executes."""
        ...

    def environment(self, seed: int) -> dict[str, str]:
        """Return the environment variables this language needs for reproducible runs."""
        ...

    def prepare(self, job: Job) -> Prepared:
        """Return the job's tests as this language's process takes them."""
        ...
