"""Samples in forks of one process, on real containers: what they come to, and what one can see of another."""

from __future__ import annotations

import os
import select
from collections.abc import Iterator
from dataclasses import replace
from types import SimpleNamespace
from typing import cast

import pytest

from runner import modes
from runner.environments.building import BuiltImage
from runner.outcome import Measurement, Outcome, judge
from runner.sandbox.base import Job, Limits, SandboxUnavailable
from runner.sandbox.engine import Engine
from runner.sandbox.inside.counting import Clock
from runner.sandbox.inside.reaping import Watched
from runner.sandbox.inside.zygote import HEADER, Turn, Zygote
from runner.sandbox.lines import Lines, Owner
from runner.sandbox.pool import Pool
from runner.sandbox.zygote import LANDLOCK, NAMESPACES, Kind, Line, Ran
from tests.services import wait_until

pytestmark = pytest.mark.docker

KEEPER = f"tests-of-zygotes-{os.getpid()}"
USUAL = Limits(cpu_seconds=5, wall_seconds=60)
BUSY = Limits(cpu_seconds=0.3, wall_seconds=60)
IDLE = Limits(cpu_seconds=5, wall_seconds=0.5)
TESTS = """
def test_f():
    assert f(1) == 2
    assert f(2) == 3

def test_g():
    assert g(1) == 2
"""
HONEST = "def f(x):\n    return x + 1\n\ndef g(x):\n    return x + 1\n"
BOTH = ("test_f", "test_g")


def job(program: str = HONEST, limits: Limits = USUAL, **rest: object) -> Job:
    return Job(program, TESTS, BOTH, limits, **rest)  # type: ignore[arg-type]


def f_does(body: str, limits: Limits = USUAL, **rest: object) -> Job:
    """A sample whose `f` has this body beside an honest `g`."""
    lines = "".join(f"    {line}\n" for line in body.strip().splitlines())
    return job(f"def f(x):\n{lines}\ndef g(x):\n    return x + 1\n", limits, **rest)


def looks(body: str) -> Job:
    """A sample that shows what it found: its `found` must be empty."""
    return Job(body, "def test_nothing():\n    assert found == []\n", ("test_nothing",), USUAL, revealed=True)


@pytest.fixture(scope="module", params=[LANDLOCK, NAMESPACES])
def line(request: pytest.FixtureRequest, engine: Engine, plain: BuiltImage) -> Iterator[Line]:
    """A line of each mode that holds here."""
    shown = modes.tried(engine, request.param, plain.digest)
    if "kernel cannot confine" in shown:
        pytest.skip(f"{request.param}: {shown}")
    assert shown == modes.HOLDS
    line = Line(engine, request.param, Kind.of(job(), plain.digest), keeper=KEEPER)
    yield line
    line.close()
    engine.remove_all(KEEPER)  # raises where one stays


def run(line: Line, *jobs: Job) -> list[Ran]:
    """Run the jobs and return what came of each, by place; once more where a container was lost, as bulk does."""
    ran = run_once(line, *jobs)
    return ran if all(each.measurement for each in ran) else run_once(line, *jobs)


def run_once(line: Line, *jobs: Job) -> list[Ran]:
    ran = sorted((each for each in line.run(jobs) if each is not None), key=lambda each: each.place)
    assert [each.place for each in ran] == list(range(len(jobs)))
    return ran


def measured(line: Line, *jobs: Job) -> list[Measurement]:
    ran = run(line, *jobs)
    assert all(each.measurement is not None for each in ran)
    return [each.measurement for each in ran if each.measurement is not None]


def outcomes(measurement: Measurement, expected: tuple[str, ...] = BOTH) -> list[str]:
    judged = judge(measurement, expected)
    return [str(judged.outcome), *(str(row.outcome) for row in judged.tests)]


def the_container(line: Line) -> str:
    assert line._box is not None
    return line._box.id


