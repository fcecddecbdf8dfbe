"""Kill -9 in mid-run, five times, what makes examples by a model, and count what was asked twice and what was spent.

First a worker by itself, at five points of a question's life; then a site as `make run` serves it, of which web and worker
are killed together while the run is under way, and started again by their parent.
"""

from __future__ import annotations

import json
import os
import signal
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import docker

from examples.llm.base import hash_of
from tests.benchmarks.site import site
from tests.examples.generation import killed_run
from tests.examples.generation.dying_worker import POINTS
from tests.examples.generation.replies import REPLIES, kind_of
from tests.examples.generation.sample import SAMPLE
from tests.migrated import give_tables
from tests.runner.killing import Place, left_by
from tests.scripted_endpoint import Act, Say, ScriptedEndpoint, scripted_endpoint
from tests.services import redis_program, redis_server

BUDGET = 150_000
REPLY_SECONDS = 0.5
PATIENCE_SECONDS = 300
KILLS = 5


def steady(request: dict[str, Any]) -> Act:
    """Return the reply that holds, whatever was asked before: a question that is sent again gets the same one."""
    user = request["messages"][1]["content"]
    name = next(each for each in REPLIES if f"`{each}`" in user)
    time.sleep(REPLY_SECONDS)
    acts = [each for each in REPLIES[name][kind_of(request)] if isinstance(each, Say)]
    return acts[-1]


@dataclass
class Watch:
    """Looks at the run's row all the time, from outside, and keeps the most that was charged."""

    database: Path
    most: int = 0
    ended: threading.Event = field(default_factory=threading.Event)

    def look(self) -> None:
        """Look until the end."""
        connection = sqlite3.connect(f"file:{self.database}?mode=ro", uri=True)
        while not self.ended.wait(0.05):
            (charged,) = connection.execute("SELECT charged_tokens FROM examples_generationrun").fetchone()
            self.most = max(self.most, charged)


@contextmanager
def watched(room: Path) -> Iterator[Watch]:
    """Watch the run in the database of a directory while the block runs."""
    watch = Watch(room / "benchwright.sqlite3")
    watching = threading.Thread(target=watch.look)
    watching.start()
    try:
        yield watch
    finally:
        watch.ended.set()
        watching.join()


def drill(room: Path, redis_url: str, image: str) -> bool:
    """Run it, print what came of it, and return whether everything holds."""
    with scripted_endpoint(steady) as server:
        variables = {"REDIS_URL": redis_url, "BENCHWRIGHT_LLM_URL": server.base_url}
        give_tables(room)
        place = Place(room, {**variables, "BENCHWRIGHT_LLM_CONCURRENCY": "3"})
        told(place, "make", image, str(BUDGET))
        with watched(room) as watch:
            died = [killed(place, point) for point in POINTS]
            worker = place.start("config.work", "generation")
            try:
                found = until_ended(lambda: told(place, "tell"))
            finally:
                worker.terminate()
                worker.wait(60)
    return holds(found, died, watch.most, server) and not left_by(place.pids)


def site_drill() -> bool:
    """Kill web and worker of a site together, five times, print what came of its run, and return whether all holds."""
    from django.db import connections

    with scripted_endpoint(steady) as server, site(BENCHWRIGHT_LLM_URL=server.base_url) as served:
        killed_run.make_run(BUDGET)
        with watched(served.room) as watch:
            died = []
            for _ in range(KILLS):
                under_way = asked_just_now()
                pids = [*served.pids_of("config.web"), *served.pids_of("config.work")]
                for pid in pids:
                    os.kill(pid, signal.SIGKILL)
                died.append(under_way and len(pids) >= 2)
                while not served.pids_of("config.work"):
                    time.sleep(0.1)
            found = until_ended(killed_run.found)
        connections.close_all()
    return holds(found, died, watch.most, server)


def killed(place: Place, point: str) -> bool:
    """Let a worker go on until it dies at the point the second time, and return whether it did."""
    process = place.start("tests.examples.generation.dying_worker", point, "2")
    try:
        return process.wait(120) == -signal.SIGKILL
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
        return False


def asked_just_now() -> bool:
    """Wait until a question is on its way to the endpoint, and return whether one is."""
    end = time.monotonic() + PATIENCE_SECONDS / KILLS
    while time.monotonic() < end:
        if any(state == "sent" for _, _, _, state, *_ in killed_run.found()["calls"]):
            return True
        time.sleep(0.05)
    return False


def until_ended(tell: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    """Return what came of the run once it is no longer running, or when patience is over."""
    end = time.monotonic() + PATIENCE_SECONDS
    while (found := tell())["state"] == "running" and time.monotonic() < end:
        time.sleep(1)
    return found


def told(place: Place, *words: str) -> dict[str, Any]:
    """Return what a process of the place prints."""
    process = place.start("tests.examples.generation.killed_run", *words, stdout=subprocess.PIPE)
    said, _ = process.communicate(timeout=120)
    assert process.returncode == 0
    found: dict[str, Any] = json.loads(said) if said.strip() else {}
    return found


def holds(found: dict[str, Any], died: list[bool], most: int, server: ScriptedEndpoint) -> bool:
    """Print each claim with its figures, and return whether all are true."""
    calls = [tuple(each) for each in found["calls"]]
    attempts = Counter((fragment, number) for fragment, number, *_ in calls)
    recorded = Counter((fragment, number) for fragment, number, _, state, *_ in calls if state == "recorded")
    lost = [each for each in calls if each[3] == "lost"]
    sent = Counter(hash_of(each) for each in server.requests)
    kept = Counter(each[4] for each in calls)
    last = {(each[0], each[1]): each[3] for each in calls}
    charged = sum(each[5] for each in calls)
    ends = Counter(state for _, state, _ in found["fragments"])
    claims = {
        f"{sum(died)} of {len(died)} times killed in mid-run": all(died),
        f"the run is {found['state']} {found['reason']}".rstrip(): found["state"] == "finished",
        f"fragments: {dict(ends)}, {found['examples']} examples": ends == {"accepted": 7}
        and found["examples"] == 7,
        f"{len(recorded)} slots, each with one recorded reply": set(recorded.values()) == {1}
        and set(recorded) == set(attempts),
        f"{len(lost)} lost, at most one a slot and kill": max(attempts.values()) <= 1 + len(died),
        "no recorded reply was asked for again": set(last.values()) == {"recorded"},
        f"{len(server.requests)} requests, each kept before it was sent": not sent - kept,
        f"at most {most} of {BUDGET} tokens were charged at any time": most <= BUDGET,
        f"{found['charged']} charged, as the calls add up": found["charged"] == charged,
    }
    for claim, true in claims.items():
        print(f"  {'holds' if true else 'FAILS'}  {claim}")
    return all(claims.values())


def main() -> int:
    """Return 1 where something does not hold or cannot be run."""
    program = redis_program()
    if program is None or not SAMPLE.exists():
        print(f"This needs redis-server (apt-get install redis-server) and {SAMPLE.name}.")
        return 1
    image = docker.from_env().images.get("benchwright/python:3.13").id
    with tempfile.TemporaryDirectory(prefix="benchwright-drill-") as room, redis_server(program) as redis_url:
        print(
            "A worker is killed when a question is about to be sent, answered, recorded, executed, accepted:"
        )
        held = drill(Path(room), redis_url, str(image))
    print("Web and worker of a site are killed together:")
    return 0 if site_drill() and held else 1


if __name__ == "__main__":
    sys.exit(main())
