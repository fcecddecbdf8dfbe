"""Who goes first in a process: a run that somebody watches, before work that nobody waits for from moment to moment."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

# How long after its beginning a run goes first: a short run ends within it, and a long one does not need all cores.
FIRST_SECONDS = 0.5
# How long other work gives way at once: where people run programs without a pause it still goes on, a little at a time.
GIVE_WAY_SECONDS = 0.5


class Precedence:
    """Runs that go first, and a place where other work of the process waits for them. Safe to use from several threads.

    Both share two cores, the engine and the interpreter's lock: weights of the processor alone do not keep a sample's
    frames and a box's making from standing in the way of a run that takes 20 ms.
    """

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._until: dict[object, float] = {}

    @contextmanager
    def first(self) -> Iterator[None]:
        """Let a run go first, from now until it ends, `FIRST_SECONDS` at most."""
        run = object()
        with self._changed:
            self._until[run] = time.monotonic() + FIRST_SECONDS
        try:
            yield
        finally:
            with self._changed:
                del self._until[run]
                self._changed.notify_all()

    def left_seconds(self) -> float:
        """Return for how long at most a run still goes first; 0 where none does."""
        with self._changed:
            return self._left()

    def give_way(self) -> None:
        """Return when no run goes first any more, after `GIVE_WAY_SECONDS` at the latest."""
        end = time.monotonic() + GIVE_WAY_SECONDS
        with self._changed:
            while (left := min(self._left(), end - time.monotonic())) > 0:
                self._changed.wait(left)

    def _left(self) -> float:
        return max(0.0, max(self._until.values(), default=0.0) - time.monotonic())
