"""Bulk through a real worker, stored in the database: samples a second in each mode, loops among them, what people feel.

    python -m tests.benchmarks.bench_bulk [humaneval] [loops] [memory] [--times N] [--modes zygote ...] [--workers N]
                                          [--pause SECONDS]

humaneval  the 164 published references, each N times (60), in each mode that holds here; `single` gets each once
loops      10,000 samples, one in a hundred of them without end, CPU limit 0.5 s
memory     what the worker's memory grows by over 10,000 runs

Beside the first, interactive runs are asked for all the while: from asking to hearing of the outcome. They come at random,
one a second on average, as twenty people send them who run three a minute each; with `--pause` each comes so long after the
end of the last, and where that is less than a box takes to be made there is always one being made beside it. Goals are those of
design.md. Exit 1 where a goal is missed, or a sample comes to anything but its one outcome.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import random
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.benchmarks.bench_lanes import plain_environment, times
from tests.benchmarks.figures import Table
from tests.benchmarks.records import DATA
from tests.benchmarks.stages import stages
from tests.services import redis_program, redis_server

ROOT = Path(__file__).resolve().parents[2]
PARTS = ("humaneval", "loops", "memory")
GOALS = {"zygote": 500, "zygote-userns": 300, "single": 12}
LOOPS, EVERY, LOOP_SECONDS = 10_000, 100, 0.5
LOOPS_GOAL_SECONDS, GROWTH_GOAL_MIB, INTERACTIVE_P95 = 60, 20, 120
RUNS = 10_000
PATIENCE_SECONDS = 1800
RUNS_A_SECOND = 1.0


def main() -> int:
    """Measure what was asked for on a site of its own; return 1 where a goal was missed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("parts", nargs="*", help=f"of {', '.join(PARTS)}")
    parser.add_argument("--times", type=int, default=60)
    parser.add_argument("--modes", nargs="+", default=list(GOALS))
    parser.add_argument("--workers", type=int, default=1, help="worker processes for bulk, beside the first")
    parser.add_argument("--pause", type=float, help="seconds between interactive runs; without it at random")
    parser.add_argument("--without-people", action="store_true", help="ask for no interactive runs meanwhile")
    asked = parser.parse_args()
    program = redis_program()
    if program is None:
        print("This needs redis-server: apt-get install redis-server")
        return 1
    with tempfile.TemporaryDirectory(prefix="benchwright-bulk-") as room, redis_server(program) as url:
        os.environ |= {
            "DJANGO_SETTINGS_MODULE": "config.settings",
            "BENCHWRIGHT_DATA": room,
            "REDIS_URL": url,
            "LOG_LEVEL": "WARNING",
        }
        import django
        from django.core.management import call_command

        django.setup()
        call_command("migrate", verbosity=0, skip_checks=True)
        bench = Bench(asked)
        return bench.run(asked.parts or PARTS)


