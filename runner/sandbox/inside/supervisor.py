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

import gc
import os
import select
import signal
import sys
from collections.abc import Callable

from runner.sandbox.inside.counting import Clock, Counters
from runner.sandbox.inside.process import become_child, close_proc, dumpable, wipe
from runner.sandbox.inside.reaping import Watched
from runner.sandbox.inside.streams import CHUNK, Capture, Facts, Host, Pump, Rows

HARD_OUTPUT = 16 << 20
DEAF_TO = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT, signal.SIGUSR1)


class Watch:
    """One forked process, from its fork to the moment nothing in the box but us is alive."""

    def __init__(self, host: Host, counters: Counters, job: Facts, clock: Clock, first: bool) -> None:
        self.host, self.counters, self.job, self.clock, self.first = host, counters, job, clock, first
        keep = job["output_bytes"] if first or job["revealed"] else 0
        self.out, self.err, self.rows = Capture(keep), Capture(keep), Rows()
        self.pump: Pump | None = None
        self.loaded = self.sent = False
        self.load_error = ""
        self.broken: set[str] = set()
        self.building = self.clock.building

    def run(self, play: Callable[[Facts, bytes, int, int], None], wake: int) -> Facts:
        """Fork, watch, kill, reap; return the facts of the end."""
        ends = {name: os.pipe() for name in ("out", "err", "rows", "tests")}
        oom = self.counters.oom_kills()
        self.watched = Watched(os.fork())
        if self.watched.pid == 0:
            become_child(ends, self.job, lambda rows, tests: self._play(play, rows, tests))
        self.tests = ends["tests"][1]
        for end in (ends["out"][1], ends["err"][1], ends["rows"][1], ends["tests"][0]):
            os.close(end)
        self.streams = {ends[name][0]: name for name in ("out", "err", "rows")}
        for end in (*self.streams, self.tests):
            os.set_blocking(end, False)
        while not self.watched.ended and not self.broken:
            self._wait(wake)
        self.watched.sweep()
        for end in list(self.streams):
            self._drain(end)
            os.close(end)
        self._discard()
        if self.tests >= 0:
            os.close(self.tests)
        return self._facts(self.counters.oom_kills() - oom)

    def _play(self, play: Callable[[Facts, bytes, int, int], None], rows: int, tests: int) -> None:
        """Do in the forked process what it is there for; never returns."""
        close_proc()
        play(self.job, self.rows.key, rows, tests)

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
                self.watched.reap()
            elif end == 0 or end == self.tests:
                self._tests()
            else:
                self._take(end)
        if not self.watched.ended:
            self.broken |= self.clock.passed()
        if self.out.total + self.err.total > HARD_OUTPUT:
            self.broken.add("output")

    def _tests(self) -> None:
        """Begin or go on with the delivery of the tests; any other word from the host means it is gone."""
        if not self.loaded or self.sent:
            os._exit(0)
        if self.pump is None:
            self.pump = Pump(self.tests, self.host.length(), self.rows.renew())
            self.clock.resume()
            for end, name in list(self.streams.items()):
                if name != "rows":
                    self._drain(end)
            self.out.keeping = self.err.keeping = bool(self.job["revealed"])
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
            if not self.watched.ended:
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
            if "built" in row and self.building:
                self.building = False
                self.clock.built()
            self.host.say("row", row=row)
        elif "loaded" in row and not self.loaded:
            self.loaded = True
            self.clock.pause()
            self.host.say("loaded")
        elif "load_error" in row and self.first:
            self.load_error = str(row["load_error"])

    def _facts(self, oom_kills: int) -> Facts:
        return {
            "loaded": self.loaded,
            "load_error": self.load_error,
            "out_of_memory": oom_kills > 0,
            "memory_bytes": self.counters.peak_memory(),
            "stdout": self.out.text(),
            "stderr": self.err.text(),
            **self.watched.facts(self.clock, self.broken),
        }


def serve(play: Callable[[Facts, bytes, int, int], None]) -> None:
    """Take one job and run it to its end, in one process or more; then leave."""
    for number in DEAF_TO:
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
    host.say("ready", python=sys.version.split()[0], kernel=os.uname().release, cgroup=_cgroup())
    job = host.hear()
    clock, first = Clock(counters, job), True
    while first or _wiped(clock):
        host.say("ended", facts=Watch(host, counters, job, clock, first).run(play, listen))
        host.hear()
        clock.next_process()
        first = False
    host.say("dirty")


def _wiped(clock: Clock) -> bool:
    """Remove what the last process has written, at nobody's expense; return whether it worked."""
    clock.pause()
    done = wipe()
    clock.skip()
    return done


def _cgroup() -> str:
    return "v2" if os.path.exists("/sys/fs/cgroup/cgroup.controllers") else "v1"


if __name__ == "__main__":
    sys.exit("The supervisor is started by its language profile.")