ENDS = {
    "honest": (job(), ["PASSED", "PASSED", "PASSED"]),
    "wrong": (f_does("return x"), ["FAILED", "FAILED", "PASSED"]),
    "raises": (f_does("raise ValueError(x)"), ["FAILED", "FAILED", "PASSED"]),
    "does not parse": (job("def f(:\n"), ["LOAD_ERROR", "NOT_RUN", "NOT_RUN"]),
    "fails while it loads": (job("1 / 0\n"), ["LOAD_ERROR", "NOT_RUN", "NOT_RUN"]),
    "leaves while it loads": (job("import os; os._exit(0)\n"), ["LOAD_ERROR", "NOT_RUN", "NOT_RUN"]),
    "dies while it loads": (job("import os; os.kill(os.getpid(), 9)\n"), ["SIGNAL", "NOT_RUN", "NOT_RUN"]),
    "leaves": (f_does("import os; os._exit(0)"), ["EARLY_EXIT", "EARLY_EXIT", "PASSED"]),
    "terminates itself": (f_does("import os; os.kill(os.getpid(), 15)"), ["SIGNAL", "SIGNAL", "PASSED"]),
    "kills itself": (f_does("import os; os.kill(os.getpid(), 9)"), ["SIGNAL", "SIGNAL", "PASSED"]),
    "aborts": (f_does("import os; os.abort()"), ["SIGNAL", "SIGNAL", "PASSED"]),
    "never ends": (f_does("while True: pass", BUSY), ["TIMEOUT_CPU", "TIMEOUT_CPU", "PASSED"]),
    "never ends loading": (job("while True: pass\n", BUSY), ["TIMEOUT_CPU", "NOT_RUN", "NOT_RUN"]),
    "sleeps": (f_does("import time; time.sleep(60)", IDLE), ["TIMEOUT_WALL", "TIMEOUT_WALL", "NOT_RUN"]),
    "too large": (f_does("return bytearray(1 << 30)"), ["MEMORY", "MEMORY", "PASSED"]),
    "prints without end": (
        f_does("while True: print('x' * 9999)"),
        ["OUTPUT_LIMIT", "OUTPUT_LIMIT", "PASSED"],
    ),
    "shows": (f_does("print('seen'); return 0", revealed=True), ["FAILED", "FAILED", "PASSED"]),
    "large": (job(HONEST + "# " + "long " * 60_000), ["PASSED", "PASSED", "PASSED"]),
    "not one byte each": (job(HONEST + "# größer \U0001f40d\n"), ["PASSED", "PASSED", "PASSED"]),
}


@pytest.fixture(scope="module")
def single(pool: Pool, plain: BuiltImage) -> dict[str, Measurement]:
    """What boxes of their own say of the same samples."""
    return {
        name: pool.run(
            given,
            image=plain.digest,
            name=f"tests-{number}",
            on_started=lambda: None,
            on_row=lambda _: None,
        )
        for number, (name, (given, _)) in enumerate(ENDS.items())
    }


def test_samples_come_to_what_a_box_of_their_own_says(line: Line, single: dict[str, Measurement]) -> None:
    """Rows, texts and outcome are those of a single-use box, whatever the samples before did."""
    found = measured(line, *(given for given, _ in ENDS.values()))
    for (name, (_, expected)), forked in zip(ENDS.items(), found, strict=True):
        assert outcomes(forked) == expected, name
        assert forked.facts["mode"] == line.mode, name
        assert comparable(forked) == comparable(single[name]), name


def comparable(measurement: Measurement) -> Measurement:
    """What two paths must agree in: all but clocks, counters and where it ran."""
    rows = tuple(replace(row, milliseconds=0.0) for row in measurement.rows)
    return replace(
        measurement,
        rows=rows,
        facts={},
        cpu_seconds=0,
        wall_seconds=0,
        memory_bytes=0,
        stdout=measurement.stdout[:99],
    )


