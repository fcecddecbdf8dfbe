"""Pid 1 of a bulk container: forks a confined process for each sample, one after the other, and watches it.

Standard library only; Python 3.11 and later. What the supervisor is to one job this is to many, with the same clocks,
counters, limits and order: the program is loaded before a test is handed over, everything is killed before a row
counts. Two things differ, because the next sample is forked from this process and sees all that its memory holds.

It reads nothing of a sample but a header of fixed size: the forked process itself reads the program, the tests pass
through a buffer that is wiped, and rows and output are handed on to the host as they are, through buffers that are
wiped. The host checks the tags of the rows and bounds the output (runner/sandbox/zygote.py).

And all of a sample comes at once, so that nobody waits for the other: a header, the program's sheet, then the tests,
which stay in the pipe until the process says that it is loaded. Back go frames as of every box: JSON, or a kind and
raw bytes. The last of a sample is `done`, with the facts of its end. Where anything is not as it should be, this
process ends after that, or at once, and the host starts another.
"""

from __future__ import annotations

import gc
import json
import os
import select
import signal
import struct
import sys
from collections.abc import Callable
from contextlib import suppress

from runner.sandbox.inside.confine import Confinement, confinement, landlock_abi
from runner.sandbox.inside.counting import Clock, OpenCounters
from runner.sandbox.inside.gaps import fill_gaps
from runner.sandbox.inside.immortal import keep_for_good
from runner.sandbox.inside.process import become_child, unmarked, wipe
from runner.sandbox.inside.process import dumpable as let_look
from runner.sandbox.inside.reaping import Watched
from runner.sandbox.inside.streams import CHUNK, ROW_STREAM_BYTES, Facts, Host, Pump, tag_of
from runner.sandbox.inside.supervisor import DEAF_TO, HARD_OUTPUT

# lengths of sheet and tests, CPU and wall limit in seconds, whether to keep output before and after the tests came, key
HEADER = struct.Struct(">IIdd??32s")
LOADED = b'{"seq": 1, "loaded": true}'
READ = b"\n"
KIND_ROWS, KIND_OUT, KIND_ERR = b"r", b"o", b"e"
# Rows are fetched this often, not as they come: nobody waits for one, and each waking costs.
LOOK_SECONDS = 0.02
ROWS_ROOM = 1 << 18
SLOW_SWEEP_SECONDS = 0.25

Play = Callable[[Facts, bytes, int, int], None]


