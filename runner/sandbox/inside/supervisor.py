"""Pid 1 of the box: takes one job, forks the program's process, watches it, tells the host what happened.

Standard library only; Python 3.11 and later. It knows no programming language: what the forked process does is
the `play` it is given. Trust runs one way: the host believes this process and the kernel, and nothing the
program printed. Therefore it forks *before* it reads any test, streams the tests through a buffer it wipes,
accepts a row only with the tag that proves it came from the child it handed the nonce to, and kills everything
in the box before it takes the rows as final (sandbox.md, section e).

Conversation, each frame a 4-byte big-endian length, then JSON (the tests are raw bytes):
  -> ready                the box is up; facts about the interpreter
  <- job                  program and limits
  -> loaded               the program's process is up; the host may send the tests (once)
  <- tests
  -> row ...              authentic rows, as they arrive
  -> ended                wait status, counters and clocks of that process
  <- again                run the rest of the tests in a fresh process, or end of file: leave
  -> dirty                instead of a fresh process: what the last one wrote could not be removed
"""

from __future__ import annotations

import ctypes
import gc
import json
import os
import platform
import resource
import select
import signal
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from hashlib import blake2s
from itertools import pairwise
from typing import Any

HARD_OUTPUT = 16 << 20
ROW_BYTES = 8192
ROW_STREAM_BYTES = 8 << 20
CHUNK = 1 << 16
WRITABLE = ("/work", "/tmp", "/dev/shm")  # noqa: S108 - places of the box, not of the host
PR_SET_DUMPABLE = 4
LIBC = ctypes.CDLL(None)
GLANCE_SECONDS = 0.002

Facts = dict[str, Any]


def tag_of(key: bytes, payload: bytes) -> bytes:
    """Return the proof that a row was written by the holder of the key."""
    return blake2s(payload, key=key, digest_size=16).hexdigest().encode()


def dumpable(on: bool) -> None:
    """Let others of the same user look into this process, or not; a fork inherits it."""
    LIBC.prctl(PR_SET_DUMPABLE, int(on), 0, 0, 0)


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


class Capture:
    """The head and the tail of one output stream; the middle is counted and forgotten."""

    def __init__(self, keep: int) -> None:
        self.half = keep // 2
        self.head = bytearray()
        self.tail = bytearray()
        self.total = 0
        self.keeping = keep > 0

    def feed(self, data: bytes) -> None:
        self.total += len(data)
        if not self.keeping:
            return
        room = self.half - len(self.head)
        self.head += data[: max(room, 0)]
        self.tail += data[max(room, 0) :]
        del self.tail[: max(len(self.tail) - self.half, 0)]

    def text(self) -> str:
        """Return what was kept, with a line in the middle that says how much was not."""
        lost = self.total - len(self.head) - len(self.tail) if self.head or self.tail else 0
        gap = f"\n[... {lost} bytes not kept ...]\n".encode() if lost and self.keeping else b""
        return (bytes(self.head) + gap + bytes(self.tail)).decode("utf-8", "replace")


class Rows:
    """The row pipe: lines of tag, space, JSON. What is malformed, forged, repeated or too much is ignored."""

    def __init__(self) -> None:
        self.key = os.urandom(32)
        self.buffer = bytearray()
        self.total = 0
        self.last = 0

    def renew(self) -> bytes:
        """Return a fresh nonce; rows under the old key no longer count."""
        self.key = os.urandom(32)
        self.last = 0
        return self.key

    def feed(self, data: bytes) -> list[Facts]:
        """Return the authentic rows that end in this piece of the stream."""
        self.total += len(data)
        if self.total > ROW_STREAM_BYTES:
            return []
        self.buffer += data
        *lines, rest = self.buffer.split(b"\n")
        self.buffer = rest if len(rest) <= ROW_BYTES else bytearray()
        return [row for row in map(self._row, lines) if row is not None]

    def _row(self, line: bytearray) -> Facts | None:
        tag, _, payload = bytes(line).partition(b" ")
        if len(line) > ROW_BYTES or tag != tag_of(self.key, payload):
            return None
        try:
            row: Facts = json.loads(payload)
            fresh = isinstance(row["seq"], int) and row["seq"] > self.last
        except (ValueError, KeyError, TypeError, RecursionError):
            return None
        if not fresh:
            return None
        self.last = row["seq"]
        return row