LEAVES = {
    "files": """
import os, pathlib
for place in ("/work", "/tmp", "/dev/shm", "/dev/mqueue", "."):
    try:
        pathlib.Path(place, "left").write_text("left")
        os.makedirs(place + "/deep/deeper")
        os.chmod(place, 0)
    except OSError:
        pass
""",
    "marks on the places themselves": """
import os
for place in ("/work", "/tmp", "/dev/shm"):
    try:
        os.utime(place, (1234567, 1234567))
        os.setxattr(place, "user.left", b"left")
    except OSError:
        pass
try:
    os.sched_setaffinity(1, {0})
except OSError:
    pass
""",
    "System V objects and queues": """
import ctypes
libc = ctypes.CDLL(None)
libc.shmget(4711, 4096, 0o1666), libc.semget(4712, 1, 0o1666), libc.msgget(4713, 0o1666)
libc.mq_open(b"/left", 0o102, 0o666, None)
""",
    "a daemon": """
import os, time
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        while True:
            for place in ("/work", "/tmp", "/dev/shm"):
                try:
                    open(place + "/beat", "w").close()
                except OSError:
                    pass
            time.sleep(0.005)
    os._exit(0)
""",
}
LOOKS = """
import ctypes, os, time
found = []
for _ in range(10):
    for place in ("/work", "/tmp", "/dev/shm", "/dev/mqueue"):
        try:
            found += [f"{place}/{name}" for name in os.listdir(place)]
        except OSError:
            pass
    time.sleep(0.005)
for place in ("/work", "/tmp", "/dev/shm"):
    try:
        found += os.listxattr(place)
        found += [f"time of {place}"] * (1234567 in (os.stat(place).st_mtime, os.stat(place).st_atime))
    except OSError:
        pass
found += ["one processor"] * (os.sched_getaffinity(0) == {0} and os.cpu_count() > 1)
libc = ctypes.CDLL(None)
found += [name for name, key in (("shmget", 4711), ("semget", 4712), ("msgget", 4713)) if getattr(libc, name)(key, 0, 0) >= 0]
found += ["mq_open"] if libc.mq_open(b"/left", 0) >= 0 else []
"""


@pytest.mark.parametrize("left", LEAVES)
def test_nothing_that_a_sample_leaves_is_seen_by_the_next(left: str, line: Line) -> None:
    honest = "\ndef f(x):\n    return x + 1\n\ndef g(x):\n    return x + 1\n"
    leaver, looker = measured(line, job(LEAVES[left] + honest), looks(LOOKS))
    assert outcomes(leaver) == ["PASSED", "PASSED", "PASSED"]
    assert outcomes(looker, ("test_nothing",)) == ["PASSED", "PASSED"], looker.rows


def test_a_sample_looks_around_and_finds_nobody(line: Line) -> None:
    """Neither pid 1, nor the host's side, nor the descriptors of another."""
    around = """
import ctypes, os
found = []
for path in ("/proc/1/environ", "/proc/1/mem", "/proc/1/maps", "/proc/1/cmdline", "/proc/self/mem", "/proc/self/environ"):
    try:
        open(path, "rb").close()
        found.append(path)
    except OSError:
        pass
for path in ("/proc/1/fd", "/proc/1/task", "/sys/fs/cgroup"):
    try:
        found += [path] * bool(os.listdir(path))
    except OSError:
        pass
open_here = []
for number in range(256):
    try:
        os.fstat(number)
        open_here.append(number)
    except OSError:
        pass
found += open_here if len(open_here) != 5 else []  # the three streams, rows and tests
if os.getppid() > 1:
    found.append("a parent that is not pid 1")
libc = ctypes.CDLL(None)
found += [hex(flag) for flag in (0x10000000, 0x20000, 0x8000000) if libc.unshare(flag) == 0]
found += ["mount"] * (libc.mount(b"tmpfs", b"/work", b"tmpfs", 0, None) == 0)
"""
    (seen,) = measured(line, looks(around))
    assert outcomes(seen, ("test_nothing",)) == ["PASSED", "PASSED"], seen.rows


def test_signals_reach_nobody_but_the_sample_itself(line: Line) -> None:
    hits = """
import os, signal
for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGSTOP, signal.SIGCHLD, signal.SIGUSR1, signal.SIGKILL):
    for whom in (1, -1):
        if (whom, number) != (-1, signal.SIGSTOP):
            try:
                os.kill(whom, number)
            except OSError:
                pass
"""
    measured(line, job())
    before = the_container(line)
    found = measured(line, job(hits + HONEST), *[job()] * 3)
    assert [outcomes(each)[0] for each in found] == ["PASSED"] * 4
    assert the_container(line) == before


# A sample finds its own copy of the mark where it stands; the next one must find as many as one that follows nobody.
MARK = "".join(chr(ord(letter) ^ 1) for letter in "an-earlier-sample-was-here-4b1d")
SCAN = f"""
import ctypes, os
coded = {MARK!r}
libc = ctypes.CDLL(None)
libc.sbrk.restype = ctypes.c_void_p
read, write = os.pipe()
here = sorted([libc.sbrk(0), *(id(thing) for thing in (object(), [], {{}}, "x" * 999, bytearray(1 << 20)))])
ranges = [(each - (48 << 20), each + (16 << 20)) for each in here]
copies, pages, seen = 0, 0, 0
for first, last in ranges:
    for page in range(max(first & ~4095, seen), last & ~4095, 4096):
        if libc.write(write, ctypes.c_void_p(page), 4096) == 4096:
            data, pages = os.read(read, 4096), pages + 1
            copies += data.count(bytes(ord(letter) ^ 1 for letter in coded))
    seen = max(seen, last & ~4095)
"""


