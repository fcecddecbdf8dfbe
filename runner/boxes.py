"""The sandbox of this process: made on first use, shared by its threads, closed once at the end."""

from __future__ import annotations

import secrets
import threading
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress

from django.conf import settings

from runner.models import Environment, Execution
from runner.sandbox.base import Sandbox, SandboxUnavailable
from runner.sandbox.containers import ColdSandbox
from runner.sandbox.engine import Engine
from runner.sandbox.lines import Lines
from runner.sandbox.pool import Pool
from runner.sandbox.precedence import Precedence

PLAIN = "plain"
WARM = "python"


class Closing(Exception):
    """This process is about to end and runs nothing more."""


class _Process:
    """What the threads of this process share."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.engine: Engine | None = None
        self.sandbox: Sandbox | None = None
        self.lines: Lines | None = None
        self.warm = False
        self.precedence = Precedence()
        self.closing = threading.Event()
        self.alone = 0
        self.nobody_alone = threading.Condition(self.lock)


_process = _Process()


def engine() -> Engine:
    """Return this process's way to the Docker engine; making it touches nothing."""
    if _process.engine is None:
        _process.engine = Engine(base_url=settings.DOCKER_HOST, runtime=settings.RUNNER_DOCKER_RUNTIME)
    return _process.engine


def keep_warm() -> None:
    """Let this process keep boxes waiting from its first run on (workers); without this every box starts cold."""
    _process.warm = True


def sandbox() -> Sandbox:
    """Return the sandbox of this process, made on first use. Raises Closing at the end of the process."""
    if _process.closing.is_set():
        raise Closing
    with _process.lock:
        if _process.sandbox is None:
            _process.sandbox = _pool() if _process.warm else ColdSandbox(engine())
        return _process.sandbox


def _pool() -> Pool:
    return Pool(engine(), warm_sizes(), precedence=_process.precedence)


def precedence(queue: str) -> AbstractContextManager[None]:
    """Return what lets an execution of the interactive queue go first in this process; others go as they come."""
    return _process.precedence.first() if queue == Execution.Queue.INTERACTIVE else nullcontext()


def give_way() -> None:
    """Return when nobody's execution goes first here, or after a moment."""
    _process.precedence.give_way()


def lines() -> Lines:
    """Return the zygotes of this process, made on first use. Raises Closing at the end of the process."""
    if _process.closing.is_set():
        raise Closing
    with _process.lock:
        if _process.lines is None:
            _process.lines = Lines(
                engine(),
                keeper=secrets.token_hex(8),
                at_most=settings.RUNNER_BULK_THREADS,
                precedence=_process.precedence,
            )
        return _process.lines


def close_idle_lines() -> int:
    """Remove zygotes that have waited too long for their owner's next batch, and return how many."""
    return _process.lines.close_idle() if _process.lines is not None else 0


def warm_sizes() -> dict[str, int]:
    """Return how many boxes to keep waiting for each image: the plain one in full, our others half of that.

    Each that a curator asked for has one: there may be many, and the next starts while the first runs.
    A pool's boxes wait in one language; those of the other languages start cold.
    """
    size: int = settings.RUNNER_POOL_SIZE
    built = Environment.objects.filter(language=WARM).exclude(image_digest="")
    sizes = {}
    for name, digest, suite in built.values_list("name", "image_digest", "suite"):
        sizes[digest] = size if name == PLAIN else 1 if suite else max(1, size // 2)
    return sizes


def follow_environments() -> None:
    """Keep boxes for every environment that is built by now; makes the sandbox where there is none yet."""
    place = sandbox()
    if isinstance(place, Pool) and place.sizes != (sizes := warm_sizes()):
        place.keep(sizes)


def waiting() -> dict[str, int]:
    """Return how many boxes wait for a job, by image; empty where none are kept."""
    place = _process.sandbox
    return {image: place.waiting(image) for image in place.sizes} if isinstance(place, Pool) else {}


@contextmanager
def lent(queue: str, *, alone: bool = False) -> Iterator[Sandbox]:
    """Lend the sandbox for one run. Raises Closing.

    Runs of the bulk queue start cold, so that the warm boxes are there for people, and give way before they start.

    While a run is `alone`, runs of the bulk queue wait for it, at most a third of their lease. Interactive ones never
    wait: else anybody's sleeping program would hold up everybody.
    """
    place = sandbox()
    if queue == Execution.Queue.BULK and isinstance(place, Pool):
        place = place.cold
        give_way()
    with _process.nobody_alone:
        if alone:
            _process.alone += 1
        elif queue == Execution.Queue.BULK:
            _process.nobody_alone.wait_for(
                lambda: not _process.alone, timeout=settings.RUNNER_LEASE_SECONDS / 3
            )
    try:
        yield place
    finally:
        if alone:
            with _process.nobody_alone:
                _process.alone -= 1
                _process.nobody_alone.notify_all()


def remove(name: str) -> None:
    """Kill and remove the container of that name; one that is gone is fine."""
    engine().remove(name)


def closing() -> bool:
    """Return whether this process is about to end."""
    return _process.closing.is_set()


def close() -> None:
    """Remove every box of this process, waiting or running; later runs raise Closing."""
    _process.closing.set()
    with _process.lock:
        made = [each for each in (_process.sandbox, _process.lines) if each is not None]
        _process.sandbox = _process.lines = None
    for each in made:
        # Without an engine there is nothing to remove, or it ends by itself when its stdin closes with us.
        with suppress(SandboxUnavailable):
            each.close()
