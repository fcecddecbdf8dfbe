"""One contract for every sandbox, against real boxes."""

from __future__ import annotations

import re
import time
from contextlib import suppress
from threading import Event, Thread
from typing import Any

import docker.errors
import pytest

from runner.environments.building import BuiltImage
from runner.outcome import Measurement, Outcome, Row, judge
from runner.sandbox.base import Job, Limits, Sandbox, SandboxUnavailable
from runner.sandbox.engine import Box, Engine
from runner.sandbox.pool import Pool

pytestmark = pytest.mark.docker

LIMITS = Limits(cpu_seconds=5, wall_seconds=30)
RIGHT = "def f(x):\n    return x + 1\n"
TESTS = "def test_a():\n    assert f(1) == 2\n    assert f(2) == 3\n\ndef test_b():\n    assert f(0) == 1, 'zero'\n"
BOTH = ("test_a", "test_b")


class Runs:
    """A sandbox with one image, and what it reported of the last run."""

    def __init__(self, sandbox: Sandbox, image: str) -> None:
        self.sandbox, self.image = sandbox, image
        self.rows: list[tuple[float, Row]] = []
        self.started: list[float] = []

    def __call__(
        self, program: str, tests: str = TESTS, expected: tuple[str, ...] = BOTH, **rest: Any
    ) -> Measurement:
        job = Job(program, tests, expected, **{"limits": LIMITS, "revealed": True} | rest)
        self.rows.clear()
        self.started.clear()
        return self.sandbox.run(
            job,
            image=self.image,
            name=f"claim-{time.monotonic_ns()}",
            on_started=lambda: self.started.append(time.monotonic()),
            on_row=lambda row: self.rows.append((time.monotonic(), row)),
        )


@pytest.fixture(params=["pool", "cold"])
def runs(request: pytest.FixtureRequest, plain: BuiltImage) -> Runs:
    return Runs(request.getfixturevalue(request.param), plain.digest)


def outcomes(measurement: Measurement, expected: tuple[str, ...] = BOTH) -> list[str]:
    judgement = judge(measurement, expected)
    return [str(judgement.outcome), *(str(row.outcome) for row in judgement.tests)]


def test_a_right_program_passes_with_a_row_for_everything(runs: Runs) -> None:
    measurement = runs(RIGHT)
    assert outcomes(measurement) == ["PASSED", "PASSED", "PASSED"]
    assert [(row.test, row.assertion) for row in measurement.rows] == [
        ("test_a", 1), ("test_a", 2), ("test_a", None), ("test_b", 1), ("test_b", None),
    ]  # fmt: skip
    assert tuple(row for _, row in runs.rows) == measurement.rows
    assert len(runs.started) == 1
    assert (measurement.exit_status, measurement.signal) == (0, None)


def test_facts_say_where_and_how_it_ran(runs: Runs) -> None:
    facts = runs(RIGHT).facts
    assert {"engine", "kernel", "host", "image", "mode", "seed", "cgroup", "python", "runtime"} <= set(facts)
    assert (facts["mode"], facts["seed"], facts["image"]) == ("single", "0", runs.image)


def test_a_wrong_program_shows_values_lines_and_what_was_not_reached(runs: Runs) -> None:
    measurement = runs("def f(x):\n    return 2\n")
    assert outcomes(measurement) == ["FAILED", "FAILED", "FAILED"]
    rows = {(row.test, row.assertion): row for row in measurement.rows}
    assert (rows["test_a", 2].values, rows["test_a", 2].line) == (("2", "3"), 3)
    assert (rows["test_b", 1].values, rows["test_b", 1].message, rows["test_b", 1].line) == (
        ("2", "1"),
        "zero",
        6,
    )


def test_what_hidden_tests_print_and_compare_is_not_brought_back(runs: Runs) -> None:
    program = "print('loaded')\ndef f(x):\n    print('hidden', x)\n    return 7\n"
    measurement = runs(program, revealed=False)
    assert measurement.stdout == "loaded\n"
    assert all((row.message, row.values) == ("", ()) for row in measurement.rows)
    assert outcomes(measurement) == ["FAILED", "FAILED", "FAILED"]


