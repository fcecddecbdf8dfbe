"""Parts of the supervisor that can be tried outside a box: counters of both cgroup versions, rows, captured output."""

from __future__ import annotations

import json
import os
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from runner.sandbox.inside import counting, process
from runner.sandbox.inside.counting import Clock, Counters
from runner.sandbox.inside.streams import ROW_STREAM_BYTES, ROW_STREAM_LINES, Capture, Pump, Rows, tag_of

V1 = {
    "/sys/fs/cgroup/cpuacct/cpuacct.usage": "1500000000",
    "/sys/fs/cgroup/memory/memory.oom_control": "oom_kill_disable 0\nunder_oom 0\noom_kill 2",
    "/sys/fs/cgroup/memory/memory.max_usage_in_bytes": "1048576",
}
V2 = {
    "/sys/fs/cgroup/cpu.stat": "usage_usec 1500000\nuser_usec 1\nsystem_usec 2",
    "/sys/fs/cgroup/memory.events": "low 0\nhigh 0\nmax 7\noom 2\noom_kill 2\noom_group_kill 0",
    "/sys/fs/cgroup/memory.peak": "1048576",
}


@pytest.mark.parametrize("files", [V1, V2], ids=["cgroup v1", "cgroup v2"])
def test_counters_are_read_from_either_cgroup_version(
    files: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(counting, "_read", lambda path: files.get(path, ""))
    counters = Counters()
    assert (counters.cpu_seconds(), counters.oom_kills(), counters.peak_memory()) == (1.5, 2, 1 << 20)


def test_without_cgroup_files_time_comes_from_the_processes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(counting, "_read", lambda path: "")
    assert Counters().cpu_seconds() > 0
    assert (Counters().oom_kills(), Counters().peak_memory()) == (0, 0)


def line(key: bytes, **row: Any) -> bytes:
    payload = json.dumps(row).encode()
    return b"\n" + tag_of(key, payload) + b" " + payload + b"\n"


def test_only_authentic_rows_in_rising_order_count() -> None:
    rows = Rows()
    good = line(rows.key, seq=1, x=1)
    forged = line(b"another key", seq=2, x=2)
    again = good
    later = line(rows.key, seq=2, x=3)
    assert [row["x"] for row in rows.feed(good + forged + again + b"rubbish" + later)] == [1, 3]


def test_rows_may_come_in_pieces_and_after_rubbish_without_end() -> None:
    rows = Rows()
    data = b"y" * 100_000 + line(rows.key, seq=1) + line(rows.key, seq=2)
    found = [row["seq"] for start in range(0, len(data), 777) for row in rows.feed(data[start : start + 777])]
    assert found == [1, 2]


def test_a_new_nonce_ends_the_old_one() -> None:
    rows = Rows()
    old = rows.key
    new = rows.renew()
    assert rows.feed(line(old, seq=1)) == []
    assert rows.feed(line(new, seq=1)) == [{"seq": 1}]


NESTED = b'{"seq": 1, "test": ' + b"[" * 600 + b"]" * 600 + b"}"
OBJECT = b'{"seq": 1, "outcome": {}}'


@pytest.mark.parametrize(
    "payload", [b"[]", b'{"seq": "1"}', b'{"x": 1}', b"7", b"{", b"[" * 3000, b"\xff", NESTED, OBJECT]
)
def test_an_authentic_row_of_the_wrong_shape_is_ignored(payload: bytes) -> None:
    rows = Rows()
    assert rows.feed(tag_of(rows.key, payload) + b" " + payload + b"\n") == []


def test_a_flood_of_rows_is_cut() -> None:
    rows = Rows()
    rows.feed(b"z" * (ROW_STREAM_BYTES + 1))
    assert rows.feed(line(rows.key, seq=1)) == []


def test_a_flood_of_line_ends_is_cut() -> None:
    rows = Rows()
    assert rows.feed(b"\n" * 1000 + line(rows.key, seq=1)) == [{"seq": 1}]
    rows.feed(b"\n" * ROW_STREAM_LINES)
    assert rows.feed(line(rows.key, seq=2)) == []


def test_the_nonce_comes_before_the_tests_and_waits_for_room() -> None:
    source, sink = os.pipe()
    os.set_blocking(sink, False)
    filled = 0
    with suppress(BlockingIOError):
        while True:
            filled += os.write(sink, b"x" * 4096)
    pump = Pump(sink, 0, b"n" * 32)
    assert pump.waits_for == sink
    assert not pump.step()
    while filled:
        filled -= len(os.read(source, filled))
    assert pump.step()
    assert os.read(source, 99) == b"n" * 32
    assert bytes(pump.buffer) == bytes(len(pump.buffer))
    os.close(source)
    os.close(sink)


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A directory that is all there is to wipe."""
    monkeypatch.setattr(process, "WRITABLE", (str(tmp_path),))
    return tmp_path


def test_wiping_removes_whatever_was_left(place: Path) -> None:
    (place / "a" / "b" / "c").mkdir(parents=True)
    (place / "a" / "b" / "c" / "file").write_text("x")
    (place / "a" / "link").symlink_to("/")
    os.mkfifo(place / "a" / "fifo")
    os.mkdir(os.fsencode(place) + b"/\xff\n")
    (place / "a" / "b").chmod(0)
    (place / "a").chmod(0)
    place.chmod(0)
    assert process.wipe()
    assert os.listdir(place) == []


def test_wiping_goes_deeper_than_a_path_may_be_long(place: Path) -> None:
    here = os.open(place, os.O_RDONLY)
    for _ in range(300):
        os.mkdir("d" * 200, dir_fd=here)
        below = os.open("d" * 200, os.O_RDONLY, dir_fd=here)
        os.close(here)
        here = below
    os.close(here)
    assert process.wipe()
    assert os.listdir(place) == []


def test_wiping_follows_no_link(place: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    outside = tmp_path_factory.mktemp("outside")
    (outside / "kept").write_text("x")
    (place / "d").mkdir()
    (place / "d" / "link").symlink_to(outside)
    (place / "link").symlink_to(outside)
    assert process.wipe()
    assert (outside / "kept").read_text() == "x"


def test_what_cannot_be_wiped_is_said(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: Any, **__: Any) -> None:
        raise PermissionError

    (place / "file").write_text("x")
    monkeypatch.setattr(process.os, "unlink", refuse)
    assert not process.wipe()


def test_output_keeps_its_head_and_its_tail() -> None:
    capture = Capture(20)
    for piece in (b"0123456789", b"x" * 1000, b"abcdefghij"):
        capture.feed(piece)
    assert capture.text() == "0123456789\n[... 1000 bytes not kept ...]\nabcdefghij"


def test_output_that_fits_is_kept_whole() -> None:
    capture = Capture(20)
    capture.feed(b"0123456789abcdef\xff")
    assert capture.text() == "0123456789abcdef\ufffd"


def test_output_after_the_tests_have_come_is_counted_only() -> None:
    capture = Capture(20)
    capture.feed(b"loading")
    capture.keeping = False
    capture.feed(b"secret")
    assert (capture.text(), capture.total) == ("loading", 13)


class Ticking(Counters):
    """Counters whose CPU time the test sets."""

    used = 0.0

    def cpu_seconds(self) -> float:
        return self.used


def test_each_process_has_the_cpu_limit_and_all_together_twice_that(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(counting, "GLANCE_SECONDS", 0.0)
    counters = Ticking()
    clock = Clock(counters, {"cpu_seconds": 1.0, "wall_seconds": 100.0})
    counters.used = 0.9
    assert clock.passed() == set()
    counters.used = 1.4  # the kill came late; only the limit is charged
    assert clock.passed() == {"cpu"}
    clock.next_process()
    counters.used = 2.3
    assert clock.passed() == set()
    counters.used = 2.4
    clock.next_process()
    assert clock.passed() == {"cpu"}


def test_what_we_do_between_two_processes_is_nobodys_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(counting, "GLANCE_SECONDS", 0.0)
    counters = Ticking()
    clock = Clock(counters, {"cpu_seconds": 1.0, "wall_seconds": 100.0})
    counters.used = 0.2
    clock.next_process()
    clock.pause()
    counters.used = 5.0
    clock.skip()
    counters.used = 5.9
    assert clock.passed() == set()
    counters.used = 6.0
    assert clock.passed() == {"cpu"}


def test_waiting_for_the_host_is_not_the_programs_time(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [100.0]
    monkeypatch.setattr(counting.time, "monotonic", lambda: now[0])
    clock = Clock(Ticking(), {"cpu_seconds": 1.0, "wall_seconds": 2.0})
    now[0] += 1
    clock.pause()
    now[0] += 50
    assert clock.wall() == 1
    clock.resume()
    now[0] += 0.5
    assert (clock.wall(), clock.passed()) == (1.5, set())
    now[0] += 0.6
    assert clock.passed() == {"wall"}
