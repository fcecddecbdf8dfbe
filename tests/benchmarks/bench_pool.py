"""Single-use boxes: an empty pool, runs without a pause, what waiting costs, how exactly the wall limit is kept.

    python -m tests.benchmarks.bench_pool [rounds]

Goals are those of design.md: pool empty p95 300 ms; 12 runs a second without a canary and 6 with one; 25 ms over a wall
limit at most; an idle pool below a hundredth of a core. Memory is what a waiting box costs with the engine's own process
beside it, and how many of them 24 GiB hold. Exit 1 where a goal is missed.
"""

from __future__ import annotations

import secrets
import subprocess
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from runner.environments.recipe import recipes
from runner.outcome import Measurement, Outcome, judge
from runner.sandbox.base import Job, Limits, Sandbox
from runner.sandbox.engine import Engine
from runner.sandbox.pool import Pool
from tests.benchmarks.figures import Table

JOB = Job(
    "def f(x):\n    return x + 1\n", "def test_f():\n    assert f(1) == 2\n", ("test_f",), Limits.for_cpu(1)
)
SLEEPER = Job(
    "import time\ntime.sleep(60)\n", "def test_f():\n    assert True\n", ("test_f",), Limits(1, 0.5)
)
WARM, REFILLERS = 4, 4
SUSTAINED, IDLE_SECONDS, MANY = 150, 30.0, 12
BUDGET_MIB = 24 * 1024


def submit(sandbox: Sandbox, image: str, job: Job = JOB) -> Measurement:
    """Run a job and return what was measured."""
    return sandbox.run(
        job,
        image=image,
        name=f"bench-{secrets.token_hex(6)}",
        on_started=lambda: None,
        on_row=lambda _: None,
    )


def right(sandbox: Sandbox, image: str) -> None:
    """Run the honest job and insist on its verdict."""
    assert judge(submit(sandbox, image), JOB.expected).outcome is Outcome.PASSED


def milliseconds(call: Callable[[], object]) -> float:
    """Return how long a call took."""
    began = time.perf_counter()
    call()
    return (time.perf_counter() - began) * 1000


def empty(engine: Engine, image: str, rounds: int) -> list[float]:
    """Return the milliseconds of runs that find no box waiting, with the pool refilling beside them."""
    found = []
    for _ in range(rounds):
        pool = Pool(engine, {image: WARM})
        found.append(milliseconds(lambda pool=pool: right(pool, image)))
        pool.close()
    return found


def sustained(engine: Engine, image: str, each: int) -> float:
    """Return samples a second when each takes so many runs, two at a time, for as long as it takes to see a rate."""
    pool = Pool(engine, {image: WARM}, threads=REFILLERS)
    pool.wait_until_full(60)
    began = time.monotonic()
    with ThreadPoolExecutor(2) as threads:
        list(threads.map(lambda _: right(pool, image), range(SUSTAINED)))
    rate = SUSTAINED / each / (time.monotonic() - began)
    pool.close()
    return rate


def overshoot(pool: Pool, image: str, rounds: int) -> list[float]:
    """Return the milliseconds by which sleepers outlived their wall limit, by the host's clock."""
    found = []
    for _ in range(rounds):
        pool.wait_until_full(60)
        measured = submit(pool, image, SLEEPER)
        assert judge(measured, SLEEPER.expected).outcome is Outcome.TIMEOUT_WALL
        found.append((measured.wall_seconds - SLEEPER.limits.wall_seconds) * 1000)
    return found


def processor(engine: Engine, keeper: str) -> float:
    """Return the processor seconds that this process, the waiting boxes and their shims have used."""
    return time.process_time() + sum(_used(pid) for pid in _pids(engine, keeper))


def _pids(engine: Engine, keeper: str) -> list[int]:
    pids = []
    for box in engine.boxes(keeper):
        pid = int(engine.api.inspect_container(box)["State"]["Pid"])
        parent = int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
        pids += [pid, parent]
    return pids


def _used(pid: int) -> float:
    user, system = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[11:13]
    return (int(user) + int(system)) / 100


def _kept(pid: int) -> float:
    """Return what a process holds by itself, shared pages by their share, in MiB."""
    lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    return sum(int(line.split()[1]) for line in lines if line.startswith("Pss:")) / 1024


def main() -> int:
    """Measure and print; return the exit status."""
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 40
    engine = Engine()
    image = engine.image_id(recipes()["plain"].tag)
    table = Table("Single-use boxes")
    table.add("pool empty: submit to result", empty(engine, image, rounds), p95=300)
    for each, goal, what in ((1, 12, "without canary"), (2, 6, "with canary")):
        rate = sustained(engine, image, each)
        table.fact(f"sustained, {what}", f"{rate:.1f} samples/s", goal=f">= {goal}/s", holds=rate >= goal)
    pool = Pool(engine, {image: WARM})
    pool.wait_until_full(60)
    table.add("over the wall limit", overshoot(pool, image, rounds), p95=25)
    pool.wait_until_full(60)
    time.sleep(2)
    before = processor(engine, pool.cold.keeper)
    time.sleep(IDLE_SECONDS)
    share = (processor(engine, pool.cold.keeper) - before) / IDLE_SECONDS
    table.fact(f"{WARM} boxes waiting", f"{share:.2%} of a core", goal="< 1 %", holds=share < 0.01)
    pool.keep({image: MANY})
    pool.wait_until_full(60)
    mean = sum(_kept(pid) for pid in _pids(engine, pool.cold.keeper)) / MANY
    said = f"{mean:.1f} MiB with its shim; 24 GiB hold {int(BUDGET_MIB / mean)}"
    table.fact("memory of a waiting box", said)
    pool.close()
    left = subprocess.run(
        ["docker", "ps", "-aq", "--filter", f"label=org.benchwright.keeper={pool.cold.keeper}"],
        capture_output=True,
        text=True,
        check=True,
    ).stdout.split()
    table.fact("boxes left", str(len(left)), goal="0", holds=not left)
    return table.show()


if __name__ == "__main__":
    sys.exit(main())