def test_what_visible_tests_print_is_kept(runs: Runs) -> None:
    measurement = runs(
        "import sys\ndef f(x):\n    print('in', x)\n    print('err', file=sys.stderr)\n    return x + 1\n"
    )
    assert (measurement.stdout, measurement.stderr) == ("in 1\nin 2\nin 0\n", "err\n" * 3)


def test_rows_arrive_while_the_run_goes_on(runs: Runs) -> None:
    tests = "import time\ndef test_a():\n    assert f(1)\n    time.sleep(0.6)\n    assert f(2)\n"
    runs(RIGHT, tests, ("test_a",))
    (first, _), (second, _), _ = runs.rows
    assert second - first > 0.4


def test_the_published_block_runs_as_main(runs: Runs) -> None:
    block = "if __name__ == '__main__':\n    test_b()\n    print('between')\n    test_a()\n"
    measurement = runs(RIGHT, block=block)
    assert outcomes(measurement) == ["PASSED", "PASSED", "PASSED"]
    assert measurement.stdout == "between\n"
    assert [row.test for row in measurement.rows if row.assertion is None] == ["test_b", "test_a"]


def test_a_block_goes_on_after_a_failing_and_a_leaving_test(runs: Runs) -> None:
    tests = TESTS + "\ndef test_c():\n    raise SystemExit\n"
    expected = ("test_a", "test_c", "test_b")
    measurement = runs(
        "def f(x):\n    return 1 if x == 0 else 0\n", tests, expected, block="test_a(); test_c(); test_b()"
    )
    assert outcomes(measurement, expected) == ["EARLY_EXIT", "FAILED", "EARLY_EXIT", "PASSED"]


def test_a_process_that_ends_in_a_block_leaves_the_rest_not_run(runs: Runs) -> None:
    measurement = runs("import os\ndef f(x):\n    os._exit(0)\n", block="test_a(); test_b()")
    assert outcomes(measurement) == ["EARLY_EXIT", "EARLY_EXIT", "NOT_RUN"]


def test_a_test_the_block_does_not_call_was_not_run(runs: Runs) -> None:
    assert outcomes(runs(RIGHT, block="test_a()")) == ["FAILED", "PASSED", "NOT_RUN"]


def test_every_test_keeps_its_own_verdict_when_processes_die(runs: Runs) -> None:
    tests = "".join(
        f"def test_{name}():\n    assert f({name!r})\n"
        for name in ("exit", "good", "signal", "raise", "loop", "last")
    )
    program = (
        "import os\ndef f(x):\n    if x == 'exit': os._exit(3)\n    if x == 'signal': os.kill(os.getpid(), 9)\n"
        "    if x == 'raise': raise ValueError\n    while x == 'loop': pass\n    return True\n"
    )
    expected = tuple(f"test_{name}" for name in ("exit", "good", "signal", "raise", "loop", "last"))
    measurement = runs(program, tests, expected, limits=Limits(cpu_seconds=0.5, wall_seconds=30))
    wanted = ["EARLY_EXIT", "PASSED", "SIGNAL", "FAILED", "TIMEOUT_CPU", "PASSED"]
    assert outcomes(measurement, expected) == ["TIMEOUT_CPU", *wanted]


def test_processes_of_one_run_do_not_see_each_others_files(runs: Runs) -> None:
    program = (
        "import os\nseen = os.listdir('/tmp') + os.listdir('/work')\ndef f(x):\n    os.makedirs('/tmp/a/b')\n"
        "    open('/tmp/a/b/c', 'w').close()\n    os._exit(0)\n"
    )
    tests = "def test_a():\n    assert f(1)\ndef test_b():\n    assert seen == []\n"
    assert outcomes(runs(program, tests)) == ["EARLY_EXIT", "EARLY_EXIT", "PASSED"]


