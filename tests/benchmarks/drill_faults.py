"""Break everything there is to break during 300 executions, and compare what came of each with an undisturbed run.

    python -m tests.benchmarks.drill_faults [FAULT ...]

Every fault has a Postgres, a Redis, an engine and workers of its own. It happens once 60 executions are done; nobody
helps afterwards. Held when every sample has the outcome and the rows of the undisturbed run, none is unjudged, and no
container is left. Exit 1 otherwise. Needs root, for the engine.
"""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from subprocess import PIPE
from typing import Any

import docker

from tests.benchmarks import engines, faults
from tests.benchmarks.faults import COUNT, OUTCOMES, ROOT, Ground, kind_of, wait_for
from tests.benchmarks.figures import machine
from tests.runner.dying_worker import POINTS

AFTER = COUNT // 5
AWAY_SECONDS = 15
IMAGE = "benchwright/python:3.13"
UNDISTURBED = "undisturbed"


def undisturbed(ground: Ground) -> None:
    """Work, and nothing else."""
    ground.work()


def kill_at(point: str) -> Callable[[Ground], None]:
    """Return the fault that kills a worker when it passes the point for the 60th time; another comes after it."""

    def fault(ground: Ground) -> None:
        dying = ground.work("tests.runner.dying_worker", point, str(AFTER))
        assert dying.wait(faults.PATIENCE_SECONDS) == -signal.SIGKILL
        ground.work()

    return fault


def stop_engine(number: int) -> Callable[[Ground], None]:
    """Return the fault that ends the engine by a signal and starts it again after a while."""

    def fault(ground: Ground) -> None:
        ground.work()
        wait_for(AFTER)
        ground.engine.end(number)
        time.sleep(AWAY_SECONDS)
        ground.engine.start()

    return fault


def remove_containers(ground: Ground) -> None:
    """Remove twenty containers by hand, some of them at work, some waiting."""
    ground.work()
    wait_for(AFTER)
    chance = random.Random(1)
    for _ in range(20):
        if boxes := ground.engine.boxes():
            with suppress(docker.errors.APIError):
                ground.engine.client.api.remove_container(chance.choice(boxes)["Id"], force=True)
        time.sleep(0.4)


def empty_redis(ground: Ground) -> None:
    """Kill Redis, which keeps nothing, and start it again empty."""
    ground.work()
    wait_for(AFTER)
    ground.redis.kill()
    time.sleep(AWAY_SECONDS / 3)
    ground.redis.start()


def restart_postgres(ground: Ground) -> None:
    """Stop Postgres in the midst of everything and start it again."""
    ground.work()
    wait_for(AFTER)
    ground.restart_postgres()


def fill_disk(ground: Ground) -> None:
    """Let the engine's disk be full for a while."""
    ground.work()
    wait_for(AFTER)
    with ground.engine.full():
        time.sleep(AWAY_SECONDS)


def lose_image(ground: Ground) -> None:
    """Remove the image with all boxes that use it, and load it again after a while."""
    worker = ground.work()
    wait_for(AFTER)
    worker.send_signal(signal.SIGSTOP)  # else it would start boxes faster than they can be removed
    ground.engine.lose_image(ground.image)
    worker.send_signal(signal.SIGCONT)
    time.sleep(AWAY_SECONDS)
    ground.engine.load(Path(os.environ["DRILL_ARCHIVE"]))


def hang_engine(ground: Ground) -> None:
    """Put a proxy before the engine that stops answering for 40 s: open streams hang as well."""
    proxy = engines.Proxy(ground.room / "proxy.sock", ground.engine.path)
    proxy.serve()
    ground.work(DOCKER_HOST=proxy.url)
    wait_for(AFTER)
    proxy.frozen.set()
    time.sleep(40)
    proxy.frozen.clear()


def two_workers(ground: Ground) -> None:
    """Start two workers and send every message three times."""
    from runner.models import Execution
    from runner.waking import wake

    for pk, queue in list(Execution.objects.values_list("pk", "queue")) * 2:
        wake(pk, queue=queue)
    ground.work()
    ground.work()


FAULTS: dict[str, Callable[[Ground], None]] = {
    UNDISTURBED: undisturbed,
    **{f"worker killed: {point}": kill_at(point) for point in POINTS},
    "engine stopped and started": stop_engine(signal.SIGTERM),
    "engine killed and started": stop_engine(signal.SIGKILL),
    "containers removed by hand": remove_containers,
    "Redis restarted and emptied": empty_redis,
    "Postgres restarted": restart_postgres,
    "engine's disk full": fill_disk,
    "image missing": lose_image,
    "engine hangs": hang_engine,
    "two workers, one row": two_workers,
}


