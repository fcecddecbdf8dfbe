"""Hostile submissions by modes: what must come of each and what did, and what is left afterwards.

    python -m tests.benchmarks.drill_hostile [--mode MODE ...] [--runs N] [NAME ...]

The acceptance list and what stands beside it, in every mode that this host holds: a container for each submission
(`single`), or one process after the other in one container. In the last two a submission whose text reaches for what
the mode has not is run in `single`, as the product does it; the table says so. Then 50 honest submissions beside a fork
bomb, a hog and a flood; the short ones again while other processes want both cores; and many runs in a row, for the
memory of this process. Exit 1 where anything came to another outcome, where a right answer was given to a wrong
program, or where more than the warm pool carries our label.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from runner.sandbox.base import Job
    from runner.sandbox.engine import Engine
    from runner.sandbox.pool import Pool
    from tests.runner.hostile import Case

AT_ONCE = 2
TRIES = 3  # as the product tries where no box can be had
SINGLE = "single"
WENT_DOWN = "single"
MEMORY_MIB = 20
STRESS = ("python3", "-c", "while True: pass")
WILD = ("41 fork bomb", "48 slow growth", "56 endless stdout")

Got = tuple[str, ...]


@dataclass
class Mode:
    """A mode, and what came of the cases in it: their outcomes, or where they went instead."""

    name: str
    got: dict[str, Got] = field(default_factory=dict)
    down: set[str] = field(default_factory=set)
    seconds: float = 0.0


class Place:
    """Where jobs are run: one pool for `single`, a line of containers for each other mode."""

    def __init__(self, engine: Engine, image: str, pool: Pool) -> None:
        self.engine, self.image, self.pool = engine, image, pool
        self._numbers = iter(range(1 << 40))

    def single(self, job: Job) -> Got:
        """Run a job in a box of its own and return what it came to: the whole, then each test."""
        from runner.outcome import judge
        from runner.sandbox.base import SandboxUnavailable

        for _ in range(TRIES):
            name = f"drill-{os.getpid()}-{next(self._numbers)}"
            with suppress(SandboxUnavailable):
                measured = self.pool.run(
                    job, image=self.image, name=name, on_started=lambda: None, on_row=lambda _row: None
                )
                found = judge(measured, job.expected)
                return (str(found.outcome), *(str(row.outcome) for row in found.tests))
        return ("unjudged",) * (1 + len(job.expected))

    def forked(self, mode: str, jobs: Sequence[Job]) -> Iterator[tuple[int, Got | None]]:
        """Run jobs in one line and yield place and outcomes; None where the product asks a box of its own.

        That is where the container ended without a word of it, and where it failed and was denied something.
        """
        from runner.outcome import judge
        from runner.sandbox.base import SandboxUnavailable
        from runner.sandbox.zygote import Kind, Line

        if not jobs:
            return
        line = Line(self.engine, mode, Kind.of(jobs[0], self.image), keeper=self.pool.cold.keeper)
        left = set(range(len(jobs)))
        try:
            for ran in line.run(jobs):
                if ran is None:
                    continue
                left.discard(ran.place)
                if ran.measurement is None:
                    yield ran.place, None
                    continue
                found = judge(ran.measurement, jobs[ran.place].expected)
                doubted = "denied" in ran.measurement.facts and found.outcome != "PASSED"
                yield (
                    ran.place,
                    None if doubted else (str(found.outcome), *(str(row.outcome) for row in found.tests)),
                )
        except SandboxUnavailable:
            for place in left:
                yield place, None
        finally:
            line.close()


def main(arguments: list[str]) -> int:
    """Run what was chosen, print the table and what is left; return the exit status."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "tests.settings")
    import django
    import docker

    django.setup()
    from runner.sandbox.engine import Engine
    from runner.sandbox.pool import Pool
    from tests.benchmarks.figures import machine
    from tests.runner.hostile import CASES
    from tests.runner.neighbours import NEIGHBOURS

    chosen = _parsed(arguments)
    every = [*CASES, *NEIGHBOURS]
    cases = [case for case in every if not chosen.names or any(name in case.name for name in chosen.names)]
    image = str(docker.from_env().images.get("benchwright/python:3.13").id)
    engine = Engine()
    print(machine())
    modes = [Mode(name) for name in _held(engine, image, chosen.modes)]
    pool = Pool(engine, {image: AT_ONCE})
    place = Place(engine, image, pool)
    wrong = 0
    try:
        pool.wait_until_full(60)
        for mode in modes:
            began = time.monotonic()
            _run(place, mode, cases)
            mode.seconds = time.monotonic() - began
            print(
                f"{mode.name}: {len(mode.got)} submissions in {mode.seconds:.0f} s",
                file=sys.stderr,
                flush=True,
            )
        wrong += _table(modes, cases)
        if not chosen.names:
            wrong += _beside(place, every)
            wrong += _under_stress(place, [case for case in every if case.quick])
        for mode in modes:
            wrong += _memory(place, mode.name, every, chosen.runs)
        left = _left_beside(pool, image)
    finally:
        pool.close()
    gone = _labelled()
    print(f"\nbeside the warm pool were left: {left or 'none'}")
    print(f"with the pool closed, of this process: {gone or 'none'}")
    return 0 if not wrong and not left and not gone else 1