class Bench:
    """The table, and what its parts share."""

    def __init__(self, asked: argparse.Namespace) -> None:
        self.asked = asked
        self.environment = plain_environment()
        self.table = Table("Bulk samples through a worker, stored in the database")

    def run(self, parts: Sequence[str]) -> int:
        """Measure the parts and print them."""
        if "humaneval" in parts:
            for mode in self.asked.modes:
                self.humaneval(mode)
        if "loops" in parts:
            self.loops()
        if "memory" in parts:
            self.memory()
        return self.table.show()

    def humaneval(self, mode: str) -> None:
        """Add the rate of HumanEval's references in a mode, and what people felt meanwhile."""
        from django.utils import timezone

        jobs = list(references()) * (1 if mode == "single" else self.asked.times)
        since = timezone.now()
        with workers(mode, self.asked.workers) as pids:
            people = None if self.asked.without_people else People(self.environment, self.asked.pause)
            found = self.through(jobs, f"humaneval-{mode}")
            felt = people.end() if people else []
        rate = len(jobs) / found.seconds
        wrong = len(jobs) - found.outcomes["PASSED"]
        self.table.fact(
            f"{mode}: {len(jobs)} HumanEval references",
            f"{rate:.0f} samples/s, {wrong} not PASSED, {len(pids)} workers, modes {dict(found.modes)}",
            goal=f">= {GOALS[mode]}/s",
            holds=rate >= GOALS[mode] and not wrong,
        )
        if felt:
            self.table.add(f"interactive meanwhile ({mode})", felt, p95=INTERACTIVE_P95)
            for name, values in stages(since).items():
                self.table.add(f"  of it: {name}", values)

    def loops(self) -> None:
        """Add the seconds for samples of which one in a hundred never ends."""
        from runner.sandbox.base import Limits

        limits = Limits.for_cpu(LOOP_SECONDS)
        jobs = [trivial("while True: pass" if n % EVERY == 0 else "return 1", limits) for n in range(LOOPS)]
        with workers("auto", self.asked.workers):
            found = self.through(jobs, "loops")
        right = found.outcomes == {"PASSED": LOOPS - LOOPS // EVERY, "TIMEOUT_CPU": LOOPS // EVERY}
        self.table.fact(
            f"{LOOPS} samples, 1 % without end, {LOOP_SECONDS} s",
            f"{found.seconds:.1f} s, {LOOPS / found.seconds:.0f} samples/s, {dict(found.outcomes)}",
            goal=f"<= {LOOPS_GOAL_SECONDS} s",
            holds=found.seconds <= LOOPS_GOAL_SECONDS and right,
        )

    def memory(self) -> None:
        """Add what the worker's memory grows by over many runs, after some have warmed it up."""
        from runner.sandbox.base import Limits

        job = trivial("print('x' * 2000); return 1", Limits.for_cpu(1))
        with workers("auto", self.asked.workers) as pids:
            self.through([job] * 1000, "warming")
            before = [resident(pid) for pid in pids]
            self.through([job] * RUNS, "memory")
            grown = max(resident(pid) - was for pid, was in zip(pids, before, strict=True))
        self.table.fact(
            f"worker memory over {RUNS} runs",
            f"{grown:+.1f} MiB of {max(before):.0f}",
            goal=f"< {GROWTH_GOAL_MIB} MiB",
            holds=grown < GROWTH_GOAL_MIB,
        )

    def through(self, jobs: Sequence[Any], scope: str) -> Found:
        """Ask for the jobs as one evaluation run and wait for their end; the clock starts when the first is asked for."""
        from runner.bulk import enqueue_many
        from runner.models import Execution

        began = time.monotonic()
        enqueue_many(jobs, environment=self.environment, scope=scope)
        mine = Execution.objects.filter(scope=scope)
        while mine.open().exists():
            if time.monotonic() - began > PATIENCE_SECONDS:
                raise SystemExit(f"{scope}: {mine.open().count()} are still open")
            time.sleep(0.1)
        seconds = time.monotonic() - began
        ended = mine.values_list("outcome", "reason", "facts__mode")
        return Found(
            seconds,
            Counter(outcome or reason for outcome, reason, _ in ended),
            Counter(str(mode) for *_, mode in ended),
        )


class Found:
    """What came of a run: how long it took, its outcomes, the modes it ran in."""

    def __init__(self, seconds: float, outcomes: Counter[str], modes: Counter[str]) -> None:
        self.seconds, self.outcomes, self.modes = seconds, outcomes, modes


class People(threading.Thread):
    """Somebody who asks for interactive runs, one after the other, until the end."""

    def __init__(self, environment: Any, pause: float | None) -> None:
        super().__init__(daemon=True)
        self.environment, self.found, self.ended = environment, list[float](), threading.Event()
        self.pause = (lambda: random.expovariate(RUNS_A_SECOND)) if pause is None else lambda: pause
        self.start()

    def run(self) -> None:
        """Ask and note until `end()`; the first ones may meet a worker that only starts."""
        while not self.ended.is_set():
            self.found += asyncio.run(times(self.environment, at_most=5, pause=self.pause))

    def end(self) -> list[float]:
        """Return the milliseconds from asking to hearing, without those of the first second."""
        self.ended.set()
        self.join(60)
        return self.found[5:] or self.found


def references() -> Iterator[Any]:
    """Yield HumanEval's references as the jobs of samples."""
    from runner.reproducing.formats import FORMATS
    from runner.sandbox.base import Limits

    form = FORMATS["humaneval"]
    for sample in form.read([DATA / "humaneval/HumanEval.jsonl.gz"], Limits.for_cpu(form.cpu_seconds)):
        yield sample.job


def trivial(body: str, limits: Any) -> Any:
    """Return a job whose function has this body."""
    from runner.sandbox.base import Job

    return Job(f"def one():\n    {body}\n", "def test_one():\n    assert one() == 1\n", ("test_one",), limits)


@contextmanager
def workers(mode: str, count: int) -> Iterator[list[int]]:
    """Give a worker for everything, and further ones for bulk, whose modes have been tried; their process ids."""
    from runner.models import Worker

    variables = os.environ | {"RUNNER_BULK_MODE": mode, "RUNNER_RECONCILE_SECONDS": "1"}
    if count > 1:
        variables["RUNNER_BULK_THREADS"] = "1"
    command = ["setpriv", "--pdeathsig", "TERM", "--", sys.executable, "-m", "config.work"]
    queues: list[list[str]] = [[], *[["bulk"]] * (count - 1)]
    running = [subprocess.Popen([*command, *names], cwd=ROOT, env=variables) for names in queues]
    try:
        until = time.monotonic() + 60
        while time.monotonic() < until and not all(
            ready(worker.facts, mode) for worker in fresh(Worker, count)
        ):
            time.sleep(0.2)
        time.sleep(3)
        yield [process.pid for process in running]
    finally:
        for process in running:
            process.terminate()
        for process in running:
            process.wait(60)


def fresh(kind: Any, count: int) -> list[Any]:
    """Return the rows of workers, as many as there should be; one that has not said anything counts as not ready."""
    found = list(kind.objects.all())
    return found if len(found) >= count else [kind(facts={})]


def ready(facts: dict[str, Any], mode: str) -> bool:
    """Return whether a worker has warm boxes and has tried its modes."""
    return any(facts.get("waiting", {}).values()) and (mode == "single" or len(facts.get("modes", {})) > 1)


def resident(pid: int) -> float:
    """Return the resident memory of a process in MiB."""
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) / 1024
    return 0.0


if __name__ == "__main__":
    sys.exit(main())