@dataclass(frozen=True)
class Result:
    """What one fault came to, beside the undisturbed run."""

    name: str
    samples: dict[str, Any]
    left: int
    again: int
    seconds: float
    faults: dict[str, int]

    def differ(self, wanted: dict[str, Any]) -> list[str]:
        """Return the samples whose outcome or rows are not those of the undisturbed run."""
        return [number for number in wanted if self.samples.get(number) != wanted[number]]

    def line(self, wanted: dict[str, Any]) -> str:
        differ = self.differ(wanted)
        unjudged = sum(said[0].startswith("unjudged") for said in self.samples.values())
        said = "holds" if self.holds(wanted) else "FAILS"
        equal = f"{len(wanted) - len(differ)} of {len(wanted)}"
        return f"{self.name:32}{equal:>12}{unjudged:>10}{self.again:>8}{self.left:>7}{self.seconds:>8.0f}  {said}"

    def holds(self, wanted: dict[str, Any]) -> bool:
        known = all(said[0] == OUTCOMES[kind_of(int(number))] for number, said in wanted.items())
        return known and not self.differ(wanted) and not self.left and len(self.samples) == COUNT


def one(name: str, room: Path) -> None:
    """Let the fault happen, wait for the end of everything, and print what came of it as JSON."""
    with engines.engine(room / "e", Path(os.environ["DRILL_ARCHIVE"])) as engine:
        image = str(engine.client.images.get(IMAGE).id)
        with faults.ground(room, engine, image) as ground:
            faults.ask(image)
            began = time.monotonic()
            FAULTS[name](ground)
            wait_for(COUNT)
            seconds = time.monotonic() - began
            ground.end()
            time.sleep(2)
            left = len(engine.boxes())
            found, again, counted = faults.found(), faults.tried_more_than_once(), faults.faults()
    print(json.dumps([found, left, again, seconds, counted]), flush=True)


def run(name: str, archive: Path) -> Result:
    """Run one fault in a process of its own."""
    with tempfile.TemporaryDirectory(prefix="bw-fault-", ignore_cleanup_errors=True) as room:
        environment = {**os.environ, "DRILL_ARCHIVE": str(archive)}
        command = [
            "setpriv",
            "--pdeathsig",
            "TERM",
            "--",
            sys.executable,
            "-m",
            "tests.benchmarks.drill_faults",
        ]
        command += ["--one", name, room]
        process = subprocess.Popen(command, cwd=ROOT, env=environment, stdout=PIPE, stderr=PIPE, text=True)
        try:
            said, complaint = process.communicate()
        finally:
            process.terminate()  # where we are stopped ourselves: it ends what it has started
            process.wait(120)
        if process.returncode:
            print(complaint[-3000:], file=sys.stderr)
            return Result(name, {}, -1, -1, 0, {})
        if keep := os.environ.get("DRILL_LOGS"):
            Path(keep, f"{name}.log").write_bytes(Path(room, "worker.log").read_bytes())
        return Result(name, *json.loads(said.splitlines()[-1]))


def main(arguments: list[str]) -> int:
    """Print the table; return 1 where a fault did not hold."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # so that what was started is ended
    if arguments[:1] == ["--one"]:
        one(arguments[1], Path(arguments[2]))
        return 0
    if reason := engines.cannot():
        print(f"Not possible here: {reason}.")
        return 1
    chosen = [name for name in FAULTS if not arguments or any(word in name for word in arguments)]
    print(f"Faults during {COUNT} executions\n{machine()}")
    print(f"{'':32}{'equal':>12}{'unjudged':>10}{'again':>8}{'left':>7}{'s':>8}")
    held = True
    with tempfile.TemporaryDirectory(prefix="bw-faults-") as room:
        archive = Path(room) / "images.tar"
        with archive.open("wb") as out:
            subprocess.run(["docker", "save", IMAGE], stdout=out, check=True)
        wanted: dict[str, Any] = {}
        for name in [UNDISTURBED, *(name for name in chosen if name != UNDISTURBED)]:
            result = run(name, archive)
            wanted = wanted or result.samples
            held &= result.holds(wanted)
            print(result.line(wanted), flush=True)
            for number, said in wanted.items() if name == UNDISTURBED else ():
                if said[0] != OUTCOMES[kind_of(int(number))]:
                    print(f"    sample {number}: {said} for {OUTCOMES[kind_of(int(number))]}")
            for number in result.differ(wanted)[:3]:
                print(f"    sample {number}: {result.samples.get(number)} for {wanted[number]}")
            for reason, times in result.faults.items():
                print(f"    {times} x {reason}")
    return 0 if held else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