class Host:
    """The attached streams: framed JSON out, frames in."""

    def say(self, kind: str, **facts: Any) -> None:
        body = json.dumps({"kind": kind, **facts}).encode()
        data = memoryview(len(body).to_bytes(4, "big") + body)
        while data:
            data = data[os.write(1, data) :]

    def length(self) -> int:
        """Return the length of the next frame; leave at once when the host is gone."""
        return int.from_bytes(self._exactly(4), "big")

    def hear(self) -> Facts:
        heard: Facts = json.loads(self._exactly(self.length()))
        return heard

    def _exactly(self, count: int) -> bytes:
        data = b""
        while len(data) < count:
            piece = os.read(0, min(count - len(data), CHUNK))
            if not piece:
                os._exit(0)
            data += piece
        return data


class Pump:
    """Carries the tests from the host to the child without keeping a byte of them."""

    def __init__(self, sink: int, length: int) -> None:
        self.sink = sink
        self.left = length
        self.buffer = bytearray(CHUNK)
        self.start = self.end = 0

    @property
    def waits_for(self) -> int:
        """Return the descriptor that must be ready before the next step."""
        return self.sink if self.start < self.end else 0

    def step(self) -> bool:
        """Move one piece; return whether all is delivered."""
        view = memoryview(self.buffer)
        if self.start == self.end:
            self.start, self.end = 0, os.readv(0, [view[: min(self.left, CHUNK)]])
            self.left -= self.end
            if not self.end:
                os._exit(0)
        try:
            self.start += os.write(self.sink, view[self.start : self.end])
        except BlockingIOError:
            return False
        except BrokenPipeError:
            self.start = self.end
        if self.start == self.end:
            view[:] = bytes(CHUNK)
        return self.start == self.end and not self.left


