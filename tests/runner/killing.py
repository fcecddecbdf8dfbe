"""Kill a worker at five points of an execution's life, start another, and see what came of the execution.

Real processes, real containers, a real broker; on any database. Used by the test and by `make drill`.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import docker

from tests.migrated import fill_postgres, give_tables
from tests.runner.dying_worker import POINTS
from tests.services import postgres_programs

ROOT = Path(__file__).resolve().parents[2]
ROWS = [
    [1, "test_one", 1, "PASSED"],
    [2, "test_one", 2, "PASSED"],
    [3, "test_one", None, "PASSED"],
    [4, "test_two", 1, "PASSED"],
    [5, "test_two", None, "PASSED"],
]
# A claimed execution is tried once more; one that was never claimed is tried for the first time.
TRIES = {"queued": 1, "claimed": 2, "started": 2, "rows": 2, "unsaved": 2}
PATIENCE_SECONDS = 90


@dataclass
class Place:
    """Where one drill happens: the settings of its processes, and the processes."""

    room: Path
    variables: dict[str, str]
    successor: dict[str, str] = field(default_factory=dict)
    pids: list[int] = field(default_factory=list)

    def environment(self, **more: str) -> dict[str, str]:
        return {
            **os.environ,
            "DJANGO_SETTINGS_MODULE": "config.settings",
            "BENCHWRIGHT_DATA": str(self.room),
            "SECRET_KEY": "of no use outside the tests",
            "RUNNER_POOL_SIZE": "1",
            "RUNNER_RECONCILE_SECONDS": "1",
            "LOG_LEVEL": "WARNING",
            **self.variables,
            **more,
        }

    def start(self, *words: str, stdout: int | None = None, **more: str) -> subprocess.Popen[str]:
        process = subprocess.Popen(
            ["setpriv", "--pdeathsig", "TERM", "--", sys.executable, "-m", *words],
            cwd=ROOT,
            env=self.environment(**more),
            text=True,
            stdout=stdout,
        )
        self.pids.append(process.pid)
        return process

    @contextmanager
    def worker(self) -> Iterator[None]:
        process = self.start("config.work", "interactive", **self.successor)
        try:
            yield
        finally:
            process.terminate()
            process.wait(60)


@dataclass
class Result:
    """What one drill came to."""

    point: str
    died: bool
    found: dict[str, Any]
    left: list[str]

    @property
    def holds(self) -> bool:
        expected = {"state": "finished", "outcome": "PASSED", "tries": TRIES[self.point], "rows": ROWS}
        return self.died and not self.left and {key: self.found.get(key) for key in expected} == expected

    def __str__(self) -> str:
        said = ", ".join(f"{key} {self.found.get(key)}" for key in ("state", "outcome", "tries", "seconds"))
        return (
            f"{self.point:8} {'holds' if self.holds else 'FAILS'}  died {self.died}, {said}, left {self.left}"
        )


def drill(point: str, place: Place, image: str) -> Result:
    """Kill a worker at the point while it has the execution, start another, return what came of it."""
    asking = place.start("tests.runner.asking", image, str(PATIENCE_SECONDS), stdout=subprocess.PIPE)
    assert asking.stdout
    asking.stdout.readline()
    dying = place.start("tests.runner.dying_worker", point)
    died = dying.wait(60) == -signal.SIGKILL
    with place.worker():
        said = asking.stdout.read()
        asking.wait(PATIENCE_SECONDS)
    return Result(point, died, json.loads(said), left_by(place.pids))


def stop_while_it_runs(place: Place, image: str) -> tuple[dict[str, Any], list[str]]:
    """End a worker in order while an execution runs, start another; return what came of it and what the first left."""
    asking = place.start("tests.runner.asking", image, str(PATIENCE_SECONDS), "8", stdout=subprocess.PIPE)
    assert asking.stdout
    asking.stdout.readline()
    with place.worker():
        asking.stdout.readline()
    left = left_by(place.pids)
    with place.worker():
        said = asking.stdout.read()
        asking.wait(PATIENCE_SECONDS)
    return json.loads(said), left


def left_by(pids: list[int]) -> list[str]:
    """Return the containers that processes of these ids have left, given a moment to go."""
    left: list[str] = []
    for _ in range(50):
        left = []
        for container in docker.from_env().api.containers(
            all=True, filters={"label": "org.benchwright.owner"}
        ):
            owner = container["Labels"]["org.benchwright.owner"].rpartition("/")[2]
            if int(owner.split("-")[0]) in pids:
                left.append(container["Names"][0])
        if not left:
            break
        time.sleep(0.1)
    return left


def drills_on_sqlite(room: Path, redis_url: str, image: str) -> list[Result]:
    """Run all drills, each on a SQLite file and a Redis database of its own, at once."""
    places = []
    for number, point in enumerate(POINTS, start=1):
        give_tables(room / point)
        places.append(Place(room / point, {"REDIS_URL": redis_database(redis_url, number)}))
    return at_once(places, image)


def drills_on_postgres(room: Path, postgres_url: str, redis_url: str, image: str) -> list[Result]:
    """Run all drills, each on a Postgres database and a Redis database of its own, at once."""
    import psycopg

    server, _, _ = postgres_url.rpartition("/")
    places = []
    with psycopg.connect(f"{server}/postgres", autocommit=True) as connection:
        connection.execute("CREATE DATABASE drill_migrated")
        programs = postgres_programs()
        assert programs is not None
        fill_postgres(f"{server}/drill_migrated", programs)
        for number, point in enumerate(POINTS, start=6):
            connection.execute(f"CREATE DATABASE drill_{point} TEMPLATE drill_migrated")
            variables = {
                "DATABASE_URL": f"{server}/drill_{point}",
                "REDIS_URL": redis_database(redis_url, number),
                "RUNNER_LEASE_SECONDS": "6",
            }
            (room / point).mkdir()
            (room / f"{point}-elsewhere").mkdir()
            # The second worker is as one on another host: it knows nothing of the first and waits for the lease's end.
            elsewhere = {"BENCHWRIGHT_DATA": str(room / f"{point}-elsewhere")}
            places.append(Place(room / point, variables, elsewhere))
    return at_once(places, image)


def at_once(places: list[Place], image: str) -> list[Result]:
    """Run one drill in each place, side by side: they wait more than they work."""
    with ThreadPoolExecutor(len(places)) as threads:
        return list(threads.map(drill, POINTS, places, [image] * len(places)))


def redis_database(url: str, number: int) -> str:
    """Return the URL of a numbered database of the same server."""
    return f"{url.rpartition('/')[0]}/{number}"
