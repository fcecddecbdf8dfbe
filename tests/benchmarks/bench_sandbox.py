"""Submit to result in a warm box, beside the ways one would do it otherwise, interleaved in the same run.

    python -m tests.benchmarks.bench_sandbox [rounds]

Prints median and 95th percentile in milliseconds of: a warm single-use box, `python3 file.py` uncontained,
`docker exec` into a running container, a cold box of ours, and `docker run --rm` with the same hardening.
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import docker

from runner.environments.building import build
from runner.environments.recipe import recipes
from runner.outcome import Outcome, judge
from runner.sandbox.base import Job, Limits, Sandbox
from runner.sandbox.containers import ColdSandbox
from runner.sandbox.engine import Engine
from runner.sandbox.pool import Pool
from runner.sandbox.settings import seccomp

PROGRAM = "def f(x):\n    return x + 1\n"
TESTS = "def test_f():\n    assert f(1) == 2\n"
JOB = Job(PROGRAM, TESTS, ("test_f",), Limits.for_cpu(1))
PAUSE_SECONDS = 0.25


def submit(sandbox: Sandbox, image: str) -> None:
    """Run the job and insist on its verdict."""
    name = f"bench-{time.monotonic_ns()}"
    measurement = sandbox.run(JOB, image=image, name=name, on_started=lambda: None, on_row=lambda row: None)
    assert judge(measurement, JOB.expected).outcome is Outcome.PASSED


def milliseconds(call: Callable[[], object]) -> float:
    """Return how long a call took."""
    began = time.perf_counter()
    call()
    return (time.perf_counter() - began) * 1000


def hardened(image: str, profile: Path) -> list[str]:
    """Return `docker run` with the flags our boxes have."""
    flags = (
        "--rm -i --network none --read-only --cap-drop ALL --pids-limit 64 --memory 256m --memory-swap 256m"
    )
    flags += " --cpus 1 --user 65534:65534 --log-driver none --security-opt no-new-privileges"
    flags += f" --security-opt seccomp={profile} --tmpfs /tmp:rw,noexec,nosuid,nodev,size=32m"
    return [
        "docker",
        "run",
        *flags.split(),
        image,
        "python3",
        "-P",
        "-s",
        "-B",
        "-c",
        PROGRAM + TESTS + "test_f()\n",
    ]


def measure(rounds: int) -> dict[str, list[float]]:
    """Return the times of each way, one of each per round."""
    engine = Engine()
    image = build(recipes()["plain"], client=docker.from_env(timeout=600), progress=print).digest
    pool, cold = Pool(engine, {image: 4}), ColdSandbox(engine)
    pool.wait_until_full(60)
    command = ["docker", "run", "-d", "--rm", "--network", "none", image, "sleep", "600"]
    running = subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
    with tempfile.TemporaryDirectory() as folder:
        file, profile = Path(folder) / "file.py", Path(folder) / "seccomp.json"
        file.write_text(PROGRAM + TESTS + "test_f()\n")
        profile.write_text(seccomp())
        shell = {
            "python3 file.py": ["python3", str(file)],
            "docker exec": ["docker", "exec", running, "python3", "-c", file.read_text()],
            "docker run --rm, hardened": hardened(image, profile),
        }
        times: dict[str, list[float]] = {name: [] for name in ("warm box", "cold box", *shell)}
        for _ in range(rounds):
            pool.wait_until_full(60)
            time.sleep(PAUSE_SECONDS)
            times["warm box"].append(milliseconds(lambda: submit(pool, image)))
            pool.wait_until_full(60)
            time.sleep(PAUSE_SECONDS)
            times["cold box"].append(milliseconds(lambda: submit(cold, image)))
            for name, line in shell.items():
                times[name].append(
                    milliseconds(lambda line=line: subprocess.run(line, check=True, capture_output=True))
                )
    subprocess.run(["docker", "rm", "-f", running], capture_output=True, check=False)
    pool.close()
    cold.close()
    return times


def main() -> None:
    """Measure and print a table."""
    times = measure(int(sys.argv[1]) if len(sys.argv) > 1 else 50)
    print(f"{'':28}{'median ms':>12}{'p95 ms':>10}")
    for name, values in times.items():
        p95 = statistics.quantiles(values, n=20)[-1]
        print(f"{name:28}{statistics.median(values):12.1f}{p95:10.1f}")


if __name__ == "__main__":
    main()