def _parsed(arguments: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("names", nargs="*", help="parts of the names of submissions; all without")
    parser.add_argument("--mode", dest="modes", action="append", default=[], help="a mode; all without")
    parser.add_argument("--runs", type=int, default=1000, help="runs in a row, for memory (single: a tenth)")
    return parser.parse_args(arguments)


def _held(engine: Engine, image: str, wanted: Sequence[str]) -> list[str]:
    """Return the modes to run: those that were asked for, as far as this host holds them."""
    from runner import modes

    held = []
    for mode in wanted or (SINGLE, *modes.MODES[:-1]):
        shown = modes.HOLDS if mode == SINGLE else modes.tried(engine, mode, image)
        if shown == modes.HOLDS:
            held.append(mode)
        else:
            print(f"{mode} does not hold on this host: {shown}")
    return held


def _run(place: Place, mode: Mode, cases: Sequence[Case]) -> None:
    """Run the cases in a mode, two at a time, and keep what came of them."""
    if mode.name == SINGLE:
        with ThreadPoolExecutor(AT_ONCE) as threads:
            found = threads.map(lambda case: place.single(case.job()), cases)
            mode.got = {case.name: got for case, got in zip(cases, found, strict=True)}
        return
    from runner.sandbox.reach import fits

    fitting = [case for case in cases if fits(case.job(), mode.name)]
    mode.down = {case.name for case in cases} - {case.name for case in fitting}

    def run(half: Sequence[Case]) -> None:
        for at, got in place.forked(mode.name, [case.job() for case in half]):
            if got is None:
                mode.down.add(half[at].name)
                got = place.single(half[at].job())
            mode.got[half[at].name] = got

    with ThreadPoolExecutor(AT_ONCE) as threads:
        list(threads.map(run, [fitting[start::AT_ONCE] for start in range(AT_ONCE)]))


def _wanted(case: Case) -> Got:
    return (str(case.whole), str(case.f), str(case.g))


def _table(modes: Sequence[Mode], cases: Sequence[Case]) -> int:
    """Print a line for each case and a sum for each mode; return how many outcomes were wrong."""
    print(
        f"\n{'submission':62} {'expected: whole, f, g':38} " + "  ".join(f"{mode.name:14}" for mode in modes)
    )
    for case in cases:
        wanted = _wanted(case)
        cells = [_cell(mode, case.name, wanted) for mode in modes]
        print(f"{case.name:62} {', '.join(wanted):38} " + "  ".join(f"{cell:14}" for cell in cells))
    wrong = 0
    print()
    for mode in modes:
        missed = [case for case in cases if case.name in mode.got and mode.got[case.name] != _wanted(case)]
        passes = [
            case
            for case in missed
            if any(
                got == "PASSED" != want for got, want in zip(mode.got[case.name], _wanted(case), strict=True)
            )
        ]
        wrong += len(missed)
        print(
            f"{mode.name}: {len(mode.got) - len(missed)} of {len(mode.got)} came to their one outcome in"
            f" {mode.seconds:.0f} s, {len(passes)} wrong passes; {len(mode.down)} are for `single`"
        )
    return wrong


def _cell(mode: Mode, name: str, wanted: Got) -> str:
    if name not in mode.got:
        return f"({WENT_DOWN})"
    if mode.got[name] != wanted:
        return f"WRONG: {', '.join(mode.got[name])}"
    return f"same ({WENT_DOWN})" if name in mode.down else "same"


def _beside(place: Place, cases: Sequence[Case]) -> int:
    """Run 50 honest submissions with wild ones among them; return how many of the 50 did not pass."""
    from tests.runner.hostile import HONEST, PASSED, body

    honest = body("honest", "return x + 1", PASSED).job()
    assert HONEST in honest.program
    wild = [case.job() for case in cases if case.name in WILD]
    jobs = [*[honest] * 5, *wild, *[honest] * 45]
    with ThreadPoolExecutor(AT_ONCE + len(wild)) as threads:
        found = list(threads.map(place.single, jobs))
    verdicts = Counter(got[0] for job, got in zip(jobs, found, strict=True) if job is honest)
    print(f"\n50 honest submissions beside {', '.join(WILD)}: {dict(verdicts)}")
    return 50 - verdicts["PASSED"]


def _under_stress(place: Place, cases: Sequence[Case]) -> int:
    """Run cases while other processes want every core; return how many came to another outcome than expected."""
    with _stressed(2 * (os.cpu_count() or 1)), ThreadPoolExecutor(AT_ONCE) as threads:
        found = list(threads.map(lambda case: place.single(case.job()), cases))
    missed = [(case, got) for case, got in zip(cases, found, strict=True) if got != _wanted(case)]
    print(
        f"the {len(cases)} short ones again, all cores wanted by others: {len(missed)} came to something else"
    )
    for case, got in missed:
        print(f"  {case.name}: {', '.join(got)}")
    return len(missed)


@contextmanager
def _stressed(processes: int) -> Iterator[None]:
    """Keep every core busy meanwhile."""
    running = [subprocess.Popen(STRESS) for _ in range(processes)]
    try:
        yield
    finally:
        for process in running:
            process.kill()
            process.wait()


def _memory(place: Place, mode: str, cases: Sequence[Case], runs: int) -> int:
    """Run short cases over and over; return 1 where this process has grown by more than it may."""
    jobs = [
        case.job()
        for case in cases
        if case.name in ("1 sys.exit(0)", "5 BaseException", "75 output that is no text")
    ]
    runs = runs if mode != SINGLE else runs // 10
    many = [jobs[n % len(jobs)] for n in range(runs)]
    if mode == SINGLE:
        _singly(place, many[: runs // 10])
        before = _resident_mib()
        _singly(place, many)
    else:
        list(place.forked(mode, many[: runs // 10]))
        before = _resident_mib()
        list(place.forked(mode, many))
    grown = _resident_mib() - before
    print(f"{mode}: {runs} runs in a row, memory of this process {before:.1f} MiB and {grown:+.1f}")
    return int(grown > MEMORY_MIB)


def _singly(place: Place, jobs: Sequence[Job]) -> None:
    with ThreadPoolExecutor(AT_ONCE) as threads:
        for _ in threads.map(place.single, jobs):
            pass


def _resident_mib() -> float:
    """Return the memory this process holds."""
    with open("/proc/self/status") as file:
        kib = next(line.split()[1] for line in file if line.startswith("VmRSS:"))
    return int(kib) / 1024


def _labelled() -> list[str]:
    """Return the containers of this process, by name, once those that are being removed have had time to go."""
    import docker

    client = docker.from_env()
    found: list[str] = []
    for _ in range(100):
        listed = client.api.containers(all=True, filters={"label": "org.benchwright.owner"})
        owners = [
            (box["Labels"]["org.benchwright.owner"].rpartition("/")[2], box["Names"][0]) for box in listed
        ]
        found = [name for owner, name in owners if owner.split("-")[0] == str(os.getpid())]
        if not found:
            break
        time.sleep(0.1)
    return found


def _left_beside(pool: Pool, image: str) -> str:
    """Return the containers of this process beyond those that wait in the pool."""
    pool.wait_until_full(60)
    until = time.monotonic() + 30
    while len(pool.engine.boxes(pool.cold.keeper)) > pool.waiting(image) and time.monotonic() < until:
        time.sleep(0.1)
    beyond = len(pool.engine.boxes(pool.cold.keeper)) - pool.waiting(image)
    return f"{beyond} containers" if beyond > 0 else ""


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
