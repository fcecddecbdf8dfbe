"""20 people at once over HTTP: next and save, median and p95, surplus and double assignments, errors; on both databases.

    python -m tests.benchmarks.bench_people                 SQLite and embedded Redis, then Postgres and Redis
    python -m tests.benchmarks.bench_people here [PLACES]   only what DATABASE_URL and REDIS_URL say

A site as `make run` serves it. Each person is a thread with a connection of its own and never pauses: asks for the next
example, opens the workspace, saves three drafts, gives up, says how it went, until no place is left; k = 1 and k = 2.
"""

from __future__ import annotations

import sys
import time
from collections import defaultdict
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import Any

from tests.benchmarks.client import Answer, Person, xhr
from tests.benchmarks.figures import Table
from tests.benchmarks.site import Site, each_database, session_of, site

PEOPLE, PLACES, SAVES = 20, 400, 3
GOAL_MS = 300
LONGEST_SECONDS = 300
GAVE_UP = {"outcome": "gave_up", "difficulty": "trivial", "instruction_quality": 0, "test_quality": 0}
NEXT, OPEN, SAVE, REST = "next", "open the workspace", "save", "give up, say how it went"


class Worker:
    """One person's work and what each request took, in milliseconds, by its kind."""

    def __init__(self, person: Person, study: str) -> None:
        self.person, self.study = person, study
        self.took: dict[str, list[float]] = defaultdict(list)
        self.errors: list[str] = []

    def work(self, start: Barrier) -> None:
        """Take, save and close until nothing is left or the time is over."""
        start.wait()
        end = time.monotonic() + LONGEST_SECONDS
        while time.monotonic() < end:
            taken = self.note(NEXT, self.person.post(f"/work/{self.study}/next/", {}), 302)
            if not taken.location.startswith("/attempts/"):
                return
            self.solve(taken.location)
        self.errors.append("time is over")

    def solve(self, address: str) -> None:
        """Open the workspace, save, give up, close."""
        self.note(OPEN, self.person.get(address), 200)
        for at in range(SAVES):
            draft: dict[str, str | int] = {"function": f"# {at}\n" * 40, "module": "", "base_revision": at}
            self.note(SAVE, self.person.post(f"{address}draft/", draft, **xhr()), 200)
        self.note(REST, self.person.post(f"{address}give-up/", {"reason": "a benchmark"}), 302)
        self.note(REST, self.person.post(f"{address}verdict/", dict(GAVE_UP)), 302)

    def note(self, kind: str, answer: Answer, expected: int) -> Answer:
        """Note what a request took, and what came instead of the expected status."""
        self.took[kind].append(answer.total_ms)
        if answer.status != expected:
            self.errors.append(f"{kind}: {answer.status} for {expected}")
        return answer


def measure(served: Site, solvers: int, places: int, table: Table) -> None:
    """Let 20 people take all places of a study with k = `solvers`, and add the figures."""
    study, people = make_study(solvers, places)
    workers = [Worker(Person(served.port, session_of(person)), study.name) for person in people]
    start = Barrier(PEOPLE)
    began, used = time.monotonic(), served.cpu_ms("config.web")
    with ThreadPoolExecutor(PEOPLE) as threads:
        for done in [threads.submit(worker.work, start) for worker in workers]:
            done.result()
    seconds, used = time.monotonic() - began, served.cpu_ms("config.web") - used
    for kind in (NEXT, OPEN, SAVE, REST):
        goal = GOAL_MS if kind in (NEXT, SAVE) else None
        table.add(f"k = {solvers}: {kind}", [ms for worker in workers for ms in worker.took[kind]], p95=goal)
    requests = sum(len(values) for worker in workers for values in worker.took.values())
    told = f"{requests} in {seconds:.0f} s, {requests / seconds:.0f} per second"
    table.fact(f"k = {solvers}: requests", f"{told}, {used / requests:.1f} ms of the web process each")
    judge(study, solvers, places, [error for worker in workers for error in worker.errors], table)


def make_study(solvers: int, places: int) -> tuple[Any, list[Any]]:
    """Return an open study with so many places, and its people."""
    from annotation.accounts import create_account
    from config.access import Role
    from tests.annotation.factories import make_study as made

    people = [
        create_account(username=f"k{solvers}p{at}", role=Role.ANNOTATOR, password=None)
        for at in range(PEOPLE)
    ]
    return made(people=people, versions=places // solvers, solvers=solvers), people


def judge(study: Any, solvers: int, places: int, errors: list[str], table: Table) -> None:
    """Add how many places were taken, how many too often, who got a version twice, and what failed."""
    from annotation.models import Attempt, Slot

    attempts = Attempt.objects.filter(slot__study=study)
    pairs = list(attempts.values_list("slot__version", "annotator"))
    closed = Slot.objects.filter(study=study, state=Slot.State.CLOSED).count()
    surplus, double = (
        len(pairs) - len(set(attempts.values_list("slot", flat=True))),
        len(pairs) - len(set(pairs)),
    )
    table.fact(
        f"k = {solvers}: places closed", f"{closed} of {places}", goal=str(places), holds=closed == places
    )
    table.fact(
        f"k = {solvers}: surplus, double", f"{surplus}, {double}", goal="0, 0", holds=not surplus + double
    )
    told = f" ({errors[0]})" if errors else ""
    table.fact(f"k = {solvers}: errors", f"{len(errors)}{told}", goal="0", holds=not errors)


def here(places: int) -> int:
    """Measure on the databases that the environment names; return the exit status."""
    with site(executes=False) as served:
        table = Table(f"People: {PEOPLE} at once, {places} places, {served.stores}")
        for solvers in (1, 2):
            measure(served, solvers, places, table)
        return table.show()


def main(arguments: list[str]) -> int:
    """Measure here, or on both databases."""
    if arguments[:1] != ["here"]:
        return each_database("tests.benchmarks.bench_people", *arguments)
    return here(int(arguments[1]) if len(arguments) > 1 else PLACES)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
