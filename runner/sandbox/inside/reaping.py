"""The process that is watched and all it leaves behind: collected as they die, killed at the end, and what that tells."""

from __future__ import annotations

import os
import signal
import time
from contextlib import suppress

from runner.sandbox.inside.counting import Clock
from runner.sandbox.inside.streams import Facts

SWEEP_SECONDS = 0.0005


class Watched:
    """A forked process; this one is pid 1, so that whatever it starts and leaves is collected here, too."""

    def __init__(self, pid: int) -> None:
        self.pid = pid
        self.status = 0
        self.ended = False
        self.exited = False  # by itself, before all was killed
        self.peak_kib = 0  # the most that one process of those collected has held

    def reap(self) -> bool:
        """Collect the dead, ours and orphans; return whether any process is left."""
        while True:
            try:
                pid, status, used = os.wait4(-1, os.WNOHANG)
            except ChildProcessError:
                return False
            if pid == 0:
                return True
            self.peak_kib = max(self.peak_kib, used.ru_maxrss)
            if pid == self.pid:
                self.status, self.ended = status, True

    def sweep(self) -> float:
        """Kill and collect everything but this process, which the kernel spares as pid 1; return the seconds it took."""
        self.exited, began, alive = self.ended, time.monotonic(), True
        while alive:
            with suppress(ProcessLookupError):
                os.kill(-1, signal.SIGKILL)
            alive = self.reap()
            if alive:
                time.sleep(SWEEP_SECONDS)
        self.ended = True
        return time.monotonic() - began

    def facts(self, clock: Clock, broken: set[str]) -> Facts:
        """Return how it ended: exit status or signal, the limits it broke (added to `broken` where the kernel did it), times."""
        code = os.waitstatus_to_exitcode(self.status) if self.exited else None
        if code in (-signal.SIGKILL, -signal.SIGXCPU) and "cpu" in clock.passed():
            broken.add("cpu")
            code = None
        return {
            "exit_status": code if code is not None and code >= 0 else None,
            "signal": -code if code is not None and code < 0 else None,
            "cpu_exceeded": "cpu" in broken,
            "wall_exceeded": "wall" in broken,
            "output_exceeded": "output" in broken,
            "cpu_seconds": clock.cpu(),
            "wall_seconds": clock.wall(),
        }
