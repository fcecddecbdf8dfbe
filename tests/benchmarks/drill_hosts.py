"""Three hosts share Postgres and Redis, one lacks the image, one dies in the midst: every execution is done, once.

Each host is a worker with a host name of its own (a UTS namespace) and an engine of its own. The third has no image, so what
it takes it leaves to the others. Once 60 of 300 executions are done, the first host's worker and engine are killed. On
the second engine stand a box of another host, which nobody there may touch, and one of a dead process of its own.
Exit 1 where an outcome is not the known one, work stops, or a box is touched or left that should not be. Needs root.
"""

from __future__ import annotations

import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any

from tests.benchmarks import engines, faults
from tests.benchmarks.drill_faults import AFTER, IMAGE
from tests.benchmarks.engines import LABEL, OwnEngine
from tests.benchmarks.faults import COUNT, OUTCOMES, Ground, wait_for
from tests.benchmarks.figures import Table

DIES, STAYS, LACKS = "host-north", "host-south", "host-west"
THEIRS, DEAD = f"{DIES}/1-another", f"{STAYS}/4000000-dead"


def plant(engine: OwnEngine, image: str, owner: str) -> str:
    """Start a box that says it is of this owner, as long as the drill lasts, and return its id."""
    labels = {LABEL: owner, "org.benchwright.deadline": str(int(time.time()) + 3600)}
    command = ["python3", "-c", "import time; time.sleep(3600)"]
    made = engine.client.containers.run(image, command, labels=labels, detach=True, network_mode="none")
    return str(made.id)


def die(ground: Ground, worker: subprocess.Popen[bytes], engine: OwnEngine) -> None:
    """Let a host die: its worker and its engine at once."""
    subprocess.run(["pkill", "-KILL", "-P", str(worker.pid)], check=False)
    worker.kill()
    engine.end(signal.SIGKILL)


def judge(table: Table, found: dict[int, Any]) -> None:
    """Compare with what is known of each sample, and say who did how much."""
    from runner.models import Execution

    wrong = [number for number in range(COUNT) if found[number][0] != OUTCOMES[faults.kind_of(number)]]
    table.fact("executions with the known outcome", f"{COUNT - len(wrong)} of {COUNT}", holds=not wrong)
    for number in wrong[:3]:
        table.fact(f"  sample {number}, {faults.kind_of(number)}", str(found[number]))
    hosts = Counter(
        facts.get("host", "nobody") for facts in Execution.objects.values_list("facts", flat=True)
    )
    table.fact("done by", ", ".join(f"{host} {count}" for host, count in sorted(hosts.items())))
    table.fact("by the host without the image", str(hosts[LACKS]), goal="0", holds=not hosts[LACKS])
    table.fact("by the host that stays", str(hosts[STAYS]), holds=hosts[STAYS] > COUNT / 2)
    again = Execution.objects.filter(tries__gt=1).count()
    table.fact("claimed again after the first host died", f"{again}")
    for reason, times in faults.faults().items():
        table.fact(f"  {times} x", reason)


def hosts(ground: Ground, north: OwnEngine, west: OwnEngine, table: Table) -> None:
    """Let three hosts work and one die, and judge what came of it."""
    south = ground.engine
    theirs, dead = (plant(south, ground.image, owner) for owner in (THEIRS, DEAD))
    faults.ask(ground.image)
    first = ground.work(host=DIES, DOCKER_HOST=north.url)
    ground.work(host=STAYS, DOCKER_HOST=south.url)
    ground.work(host=LACKS, DOCKER_HOST=west.url)
    wait_for(AFTER)
    die(ground, first, north)
    died, at = faults.done(), time.monotonic()
    ended = wait_for(COUNT)
    table.fact(
        "all at an end",
        f"{faults.done()} of {COUNT}, {died} when the host died",
        goal=str(COUNT),
        holds=ended,
    )
    table.fact("seconds from its death to the end", f"{time.monotonic() - at:.0f}")
    judge(table, faults.found())
    ground.end()
    left = {box["Id"] for box in south.boxes()}
    table.fact(
        "box of another host on this engine", "there" if theirs in left else "gone", holds=theirs in left
    )
    table.fact(
        "box of a dead process of this host", "there" if dead in left else "gone", holds=dead not in left
    )
    others = left - {theirs, dead}
    table.fact(
        "boxes left", str(len(others) + len(west.boxes())), goal="0", holds=not others and not west.boxes()
    )


def main() -> int:
    """Run the drill and return the exit status."""
    if reason := engines.cannot():
        print(f"Not possible here: {reason}.")
        return 1
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # so that what was started is ended
    table = Table(f"Three hosts, one dies, {COUNT} executions")
    with tempfile.TemporaryDirectory(prefix="bw-hosts-", ignore_cleanup_errors=True) as name:
        room = Path(name)
        archive = room / "images.tar"
        with archive.open("wb") as out:
            subprocess.run(["docker", "save", IMAGE], stdout=out, check=True)
        with (
            engines.engine(room / "n", archive) as north,
            engines.engine(room / "s", archive) as south,
            engines.engine(room / "w") as west,
        ):
            image = str(south.client.images.get(IMAGE).id)
            with faults.ground(room, south, image) as ground:
                hosts(ground, north, west, table)
    return table.show()


if __name__ == "__main__":
    sys.exit(main())
