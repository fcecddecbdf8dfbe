"""The one interface to every place where untrusted code runs, and the job it is given."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any, Protocol

from runner.outcome import Measurement, Row


class SandboxUnavailable(Exception):
    """The provider failed, not the program: no engine, no image, a hung call. The execution is ours to repeat."""


class NotBegun(SandboxUnavailable):
    """No box came up, so no program was tried: a fault that is no try of the execution."""


class NotStarted(NotBegun):
    """This one box did not come up; others may."""


class HostUnfit(NotBegun):
    """No box can be had on this host just now, whatever was to run in it: no engine, no room."""


class ImageAbsent(HostUnfit):
    """The image is not on this host; others may have it."""


@dataclass(frozen=True)
class Limits:
    """What one run may use. Times in seconds, sizes in bytes."""

    cpu_seconds: float
    wall_seconds: float
    memory_bytes: int = 256 << 20
    processes: int = 64
    output_bytes: int = 64 << 10

    @classmethod
    def for_cpu(cls, cpu_seconds: float) -> Limits:
        """Return the limits that follow from a CPU limit: wall = CPU x 2 + 1 s (design.md, "One limit rule")."""
        return cls(cpu_seconds=cpu_seconds, wall_seconds=cpu_seconds * 2 + 1)


@dataclass(frozen=True)
class Canary:
    """A change of one place in a job's tests that makes an expectation wrong: no honest program passes the changed job.

    `part` is "tests" or "block", `start` and `end` count characters in it, `line` lines; `assertion` is None where it is
    none that reports by itself. `outside` says that the host makes the comparison, so that only a run which skips it
    could pass. `kind` is what does the comparing, such as "==" or "assert_allclose": one that was made to do nothing is
    found by a canary of its kind alone.
    """

    test: str
    assertion: int | None
    line: int
    part: str
    start: int
    end: int
    text: str
    outside: bool = False
    kind: str = ""


@dataclass(frozen=True)
class Job:
    """What is to be executed.

    program   the module as the author left it: context with the answer put in, without the tests
    tests     source of the test functions, sent only after the program has loaded; "" for a scratch run
    expected  ids (names) of the test functions that must pass, in order
    block     code run after the tests are defined, as `__main__` (the published block, or a scratch snippet);
              "" lets our own driver call each expected test in turn
    revealed  whether stdout, stderr, messages and values may be kept for the author: true for visible tests and
              scratch runs, false for anything that holds hidden tests (sandbox.md e.7)
    seed      PYTHONHASHSEED of the run
    watch_network  whether the first attempt to use a network is noted in the facts (`network`): seen from inside,
              so it is evidence for a check and never part of an outcome
    inside    whether values are compared with literals in the program's process: for a value that has an `__eq__` of
              its own, which the host cannot ask
    canaries  what to run after all hidden tests have PASSED, one of each kind, to find out about tampering
    """

    program: str
    tests: str
    expected: tuple[str, ...]
    limits: Limits
    block: str = ""
    revealed: bool = False
    seed: int = 0
    language: str = "python"
    watch_network: bool = False
    inside: bool = False
    canaries: tuple[Canary, ...] = ()

    def as_json(self) -> dict[str, Any]:
        """Return the job as plain JSON values; `from_json` gives it back."""
        return asdict(self)

    @classmethod
    def from_json(cls, stored: dict[str, Any]) -> Job:
        """Return the job stored by `as_json`."""
        canaries = tuple(Canary(**each) for each in stored.get("canaries", ()))
        limits = Limits(**stored["limits"])
        return cls(
            **{**stored, "expected": tuple(stored["expected"]), "limits": limits, "canaries": canaries}
        )


OnRow = Callable[[Row], None]
OnStarted = Callable[[], None]


class Sandbox(Protocol):
    """A place that runs one job and forgets it."""

    mode: str

    def run(self, job: Job, *, image: str, name: str, on_started: OnStarted, on_row: OnRow) -> Measurement:
        """Run the job in an image (by digest) and return what happened; rows are also reported as they arrive.

        `name` names the container and carries the claim. Raises SandboxUnavailable when the provider failed.
        """
        ...

    def close(self) -> None:
        """Give back everything the sandbox holds."""
        ...