def test_coroutines_and_generators_are_driven(runs: Runs) -> None:
    tests = (
        "import asyncio\nasync def test_a():\n    await asyncio.sleep(0)\n    assert f(1) == 2\n"
        "def test_b():\n    yield\n    assert f(1) == 2\n"
    )
    assert outcomes(runs(RIGHT, tests)) == ["PASSED", "PASSED", "PASSED"]


def test_a_program_that_does_not_load_says_why_at_its_own_line(runs: Runs) -> None:
    measurement = runs("x = 1\n\n1 / 0\n", revealed=False)
    assert outcomes(measurement) == ["LOAD_ERROR", "NOT_RUN", "NOT_RUN"]
    assert 'File "solution.py", line 3' in measurement.load_error
    assert "1 / 0" in measurement.load_error
    assert "ZeroDivisionError" in measurement.load_error
    assert "supervisor" not in measurement.load_error


@pytest.mark.parametrize("block", ["", "test_a()"])
def test_an_exception_in_a_visible_test_shows_the_programs_own_lines(block: str, runs: Runs) -> None:
    measurement = runs("def f(x):\n    return 1 / (x - 1)\n", TESTS, ("test_a",), block=block)
    places = re.findall(r'File "(.*?)", line (\d+)', measurement.stderr)
    assert places == [("tests.py", "2"), ("solution.py", "2")]
    assert "assert f(1) == 2" in measurement.stderr
    assert "return 1 / (x - 1)" in measurement.stderr


def test_a_failed_assertion_needs_no_traceback(runs: Runs) -> None:
    assert runs("def f(x):\n    return 0\n").stderr == ""


def test_tests_that_do_not_compile_are_not_taken_for_the_programs_fault(runs: Runs) -> None:
    measurement = runs(RIGHT, "def test_a(:\n", ("test_a",), revealed=False)
    assert outcomes(measurement, ("test_a",)) == ["LOAD_ERROR", "NOT_RUN"]
    assert measurement.load_error == "The tests do not compile."


def test_a_scratch_run_prints_like_a_console(runs: Runs) -> None:
    measurement = runs(RIGHT, "", (), block="y = f(1)\nprint('y', y)\nf(y)\n")
    assert (measurement.stdout, outcomes(measurement, ())) == ("y 2\n3\n", ["PASSED"])


def test_a_scratch_run_that_fails_shows_the_traceback_without_our_frames(runs: Runs) -> None:
    measurement = runs("def f(x):\n    return 1 / x\n", "", (), block="f(0)")
    assert outcomes(measurement, ()) == ["FAILED"]
    assert re.findall(r'File "(.*?)", line (\d+)', measurement.stderr) == [
        ("block.py", "1"),
        ("solution.py", "2"),
    ]


def test_a_scratch_run_cannot_read_input(runs: Runs) -> None:
    assert "EOFError" in runs("", "", (), block="input()").stderr


def test_every_run_starts_from_nothing(runs: Runs) -> None:
    runs("import os\nopen('/tmp/x', 'w').write('1'); open('/work/x', 'w').write('1')", "", (), block="1")
    left = runs("import os", "", (), block="os.listdir('/tmp') + os.listdir('/work')")
    assert left.stdout == "[]\n"


def test_limits_count_what_was_used(runs: Runs) -> None:
    measurement = runs(
        "x = bytearray(b'x' * (100 << 20))\nimport time\nt = time.process_time\nwhile t() < 0.3: pass",
        "",
        (),
        block="1",
    )
    assert 0.25 < measurement.cpu_seconds < 3
    assert 100 << 20 < measurement.memory_bytes < 250 << 20


def test_the_seed_of_the_job_is_the_seed_of_the_run(runs: Runs) -> None:
    seeds = {seed: runs("", "", (), block="hash('x')", seed=seed) for seed in (0, 1, 0)}
    assert seeds[0].stdout != seeds[1].stdout
    assert [seeds[seed].facts["seed"] for seed in (0, 1)] == ["0", "1"]


def test_other_memory_and_process_limits_are_kept(runs: Runs) -> None:
    limits = Limits(cpu_seconds=5, wall_seconds=30, memory_bytes=64 << 20, processes=8)
    measurement = runs("x = b'x' * (100 << 20)", limits=limits)
    assert outcomes(measurement)[0] == "MEMORY"


