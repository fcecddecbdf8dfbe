"""The web process is killed while people save and runs are under way: nothing acknowledged is lost, and the site is back.

    python -m tests.benchmarks.drill_web_kill [KILLS]

A site as `make run` serves it. Three people save drafts without a pause, each starts a run now and then, and the web process
gets SIGKILL several times. Afterwards every save that was answered is a stored revision with that text, every run that was
answered has one outcome, and no request failed other than by the connection. Exit 1 otherwise.
"""

from __future__ import annotations

import http.client
import os
import signal
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from threading import Event
from typing import Any
from uuid import uuid4

from tests.benchmarks.client import Person, htmx, xhr
from tests.benchmarks.figures import Table
from tests.benchmarks.site import Site, session_of, site

KILLS, PEOPLE, BETWEEN_SECONDS, RUN_EVERY = 3, 3, 4.0, 20


@dataclass
class Writer:
    """One person who saves and runs until told to stop, and what the site has answered."""

    person: Person
    attempt: Any
    saved: dict[int, str] = field(default_factory=dict)
    runs: set[str] = field(default_factory=set)
    refused: list[str] = field(default_factory=list)
    lost: int = 0

    def write(self, ended: Event) -> None:
        """Save revision after revision; where the connection breaks, ask what is stored and go on from there."""
        number = 0
        while not ended.is_set():
            number += 1
            try:
                self.save(f"# {number}\n" + "def with_tax(net):\n    return net\n")
                if number % RUN_EVERY == 1:
                    self.run()
            except (OSError, http.client.HTTPException):
                self.lost += 1
                self.person.connection.close()
                time.sleep(0.1)

    def save(self, text: str) -> None:
        base = max(self.saved, default=0)
        form: dict[str, str | int] = {"function": text, "module": "", "base_revision": base}
        answer = self.person.post(f"/attempts/{self.attempt.pk}/draft/", form, **xhr())
        if answer.status == 409:  # an earlier save was stored although its answer was lost
            self.saved[self.person.json_of(answer)["revision"]] = self.person.json_of(answer)["function"]
        elif answer.status == 200:
            self.saved[self.person.json_of(answer)["revision"]] = text
        else:
            self.refused.append(f"save: {answer.status}")

    def run(self) -> None:
        key = str(uuid4())
        form: dict[str, str | int] = {
            "function": "def with_tax(net):\n    return net\n",
            "module": "",
            "key": key,
        }
        answer = self.person.post(f"/attempts/{self.attempt.pk}/run/", form, **htmx("execution"))
        if answer.status == 200:
            self.runs.add(key)
        else:
            self.refused.append(f"run: {answer.status}")


def killed(served: Site, kills: int) -> list[float]:
    """Kill all web processes several times, and return the seconds until one answered again."""
    back = []
    for _ in range(kills):
        time.sleep(BETWEEN_SECONDS)
        for pid in served.pids_of("config.web"):
            os.kill(pid, signal.SIGKILL)
        began = time.monotonic()
        while not _answers(served.port):
            time.sleep(0.05)
        back.append(time.monotonic() - began)
    time.sleep(BETWEEN_SECONDS)
    return back


def _answers(port: int) -> bool:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
    try:
        connection.request("GET", "/healthz")
        return connection.getresponse().status == 200
    except (OSError, http.client.HTTPException):
        return False
    finally:
        connection.close()


def judge(writers: list[Writer], table: Table) -> None:
    """Compare what was answered with what is stored, once every run has come to its end."""
    from annotation.models import Draft, Run
    from runner.models import Execution

    end = time.monotonic() + 60
    while Execution.objects.all().open().exists() and time.monotonic() < end:
        time.sleep(0.2)
    for writer in writers:
        name = writer.attempt.annotator.username
        stored = dict(Draft.objects.filter(attempt=writer.attempt).values_list("revision", "function"))
        missing = [revision for revision, text in writer.saved.items() if stored.get(revision) != text]
        gaps = sorted(stored) != list(range(1, len(stored) + 1))
        table.fact(
            f"{name}: answered saves that are not stored",
            f"{len(missing)} of {len(writer.saved)}, {writer.lost} connections broken",
            goal="0",
            holds=bool(writer.saved) and not missing and not gaps,
        )
        done = Run.objects.filter(attempt=writer.attempt, key__in=writer.runs)
        judged = done.filter(execution__state="finished").count()
        replaced = done.filter(execution__reason__startswith="Replaced").count()
        table.fact(
            f"{name}: answered runs with an outcome",
            f"{judged} and {replaced} replaced, of {len(writer.runs)}",
            holds=judged + replaced == len(writer.runs),
        )
        refused = ", ".join(writer.refused[:3])
        table.fact(f"{name}: refused", f"{len(writer.refused)} {refused}", goal="0", holds=not writer.refused)


def main(arguments: list[str]) -> int:
    """Let people write, kill, judge; return the exit status."""
    with site() as served:
        from tests.benchmarks.bench_latency import make_attempt

        table = Table(f"Web process killed while people work, {served.stores}")
        attempts = [make_attempt(f"person{at}") for at in range(PEOPLE)]
        writers = [Writer(Person(served.port, session_of(each.annotator)), each) for each in attempts]
        ended = Event()
        with ThreadPoolExecutor(PEOPLE) as threads:
            jobs = [threads.submit(writer.write, ended) for writer in writers]
            back = killed(served, int(arguments[0]) if arguments else KILLS)
            ended.set()
            for job in jobs:
                job.result()
        table.fact("answers again after", ", ".join(f"{seconds:.1f} s" for seconds in back))
        judge(writers, table)
        return table.show()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