def scan(before: str = "") -> Job:
    tests = "def test_scan():\n    assert (pages, copies) == 0\n"
    return Job(before + SCAN, tests, ("test_scan",), Limits(20, 60), revealed=True)


def copies(measurement: Measurement) -> tuple[int, int]:
    pages, copies = measurement.rows[0].values[0].strip("()").split(", ")
    return int(pages), int(copies)


def test_memory_holds_no_trace_of_an_earlier_sample(line: Line) -> None:
    mark = "".join(chr(ord(letter) ^ 1) for letter in MARK)
    (nobody,) = measured(line, scan())
    marked = f"import sys\nkept = ['{mark}' + str(n) for n in range(500)]\nprint(kept)\nprint(kept, file=sys.stderr)\n"
    tests = f"def test_f():\n    assert kept == '{mark}', '{mark}'\n"
    earlier = Job(marked, tests, ("test_f",), USUAL, revealed=True)
    hidden = replace(earlier, revealed=False)
    broken = Job(f"raise ValueError('{mark}' * 50)\n", tests, ("test_f",), USUAL, revealed=True)
    *_, later = measured(line, earlier, hidden, broken, earlier, scan())
    itself = measured(line, scan(f"kept = ['{mark}' + str(n) for n in range(500)]\n"))[0]
    assert copies(nobody)[0] > 2000
    assert copies(itself)[1] > copies(nobody)[1] + 400
    assert copies(later)[1] <= copies(nobody)[1]


def test_h1_honest_samples_keep_their_verdict_beside_hostile_ones(line: Line, engine: Engine) -> None:
    bomb = job("import os\nwhile True:\n    try: os.fork()\n    except OSError: pass\n", BUSY)
    hog = f_does("kept = []\nwhile True: kept.append(bytearray(1 << 22))")
    flood = f_does("import os\nwhile True: os.write(1, b'x' * 65536)")
    jobs = [job()] * 50
    for place, hostile in ((10, bomb), (25, hog), (40, flood)):
        jobs.insert(place, hostile)
    found = measured(line, *jobs)
    assert [outcomes(each) for each, given in zip(found, jobs, strict=True) if given == job()] == [
        ["PASSED", "PASSED", "PASSED"]
    ] * 50
    assert [outcomes(found[place])[0] for place in (10, 25, 40)] == ["TIMEOUT_CPU", "MEMORY", "OUTPUT_LIMIT"]


def test_a_container_is_replaced_after_what_may_have_spoilt_it(line: Line) -> None:
    measured(line, job())
    before = the_container(line)
    assert [outcomes(each)[0] for each in measured(line, f_does("return bytearray(1 << 30)"), job())] == [
        "MEMORY",
        "PASSED",
    ]
    assert the_container(line) != before


def test_a_container_that_goes_costs_the_sample_it_was_at_and_no_other(line: Line, engine: Engine) -> None:
    jobs = [f_does("import time; time.sleep(3); return x + 1"), *[job()] * 5]
    found: dict[int, Measurement | None] = {}
    for ran in line.run(jobs):
        if ran is None and line._box is not None and not found:
            engine.remove(line._box.id)
        if ran is not None:
            found[ran.place] = ran.measurement
    assert found.pop(0) is None
    assert sorted(found) == [1, 2, 3, 4, 5]
    assert all(each is not None and outcomes(each)[0] == "PASSED" for each in found.values())