def test_an_image_that_is_not_there_is_no_verdict(runs: Runs) -> None:
    runs.image = "sha256:" + "0" * 64
    with pytest.raises(SandboxUnavailable, match="image"):
        runs(RIGHT)


def test_an_engine_that_is_not_there_is_no_verdict() -> None:
    nowhere = Engine(base_url="unix:///nowhere/docker.sock")
    with pytest.raises(SandboxUnavailable, match="no engine can be reached"):
        nowhere.image_id("x")


def test_a_box_killed_from_outside_is_no_verdict(runs: Runs, engine: Engine) -> None:
    job = Job("import time", "", (), LIMITS, block="print(1); time.sleep(20)", revealed=True)
    name = f"claim-{time.monotonic_ns()}"

    def end_it() -> None:
        keeper = getattr(runs.sandbox, "keeper", None) or runs.sandbox.cold.keeper  # type: ignore[attr-defined]
        until = time.monotonic() + 15
        while time.monotonic() < until:
            for box in engine.boxes(keeper):
                with suppress(docker.errors.APIError):
                    if len(engine.api.top(box)["Processes"]) > 1:
                        engine.api.kill(box)
                        return
            time.sleep(0.1)

    timer = Thread(target=end_it)
    timer.start()
    with pytest.raises(SandboxUnavailable, match="ended before its job did"):
        runs.sandbox.run(job, image=runs.image, name=name, on_started=lambda: None, on_row=lambda row: None)
    timer.join()


def test_a_run_that_goes_on_carries_the_name_of_its_claim(runs: Runs, engine: Engine) -> None:
    names: list[str] = []
    job = Job(
        RIGHT,
        "import time\ndef test_a():\n    time.sleep(1)\n    assert f(1)\n    time.sleep(0.2)\n",
        ("test_a",),
        LIMITS,
    )
    name = f"claim-{time.monotonic_ns()}"

    def look(row: Row) -> None:
        names.extend(box["Names"][0] for box in engine.api.containers())

    runs.sandbox.run(job, image=runs.image, name=name, on_started=lambda: None, on_row=look)
    assert f"/{name}" in names


def test_a_pool_that_is_empty_starts_cold(engine: Engine, plain: BuiltImage) -> None:
    pool = Pool(engine, {})
    try:
        assert outcomes(Runs(pool, plain.digest)(RIGHT))[0] == "PASSED"
    finally:
        pool.close()
    assert engine.boxes(pool.cold.keeper) == []


