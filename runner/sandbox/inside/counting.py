"""Counts what the box uses: the kernel's counters, and the clock that holds the job to its limits."""

from __future__ import annotations

import os
import resource
import time
from contextlib import suppress
from typing import Any

GLANCE_SECONDS = 0.002


class Counters:
    """The kernel's counters for the whole box, cgroup v1 or v2, whichever is there."""

    def cpu_seconds(self) -> float:
        """Return the CPU time of every process the box has had."""
        text = _read("/sys/fs/cgroup/cpuacct/cpuacct.usage")
        if text:
            return int(text) / 1e9
        usage = _field(_read("/sys/fs/cgroup/cpu.stat"), "usage_usec")
        if usage is not None:
            return usage / 1e6
        return sum(
            sum(resource.getrusage(who)[:2]) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
        )

    def oom_kills(self) -> int:
        """Return how many processes of the box the kernel has killed for memory."""
        for path in ("/sys/fs/cgroup/memory/memory.oom_control", "/sys/fs/cgroup/memory.events"):
            kills = _field(_read(path), "oom_kill")
            if kills is not None:
                return kills
        return 0

    def peak_memory(self) -> int:
        """Return the most memory the box has held, in bytes; 0 where the kernel does not say."""
        for path in ("/sys/fs/cgroup/memory/memory.max_usage_in_bytes", "/sys/fs/cgroup/memory.peak"):
            text = _read(path)
            if text:
                return int(text)
        return 0


class OpenCounters(Counters):
    """The kernel's counters through files that stay open: they are read several times for each sample."""

    def __init__(self) -> None:
        self.cpu = _opened("/sys/fs/cgroup/cpuacct/cpuacct.usage")
        self.oom = _opened("/sys/fs/cgroup/memory/memory.oom_control", "/sys/fs/cgroup/memory.events")

    def cpu_seconds(self) -> float:
        """Return what `Counters` does."""
        return int(os.pread(self.cpu, 32, 0)) / 1e9 if self.cpu >= 0 else super().cpu_seconds()

    def oom_kills(self) -> int:
        """Return what `Counters` does."""
        if self.oom < 0:
            return super().oom_kills()
        _, said, kills = os.pread(self.oom, 512, 0).rpartition(b"oom_kill ")
        return int(kills.split()[0]) if said else 0


class Clock:
    """CPU and wall time of the job, all its processes together; the time the host takes to answer is not its."""

    def __init__(self, counters: Counters, limits: dict[str, Any]) -> None:
        self.counters = counters
        self.cpu_limit, self.wall_limit = limits["cpu_seconds"], limits["wall_seconds"]
        self.cpu_spent = 0.0
        self.glanced = 0.0
        self.left = (self.cpu_limit, self.wall_limit)
        self.cpu_zero = self.cpu_began = counters.cpu_seconds()
        self.began = time.monotonic()
        self.paused = 0.0
        self.pause_began: float | None = None
        self.build_limit = self.build_left = limits.get("build_seconds", 0.0)
        self.building = self.build_limit > 0
        self.build_began = 0.0

    def built(self) -> None:
        """End the building of a process: it has a share of its own, so the job's limits count from here on."""
        used = self.counters.cpu_seconds()
        self.build_left -= used - self.cpu_began
        self.cpu_zero += used - self.cpu_began
        self.cpu_began = used
        self.paused += self.wall() - self.build_began
        self.building = False
        self.glanced = 0.0

    def next_process(self) -> None:
        """Give a fresh process its own CPU limit, within twice the limit for all of them together."""
        used = self.counters.cpu_seconds()
        self.cpu_spent += min(used - self.cpu_began, self.cpu_limit)
        self.cpu_began = used
        self.glanced = 0.0
        self.building, self.build_began = self.build_limit > 0, self.wall()

    def pause(self) -> None:
        if self.pause_began is None:
            self.pause_began = time.monotonic()

    def resume(self) -> None:
        if self.pause_began is not None:
            self.paused += time.monotonic() - self.pause_began
            self.pause_began = None

    def skip(self) -> None:
        """Leave out what was used since the last process: it was ours, not the next one's."""
        self.resume()
        self.cpu_began = self.counters.cpu_seconds()

    def cpu(self) -> float:
        """Return the CPU seconds used since the job came."""
        return self.counters.cpu_seconds() - self.cpu_zero

    def wall(self) -> float:
        """Return the seconds since the job came, without those it waited for the host."""
        now = time.monotonic()
        return (
            now - self.began - self.paused - (now - self.pause_began if self.pause_began is not None else 0.0)
        )

    def _left(self) -> tuple[float, float]:
        """Return what is left of both limits, or of the share for building; looks at the kernel's counters at most every two milliseconds."""
        now = time.monotonic()
        if now - self.glanced >= GLANCE_SECONDS:
            self.glanced, self.left = now, self._counted()
        return self.left

    def _counted(self) -> tuple[float, float]:
        if self.building:
            wall = 2 * self.build_limit + 1 - (self.wall() - self.build_began)
            return self.build_left - (self.counters.cpu_seconds() - self.cpu_began), wall
        allowed = min(self.cpu_limit, 2 * self.cpu_limit - self.cpu_spent)
        cpu = allowed - (self.counters.cpu_seconds() - self.cpu_began)
        return cpu, self.wall_limit - self.wall()

    def passed(self) -> set[str]:
        """Return the names of the limits that are used up."""
        cpu, wall = self._left()
        return {name for name, left in (("cpu", cpu), ("wall", wall)) if left <= 0}

    def patience(self) -> float:
        """Return for how long no limit can be passed, in seconds; with two cores CPU time runs twice as fast."""
        cpu, wall = self._left()
        return max(0.002, min(cpu / 2, wall))


def _read(path: str) -> str:
    try:
        with open(path) as file:
            return file.read().strip()
    except OSError:
        return ""


def _field(text: str, name: str) -> int | None:
    for line in text.splitlines():
        key, _, value = line.partition(" ")
        if key == name:
            return int(value)
    return None


def _opened(*paths: str) -> int:
    """Return a descriptor of the first of the files that is there, -1 where none is."""
    for path in paths:
        with suppress(OSError):
            return os.open(path, os.O_RDONLY)
    return -1