def test_a_stream_that_ends_as_the_sample_is_loaded_is_not_read_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The kernel names both at once, and the stream is drained and closed before the tests go out."""
    rows, out, tests, listen = (os.pipe() for _ in range(4))
    zygote = SimpleNamespace(listen=listen[0], held=bytearray(1 << 18), held_tests=bytearray(64))
    zygote.view, zygote.piece = memoryview(zygote.held), memoryview(bytearray(64))
    monkeypatch.setattr(Turn, "_deliver", lambda self: None)
    turn = Turn(cast(Zygote, zygote), HEADER.pack(0, 0, 1, 1, False, False, bytes(32)))
    turn.clock = cast(Clock, SimpleNamespace(patience=lambda: 1, passed=set))
    turn.watched = Watched(-1)
    turn.rows, turn.tests, turn.streams = rows[0], tests[1], {out[0]: b"o"}
    turn.poll = select.poll()
    for end in (rows[0], out[0]):
        os.set_blocking(end, False)
        turn.poll.register(end, select.POLLIN)
    os.write(rows[1], turn.token)
    os.close(out[1])
    turn._wait()
    assert turn.loaded
    assert turn.streams == {}


def test_objects_of_the_zygote_are_not_counted_where_the_interpreter_knows_how(line: Line) -> None:
    sample = looks("import sys\nfound = [] if sys.getrefcount(sys.modules) > 1 << 31 else ['counted']\n")
    (seen,) = measured(line, sample)
    assert judge(seen, ("test_nothing",)).outcome is Outcome.PASSED


def test_a_container_whose_worker_is_gone_ends_at_once_with_all_it_was_sent(
    engine: Engine, line: Line
) -> None:
    own = Line(engine, line.mode, line.kind, keeper=f"tests-of-the-gone-{os.getpid()}")
    sleeper = f_does("import time; time.sleep(600)", Limits(cpu_seconds=5, wall_seconds=300))
    for _ in own.run([sleeper] * 3):  # None after a second: all three are under way
        break
    assert own._box is not None
    assert engine.boxes(f"tests-of-the-gone-{os.getpid()}") == [own._box.id]
    own._box.stream.close()  # as the kernel does for a process that is killed
    wait_until(lambda: engine.boxes(f"tests-of-the-gone-{os.getpid()}") == [], "the container's end")
    own.close()


def test_samples_are_run_under_the_seed_they_ask_for(engine: Engine, plain: BuiltImage) -> None:
    program = "import sys\nfound = [] if hash('a') == {} else ['another seed']\n"
    import subprocess
    import sys

    known = subprocess.run(
        [sys.executable, "-c", "print(hash('a'))"],
        env={"PYTHONHASHSEED": "7"},
        capture_output=True,
        text=True,
    ).stdout.strip()
    given = replace(looks(program.format(known)), seed=7)
    line = Line(engine, LANDLOCK, Kind.of(given, plain.digest), keeper=KEEPER)
    try:
        if modes.tried(engine, LANDLOCK, plain.digest) == modes.HOLDS:
            (seen,) = measured(line, given)
            assert judge(seen, ("test_nothing",)).outcome is Outcome.PASSED
    finally:
        line.close()


def test_two_owners_never_share_a_container(engine: Engine, plain: BuiltImage) -> None:
    if modes.tried(engine, LANDLOCK, plain.digest) != modes.HOLDS:
        pytest.skip("zygote does not hold here")
    lines = Lines(engine, keeper=f"tests-of-lines-{os.getpid()}", at_most=2)
    kind = Kind.of(job(), plain.digest)
    used = []
    for scope in ("ann", "ann", "ben", "ann"):
        with lines.lent(Owner(scope, LANDLOCK, kind)) as lent:
            measured(lent, job())
            used.append(the_container(lent))
    assert used[0] == used[1] == used[3]
    assert used[2] != used[0]
    assert len(engine.boxes(f"tests-of-lines-{os.getpid()}")) == 2
    assert lines.close_idle(seconds=0) == 2
    lines.close()
    assert engine.boxes(f"tests-of-lines-{os.getpid()}") == []
    with pytest.raises(SandboxUnavailable), lines.lent(Owner("ann", LANDLOCK, kind)):
        pass


def test_a_line_leaves_nothing_where_no_thread_can_be_started_any_more(
    engine: Engine, plain: BuiltImage
) -> None:
    if modes.tried(engine, LANDLOCK, plain.digest) != modes.HOLDS:
        pytest.skip("zygote does not hold here")
    keeper = f"tests-of-the-end-{os.getpid()}"
    line = Line(engine, LANDLOCK, Kind.of(job(), plain.digest), keeper=keeper)
    measured(line, job())
    assert len(engine.boxes(keeper)) == 1
    line._helper.shutdown()  # what the interpreter's end has done by the time that boxes are closed
    line.close()
    wait_until(lambda: not engine.boxes(keeper), "the container's removal")  # the engine may be at it already