def test_a_job_that_finds_no_box_takes_the_next_that_comes(
    engine: Engine, plain: BuiltImage, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun, start = Event(), engine.start
    names: list[str] = []

    def slowly(*args: Any, name: str = "", **options: Any) -> Box:
        names.append(name)
        begun.set()
        time.sleep(0.3)
        return start(*args, name=name, **options)

    monkeypatch.setattr(engine, "start", slowly)
    pool = Pool(engine, {plain.digest: 1}, threads=1)
    try:
        assert begun.wait(10)
        assert outcomes(Runs(pool, plain.digest)(RIGHT))[0] == "PASSED"
    finally:
        pool.close()
    assert set(names) == {""}  # a box that is begun for a job has the job's name


def test_boxes_wait_to_be_begun_until_a_job_without_one_has_its_own(
    engine: Engine, plain: BuiltImage, monkeypatch: pytest.MonkeyPatch
) -> None:
    said: list[str] = []
    start = engine.start

    def noted(*args: Any, name: str = "", **options: Any) -> Box:
        whose = "job" if name else "pool"
        said.append(f"{whose} begins")
        if name:
            pool.keep({plain.digest: 1})
            time.sleep(0.2)
        box = start(*args, name=name, **options)
        said.append(f"{whose} is up")
        return box

    monkeypatch.setattr(engine, "start", noted)
    pool = Pool(engine, {})
    try:
        assert outcomes(Runs(pool, plain.digest)(RIGHT))[0] == "PASSED"
        assert pool.wait_until_full(60)
    finally:
        pool.close()
    assert said == ["job begins", "job is up", "pool begins", "pool is up"]


def test_dead_and_old_boxes_are_exchanged_while_nobody_runs(
    engine: Engine, plain: BuiltImage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("runner.sandbox.pool.LOOK_SECONDS", 0.2)
    pool = Pool(engine, {plain.digest: 2})
    try:
        assert pool.wait_until_full(60)
        dead, old = list(pool._waiting[plain.digest])
        old.started -= 1_000_000
        engine.remove(dead.id)
        until = time.monotonic() + 30
        while {dead.id, old.id} & {
            box.id for box in pool._waiting[plain.digest]
        } and time.monotonic() < until:
            time.sleep(0.05)
        assert pool.wait_until_full(60)
        assert not {dead.id, old.id} & {box.id for box in pool._waiting[plain.digest]}
        assert pool.waiting(plain.digest) == 2
    finally:
        pool.close()
    assert engine.boxes(pool.cold.keeper) == []


def test_a_box_that_stops_answering_is_ended_by_our_own_clock(
    runs: Runs, engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("runner.sandbox.conversation.SLACK_SECONDS", 0.5)
    name = f"claim-{time.monotonic_ns()}"
    tests = "import time\ndef test_a():\n    assert f(1)\n    time.sleep(0.4)\n    assert f(2)\n    time.sleep(60)\n"

    def stop_at_second(row: Row) -> None:
        if row.assertion == 2 and row.outcome == "PASSED":
            stopped(engine, name)

    job = Job(RIGHT, tests, ("test_a",), Limits(1, 3))
    measurement = runs.sandbox.run(
        job, image=runs.image, name=name, on_started=lambda: None, on_row=stop_at_second
    )
    assert outcomes(measurement, ("test_a",)) == ["TIMEOUT_WALL", "NOT_RUN"]
    assert (measurement.wall_exceeded, measurement.cpu_seconds) == (True, 0.0)


def stopped(engine: Engine, name: str) -> None:
    """Stop a box from outside as an overloaded host would, once it carries its name."""
    until = time.monotonic() + 5
    while time.monotonic() < until:
        found = [box["Id"] for box in engine.api.containers() if f"/{name}" in box["Names"]]
        if found:
            engine.api.pause(found[0])
            return
        time.sleep(0.05)


def test_a_dead_box_in_the_pool_is_passed_over(engine: Engine, plain: BuiltImage) -> None:
    pool = Pool(engine, {plain.digest: 2})
    try:
        assert pool.wait_until_full(60)
        for box in engine.boxes(pool.cold.keeper):
            engine.remove(box)
        time.sleep(0.5)
        assert outcomes(Runs(pool, plain.digest)(RIGHT))[0] == "PASSED"
    finally:
        pool.close()
    assert engine.boxes(pool.cold.keeper) == []


@pytest.mark.parametrize(
    ("body", "network"),
    [
        (
            'import socket; socket.create_connection(("whois.example.org", 43))',
            "the name whois.example.org",
        ),
        ('import socket; socket.socket().connect(("192.0.2.1", 80))', "the address 192.0.2.1:80"),
        ('import socket; socket.socket().connect(("whois.example.org", 43))', "an internet socket"),
        ("import socket; socket.socketpair()", None),
        ("import asyncio; asyncio.run(asyncio.sleep(0))", None),
    ],
)
def test_a_watched_job_notes_the_first_attempt_to_use_a_network(pool, plain, body, network):
    job = Job(
        program=f"def f():\n    {body}\n",
        tests="def test_f():\n    try:\n        f()\n    except OSError:\n        pass\n    assert True\n",
        expected=("test_f",),
        limits=Limits.for_cpu(2),
        watch_network=True,
    )
    measurement = pool.run(
        job,
        image=plain.digest,
        name=f"watched-{time.monotonic_ns()}",
        on_started=lambda: None,
        on_row=lambda row: None,
    )
    assert measurement.facts.get("network") == network
    assert judge(measurement, job.expected).outcome is Outcome.PASSED