class Watch:
    """One forked process, from its fork to the moment nothing in the box but us is alive."""

    def __init__(self, host: Host, counters: Counters, job: Facts, clock: Clock, first: bool) -> None:
        self.host, self.counters, self.job, self.clock, self.first = host, counters, job, clock, first
        keep = job["output_bytes"] if first or job["revealed"] else 0
        self.out, self.err, self.rows = Capture(keep), Capture(keep), Rows()
        self.pump: Pump | None = None
        self.loaded = self.sent = self.ended = False
        self.load_error = ""
        self.broken: set[str] = set()
        self.status = 0

    def run(self, play: Callable[[Facts, bytes, int, int], None], wake: int) -> Facts:
        """Fork, watch, kill, reap; return the facts of the end."""
        ends = {name: os.pipe() for name in ("out", "err", "rows", "tests")}
        oom = self.counters.oom_kills()
        self.pid = os.fork()
        if self.pid == 0:
            become_child(ends, self.job, lambda rows, tests: play(self.job, self.rows.key, rows, tests))
        self.tests = ends["tests"][1]
        for end in (ends["out"][1], ends["err"][1], ends["rows"][1], ends["tests"][0]):
            os.close(end)
        self.streams = {ends[name][0]: name for name in ("out", "err", "rows")}
        for end in (*self.streams, self.tests):
            os.set_blocking(end, False)
        while not self.ended and not self.broken:
            self._wait(wake)
        self._sweep()
        for end in list(self.streams):
            self._drain(end)
            os.close(end)
        self._discard()
        if self.tests >= 0:
            os.close(self.tests)
        return self._facts(self.counters.oom_kills() - oom)

    def _wait(self, wake: int) -> None:
        poll = select.poll()
        for end in (wake, *self.streams):
            poll.register(end, select.POLLIN)
        if self.pump is not None and self.pump.waits_for:
            poll.register(self.pump.waits_for, select.POLLOUT)
        else:
            poll.register(0, select.POLLIN)
        for end, _ in poll.poll(self.clock.patience() * 1000):
            if end == wake:
                os.read(wake, 512)
                self._reap(os.WNOHANG)
            elif end == 0 or end == self.tests:
                self._tests()
            else:
                self._take(end)
        if not self.ended:
            self.broken |= self.clock.passed()
        if self.out.total + self.err.total > HARD_OUTPUT:
            self.broken.add("output")

    def _tests(self) -> None:
        """Begin or go on with the delivery of the tests; any other word from the host means it is gone."""
        if not self.loaded or self.sent:
            os._exit(0)
        if self.pump is None:
            self.pump = Pump(self.tests, self.host.length())
            self.clock.resume()
            for end, name in list(self.streams.items()):
                if name != "rows":
                    self._drain(end)
            self.out.keeping = self.err.keeping = bool(self.job["revealed"])
            os.write(self.tests, self.rows.renew())
        elif self.pump.step():
            self.sent, self.pump = True, None
            os.close(self.tests)
            self.tests = -1

    def _discard(self) -> None:
        """Throw away tests the host has sent, or is about to send, to a process that is no more."""
        if not self.loaded or self.sent:
            return
        left = self.pump.left if self.pump is not None else self.host.length()
        piece = bytearray(CHUNK)
        while left:
            count = os.readv(0, [memoryview(piece)[: min(left, CHUNK)]])
            if not count:
                os._exit(0)
            left -= count
        piece[:] = bytes(CHUNK)

    def _take(self, end: int) -> bool:
        """Read one piece of a stream; return whether there may be more."""
        try:
            data = os.read(end, CHUNK)
        except BlockingIOError:
            return False
        name = self.streams[end]
        if not data:
            if not self.ended:
                del self.streams[end]
                os.close(end)
            return False
        if name == "rows":
            for row in self.rows.feed(data):
                self._row(row)
        else:
            (self.out if name == "out" else self.err).feed(data)
        return True

    def _drain(self, end: int) -> None:
        for _ in range(2 * HARD_OUTPUT // CHUNK):
            if not self._take(end):
                return

    def _row(self, row: Facts) -> None:
        if self.pump is not None or self.sent:
            self.host.say("row", row=row)
        elif "loaded" in row and not self.loaded:
            self.loaded = True
            self.clock.pause()
            self.host.say("loaded")
        elif "load_error" in row and self.first:
            self.load_error = str(row["load_error"])

    def _reap(self, options: int) -> bool:
        """Collect dead processes, ours and orphans; return whether any process is left."""
        while True:
            try:
                pid, status, _ = os.wait4(-1, options)
            except ChildProcessError:
                return False
            if pid == 0:
                return True
            if pid == self.pid:
                self.status, self.ended = status, True

    def _sweep(self) -> None:
        """Kill and reap everything in the box but this process, which the kernel spares as pid 1."""
        self.exited = self.ended
        alive = True
        while alive:
            with suppress(ProcessLookupError):
                os.kill(-1, signal.SIGKILL)
            alive = self._reap(os.WNOHANG)
            if alive:
                time.sleep(0.0005)
        self.ended = True

    def _facts(self, oom_kills: int) -> Facts:
        code = os.waitstatus_to_exitcode(self.status) if self.exited else None
        if code in (-signal.SIGKILL, -signal.SIGXCPU) and "cpu" in self.clock.passed():
            self.broken.add("cpu")
            code = None
        return {
            "loaded": self.loaded,
            "load_error": self.load_error,
            "exit_status": code if code is not None and code >= 0 else None,
            "signal": -code if code is not None and code < 0 else None,
            "out_of_memory": oom_kills > 0,
            "cpu_exceeded": "cpu" in self.broken,
            "wall_exceeded": "wall" in self.broken,
            "output_exceeded": "output" in self.broken,
            "cpu_seconds": self.clock.cpu(),
            "wall_seconds": self.clock.wall(),
            "memory_bytes": self.counters.peak_memory(),
            "stdout": self.out.text(),
            "stderr": self.err.text(),
        }


class Clock:
    """CPU and wall time of the job, all its processes together; the time the host takes to answer is not its."""

    def __init__(self, counters: Counters, limits: Facts) -> None:
        self.counters = counters
        self.cpu_limit, self.wall_limit = limits["cpu_seconds"], limits["wall_seconds"]
        self.cpu_spent = 0.0
        self.glanced = 0.0
        self.left = (self.cpu_limit, self.wall_limit)
        self.cpu_zero = self.cpu_began = counters.cpu_seconds()
        self.began = time.monotonic()
        self.paused = 0.0
        self.pause_began: float | None = None

    def next_process(self) -> None:
        """Give a fresh process its own CPU limit, within twice the limit for all of them together."""
        used = self.counters.cpu_seconds()
        self.cpu_spent += min(used - self.cpu_began, self.cpu_limit)
        self.cpu_began = used
        self.glanced = 0.0

    def pause(self) -> None:
        self.pause_began = time.monotonic()

    def resume(self) -> None:
        if self.pause_began is not None:
            self.paused += time.monotonic() - self.pause_began
            self.pause_began = None

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
        """Return what is left of both limits; looks at the kernel's counters at most every two milliseconds."""
        now = time.monotonic()
        if now - self.glanced >= GLANCE_SECONDS:
            self.glanced, self.left = now, self._counted()
        return self.left

    def _counted(self) -> tuple[float, float]:
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


def become_child(ends: dict[str, tuple[int, int]], job: Facts, play: Callable[[int, int], None]) -> None:
    """Turn the forked process into the program's process; never returns."""
    try:
        signal.set_wakeup_fd(-1)
        for number in (
            signal.SIGINT,
            signal.SIGTERM,
            signal.SIGHUP,
            signal.SIGCHLD,
            signal.SIGQUIT,
            signal.SIGUSR1,
        ):
            signal.signal(number, signal.SIG_DFL)
        signal.signal(signal.SIGINT, signal.default_int_handler)
        os.setsid()
        gc.enable()
        os.nice(10)  # within the box only: the supervisor is served first
        dumpable(True)
        _raise_oom_score()
        null = os.open("/dev/null", os.O_RDONLY)
        os.dup2(null, 0)
        os.dup2(ends["out"][1], 1)
        os.dup2(ends["err"][1], 2)
        rows, tests = ends["rows"][1], ends["tests"][0]
        for first, last in pairwise((2, *sorted((rows, tests)), 256)):
            os.closerange(first + 1, last)
        seconds = int(job["cpu_seconds"]) + 2
        for what, value in (
            (resource.RLIMIT_CPU, seconds),
            (resource.RLIMIT_FSIZE, 32 << 20),
            (resource.RLIMIT_CORE, 0),
            (resource.RLIMIT_NOFILE, 256),
        ):
            resource.setrlimit(what, (value, value))
        play(rows, tests)
    finally:
        os._exit(1)


def _raise_oom_score() -> None:
    """Let the kernel take the program before the supervisor when memory runs out."""
    with suppress(OSError), open("/proc/self/oom_score_adj", "w") as file:
        file.write("1000")


def wipe() -> bool:
    """Empty every writable place; return whether it worked."""
    for place in WRITABLE:
        for base, folders, files in os.walk(place, topdown=False):
            for name, remove in [(f, os.unlink) for f in files] + [(f, os.rmdir) for f in folders]:
                path = os.path.join(base, name)
                with suppress(OSError):
                    os.unlink(path) if os.path.islink(path) else remove(path)
        if os.path.isdir(place) and os.listdir(place):
            return False
    return True


def serve(play: Callable[[Facts, bytes, int, int], None]) -> None:
    """Take one job and run it to its end, in one process or more; then leave."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT, signal.SIGUSR1):
        signal.signal(number, signal.SIG_IGN)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    listen, wake = os.pipe()
    for end in (listen, wake):
        os.set_blocking(end, False)
    signal.set_wakeup_fd(wake, warn_on_full_buffer=False)
    dumpable(False)
    gc.disable()  # and everything so far out of the collector's sight: a fork then copies fewer pages
    gc.freeze()
    host, counters = Host(), Counters()
    host.say("ready", python=platform.python_version(), kernel=os.uname().release, cgroup=_cgroup())
    job = host.hear()
    clock, first = Clock(counters, job), True
    while first or wipe():
        host.say("ended", facts=Watch(host, counters, job, clock, first).run(play, listen))
        host.hear()
        clock.next_process()
        first = False
    host.say("dirty")


def _cgroup() -> str:
    return "v2" if os.path.exists("/sys/fs/cgroup/cgroup.controllers") else "v1"


if __name__ == "__main__":
    sys.exit("The supervisor is started by its language profile.")
