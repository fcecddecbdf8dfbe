"""A process that the parent keeps alive: started, restarted with growing pauses, ended."""

from __future__ import annotations

import ctypes
import os
import signal
import subprocess
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from config.privileges import Account

PR_SET_PDEATHSIG = 1
FIRST_PAUSE_SECONDS = 0.5
LONGEST_PAUSE_SECONDS = 30.0
# A child that lived this long was well: its next restart is quick again.
WELL_SECONDS = 60.0


@dataclass
class Child:
    """A command, and the process that runs it now."""

    name: str
    command: Sequence[str]
    environment: Mapping[str, str]
    account: Account | None = None
    handed: Sequence[int] = ()
    patience_seconds: float = 10.0
    process: subprocess.Popen[bytes] | None = None
    _began: float = field(default=0.0)
    _pause: float = field(default=FIRST_PAUSE_SECONDS)
    _again_at: float | None = field(default=None)

    def start(self) -> None:
        """Start the process in a session of its own; the kernel ends it should its parent be killed."""
        parent = os.getpid()
        self._began, self._again_at = time.monotonic(), None
        self.process = subprocess.Popen(
            [*(self.account.entrance if self.account else ()), *self.command],
            env=dict(self.environment),
            stdin=subprocess.DEVNULL,
            pass_fds=self.handed,
            start_new_session=True,
            # Safe here, since this parent has no other thread: nothing can hold a lock at the fork.
            preexec_fn=lambda: _end_with(parent),
        )

    @property
    def is_alive(self) -> bool:
        """Return whether the process runs."""
        return self.process is not None and self.process.poll() is None

    def restart_if_dead(self) -> None:
        """Start the process again where it has ended, after a pause that doubles each time."""
        if self.is_alive:
            return
        now = time.monotonic()
        if self._again_at is None:
            well = now - self._began > WELL_SECONDS
            self._pause = FIRST_PAUSE_SECONDS if well else min(self._pause * 2, LONGEST_PAUSE_SECONDS)
            self._again_at = now + self._pause
            status = self.process.returncode if self.process else None
            print(f"benchwright: {self.name} ended ({status}); again in {self._pause:.0f} s.", flush=True)
        elif now >= self._again_at:
            self.start()

    def end(self) -> None:
        """End the process, by force where it does not go by itself."""
        if self.process is None or not self.is_alive:
            return
        self.process.terminate()
        try:
            self.process.wait(self.patience_seconds)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


def _end_with(parent: int) -> None:
    """Let the kernel send SIGTERM to this process when its parent ends, however that happens."""
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGTERM)
    if os.getppid() != parent:
        os._exit(1)
