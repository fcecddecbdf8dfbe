"""The zygotes of this process: lent to one batch at a time, kept a while for the next one of the same owner."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from runner.sandbox.base import SandboxUnavailable
from runner.sandbox.engine import Engine
from runner.sandbox.precedence import Precedence
from runner.sandbox.zygote import Kind, Line

IDLE_SECONDS = 15.0


@dataclass(frozen=True)
class Owner:
    """Whose samples a container runs, and how: two owners never share one, one after the other neither."""

    scope: str
    mode: str
    kind: Kind


class Lines:
    """Safe to use from several threads; `at_most` counts the lines that wait for their owner's next batch."""

    def __init__(
        self, engine: Engine, *, keeper: str, at_most: int, precedence: Precedence | None = None
    ) -> None:
        self.engine, self.keeper, self.at_most = engine, keeper, at_most
        self.precedence = precedence or Precedence()
        self._idle: list[tuple[Owner, Line]] = []
        self._lock = threading.Lock()
        self._closed = False

    @contextmanager
    def lent(self, owner: Owner) -> Iterator[Line]:
        """Lend the owner a line of its own for one batch."""
        line = self._take(owner) or Line(
            self.engine, owner.mode, owner.kind, keeper=self.keeper, precedence=self.precedence
        )
        try:
            yield line
        except BaseException:
            line.close()
            raise
        self._keep(owner, line)

    def close_idle(self, *, seconds: float = IDLE_SECONDS) -> int:
        """Remove the containers nobody has used for so long, and return how many lines that were."""
        oldest = time.monotonic() - seconds
        with self._lock:
            idle = [pair for pair in self._idle if pair[1].used_at <= oldest]
            self._idle = [pair for pair in self._idle if pair not in idle]
        for _, line in idle:
            line.close()
        return len(idle)

    def close(self) -> None:
        """Remove every container, lent or not: a batch that still runs ends with SandboxUnavailable. Raises that, too."""
        with self._lock:
            self._closed = True
        self.close_idle(seconds=0)
        self.engine.remove_all(self.keeper)

    def _take(self, owner: Owner) -> Line | None:
        with self._lock:
            if self._closed:
                raise SandboxUnavailable("This process is about to end.")
            for pair in self._idle:
                if pair[0] == owner:
                    self._idle.remove(pair)
                    break
            else:
                return None
        if pair[1].is_fit():
            return pair[1]
        pair[1].close()
        return None

    def _keep(self, owner: Owner, line: Line) -> None:
        """Let the line wait for its owner's next batch; the one that has waited longest gives way."""
        with self._lock:
            surplus = [line] if self._closed else []
            if not self._closed:
                self._idle.append((owner, line))
                while len(self._idle) > self.at_most:
                    surplus.append(self._idle.pop(0)[1])
        for each in surplus:
            each.close()