class Turn:
    """One sample, from its header to the moment that nothing of it is left."""

    def __init__(self, zygote: Zygote, header: bytes) -> None:
        sheet, tests, cpu, wall, self.keep, self.keep_later, self.key = HEADER.unpack(header)
        self.zygote, self.sheet, self.tests_length = zygote, sheet, tests
        self.token = tag_of(self.key, LOADED) + b" " + LOADED + b"\n"
        self.limits = {"cpu_seconds": cpu, "wall_seconds": wall}
        self.loaded = self.read = self.spoiled = False
        self.broken: set[str] = set()
        self.rows_held = self.rows_total = self.printed = 0
        self.pump: Pump | None = None

    def run(self) -> bool:
        """Run the sample to its end and tell the host; return whether another may follow."""
        oom = self.zygote.counters.oom_kills()
        self.clock = Clock(self.zygote.counters, self.limits)
        ends = {name: os.pipe() for name in ("out", "err", "rows", "tests")}
        self.watched = Watched(os.fork())
        if self.watched.pid == 0:
            self._become(ends)
        self._take_ends(ends)
        while not self.watched.ended and not self.broken:
            self._wait()
        self.spoiled |= self.watched.sweep() > SLOW_SWEEP_SECONDS
        self._finish_streams()
        self.spoiled |= not (wipe() and unmarked())
        out_of_memory = self.zygote.counters.oom_kills() > oom
        self.spoiled |= out_of_memory or "output" in self.broken
        self._tell(out_of_memory)
        return not self.spoiled

    def _become(self, ends: dict[str, tuple[int, int]]) -> None:
        """Be the sample's process: read its sheet, close the doors, play; never returns."""
        try:
            job: Facts = json.loads(exactly(self.sheet))
            os.write(ends["rows"][1], READ)
            job |= self.limits
            let_look(True)  # else what is below /proc/self belongs to root
            with suppress(OSError), open("/proc/self/oom_score_adj", "w") as file:
                file.write("1000")
            self.zygote.confined.enter()
            become_child(ends, job, lambda rows, tests: self._play(job, rows, tests))
        except BaseException as error:
            os.write(2, f"{type(error).__name__}: {error}\n".encode())
        finally:
            os._exit(1)

    def _play(self, job: Facts, rows: int, tests: int) -> None:
        self.zygote.confined.seal()
        self.zygote.play(job, self.key, rows, tests)

    def _take_ends(self, ends: dict[str, tuple[int, int]]) -> None:
        """Keep our ends of the pipes and watch them."""
        for end in (ends["out"][1], ends["err"][1], ends["rows"][1], ends["tests"][0]):
            os.close(end)
        self.rows, self.tests = ends["rows"][0], ends["tests"][1]
        self.streams = {ends["out"][0]: KIND_OUT, ends["err"][0]: KIND_ERR}
        self.poll = select.poll()
        for end in (self.zygote.listen, self.rows, *self.streams):
            self.poll.register(end, select.POLLIN)
        self.poll.register(0, 0)  # says nothing but that the host is gone
        for end in (self.rows, self.tests, *self.streams):
            os.set_blocking(end, False)

    def _wait(self) -> None:
        patience = min(self.clock.patience(), LOOK_SECONDS if self.loaded else 1.0)
        for end, _ in self.poll.poll(patience * 1000):
            if end == self.zygote.listen:
                os.read(end, 512)
                self.watched.reap()
            elif end == 0:
                os._exit(0)  # and with pid 1 everything in the container, samples sent ahead included
            elif end == self.tests:
                self._deliver()
            elif end == self.rows:
                self._before()
            elif end in self.streams:  # one that was closed a moment ago may still be named
                self._take(end)
        if self.loaded:
            self._rows()
        if not self.watched.ended:
            self.broken |= self.clock.passed()
        if self.printed > HARD_OUTPUT:
            self.broken.add("output")

    def _before(self) -> None:
        """Look at the rows' pipe until the process says, with the key, that it is loaded; then hand the tests over."""
        self._rows()
        if self.loaded or self.zygote.held.find(self.token, 0, self.rows_held) < 0:
            return
        self.loaded = True
        self._unwatch(self.rows)
        for end in list(self.streams):
            self._drain(end)
        self.keep = self.keep_later
        self.pump = Pump(self.tests, self.tests_length, buffer=self.zygote.held_tests)
        self._deliver()

    def _deliver(self) -> None:
        """Move the tests on, as far as the process takes them."""
        if self.pump is None:
            return
        while not self.pump.step():
            if self.pump.waits_for:
                self.poll.register(self.tests, select.POLLOUT)
                return
        self._close_tests()

    def _close_tests(self) -> None:
        if self.tests >= 0:
            self._unwatch(self.tests)
            os.close(self.tests)
            self.tests, self.pump = -1, None

    def _unwatch(self, end: int) -> None:
        with suppress(KeyError):
            self.poll.unregister(end)

    def _rows(self) -> None:
        """Fetch what lies in the rows' pipe; its first byte says that the sheet was read.

        What is too much is thrown away, as in every mode: so much at a time that a flood cannot hold us here.
        """
        thrown = 0
        while thrown < ROW_STREAM_BYTES:
            if self.rows_held == ROWS_ROOM:
                self._hand_on_rows()
            try:
                count = os.readv(self.rows, [self.zygote.view[self.rows_held :]])
            except BlockingIOError:
                break
            if not count:
                self._unwatch(self.rows)
                break
            self.read = self.read or self.zygote.held[:1] == READ
            self.rows_total += count
            if self.rows_total <= ROW_STREAM_BYTES:
                self.rows_held += count
            else:
                self.zygote.view[self.rows_held : self.rows_held + count] = bytes(count)
                thrown += count

    def _hand_on_rows(self, frame: bytes = b"") -> None:
        """Send the rows that are held, and a frame behind them."""
        self.zygote.hand_on(KIND_ROWS, self.zygote.view[: self.rows_held], frame)
        self.rows_held = 0

    def _take(self, end: int) -> bool:
        """Read one piece of what it prints, hand it on or count it; return whether there may be more."""
        try:
            count = os.readv(end, [self.zygote.piece])
        except BlockingIOError:
            return False
        if not count:
            self._unwatch(end)
            del self.streams[end]
            os.close(end)
            return False
        self.printed += count
        piece = self.zygote.piece[:count]
        if self.keep and self.printed <= HARD_OUTPUT + CHUNK:
            self.zygote.hand_on(self.streams[end], piece)
        piece[:] = bytes(count)
        return True

    def _drain(self, end: int) -> None:
        for _ in range(2 * HARD_OUTPUT // CHUNK):
            if not self._take(end):
                return

    def _finish_streams(self) -> None:
        """Take what is left in the pipes and close them; whatever of the sample the host still sends is passed over."""
        self._rows()
        for end in list(self.streams):
            self._drain(end)
        for end in (self.rows, *self.streams):
            os.close(end)
        if not self.read:
            os._exit(3)  # nobody knows how much of the sheet is still to come
        left = 0 if self.loaded else self.tests_length
        if self.pump is not None:
            left = self.pump.left
            self.pump.buffer[: self.pump.end] = bytes(self.pump.end)
        self._close_tests()
        while left:
            count = os.readv(0, [self.zygote.piece[: min(left, CHUNK)]])
            if not count:
                os._exit(0)
            self.zygote.piece[:count] = bytes(count)
            left -= count

    def _tell(self, out_of_memory: bool) -> None:
        """Send the rows that are held and the facts of the end; keep nothing."""
        facts = {
            "loaded": self.loaded,
            "out_of_memory": out_of_memory,
            "memory_bytes": self.watched.peak_kib << 10,
            **self.watched.facts(self.clock, self.broken),
        }
        done = self.zygote.host.framed("done", leaving=self.spoiled, facts=facts)
        # In one write, since each is handed on by three processes before it is with the host.
        self._hand_on_rows(done)


class Zygote:
    """What stays from one sample to the next, and nothing of any sample in it."""

    def __init__(self, play: Play, confined: Confinement, listen: int) -> None:
        self.play, self.confined, self.listen = play, confined, listen
        self.host, self.counters = Host(), OpenCounters()
        self.held = bytearray(ROWS_ROOM)
        self.view = memoryview(self.held)
        self.piece = memoryview(bytearray(CHUNK))
        self.held_tests = bytearray(CHUNK)

    def hand_on(self, kind: bytes, view: memoryview, frame: bytes = b"") -> None:
        """Send raw bytes to the host as a frame, if there are any, and another frame; wipe the bytes here."""
        head = (len(view) + 1).to_bytes(4, "big") + kind
        pieces = [memoryview(head), view] if view else []
        pieces += [memoryview(frame)] if frame else []
        while pieces:
            sent = os.writev(1, pieces)
            while pieces and sent >= len(pieces[0]):
                sent -= len(pieces.pop(0))
            if sent:
                pieces[0] = pieces[0][sent:]
        view[:] = bytes(len(view))


def exactly(count: int) -> bytes:
    """Return so many bytes of what the host sends; leave at once when it is gone."""
    data = bytearray(count)
    view = memoryview(data)
    while view:
        got = os.readv(0, [view])
        if not got:
            os._exit(0)
        view = view[got:]
    return bytes(data)


def serve(play: Play, mode: str) -> None:
    """Run samples until the host has no more, or something is not as it should be."""
    for number in DEAF_TO:
        signal.signal(number, signal.SIG_IGN)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    try:
        confined = confinement(mode)
    except OSError as error:
        sys.exit(f"This kernel cannot confine samples in mode {mode}: {error.strerror or error}")
    listen, wake = os.pipe()
    for end in (listen, wake):
        os.set_blocking(end, False)
    signal.set_wakeup_fd(wake, warn_on_full_buffer=False)
    let_look(False)
    zygote = Zygote(play, confined, listen)
    gc.disable()
    gc.collect()
    keep_for_good()
    gc.freeze()
    fill_gaps()
    zygote.host.say(
        "ready",
        python=sys.version.split()[0],
        kernel=os.uname().release,
        cgroup="v2" if os.path.exists("/sys/fs/cgroup/cgroup.controllers") else "v1",
        landlock=landlock_abi(),
    )
    while Turn(zygote, exactly(HEADER.size)).run():
        pass
