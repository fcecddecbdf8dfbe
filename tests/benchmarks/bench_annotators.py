"""50 annotators at work over HTTP and sockets: what each request takes, and whether anything was doubled, lost or left open.

    python -m tests.benchmarks.bench_annotators [SECONDS] [PEOPLE]       Postgres and Redis, ten minutes, 50 people

A site as `make run` serves it, with two web processes, on Postgres and Redis, and a second worker beside its own. Each
annotator is a thread that behaves as a page does: opens the workspace and its socket, sends beats, saves as it types,
runs the visible tests with wrong code and with right code, submits or gives up, says how it went, takes the next. At the
end everybody closes what is open. Then the database is compared with what the site had acknowledged. Exit 1 where a
place was given twice, a draft or a run was lost, an attempt has no final state, a request was refused, or memory grew.
"""

from __future__ import annotations

import os
import random
import re
import subprocess
import sys
import time
from collections import defaultdict
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from threading import Event
from typing import Any
from uuid import uuid4

from tests.benchmarks.client import Answer, Person, htmx, xhr
from tests.benchmarks.figures import Table
from tests.benchmarks.frames import Frames
from tests.benchmarks.site import ROOT, Site, session_of, site
from tests.services import (
    postgres_programs,
    postgres_server,
    redis_program,
    redis_server,
    wait_until,
)

SECONDS, PEOPLE, SOLVERS, WEB_PROCESSES = 600, 50, 2, "2"
BEAT_SECONDS, TYPING_SECONDS, READING_SECONDS = 15.0, (0.5, 2.5), (2.0, 6.0)
GROWTH_MIB = 40
SAID: dict[str, str | int] = {"difficulty": "trivial", "instruction_quality": 0, "test_quality": 0}
WRONG, RIGHT = (
    "def with_tax(net: float) -> float:\n    return net\n",
    "def with_tax(net: float) -> float:\n    return round(net * (1 + RATE), 2)\n",
)
NEXT, PAGE, SAVE, FIRST_ROW, OUTCOME, REST = (
    "next",
    "page",
    "save",
    "run to first row",
    "submit to outcome",
    "beat, give up, verdict",
)


@dataclass
class Work:
    """What the site has acknowledged of one attempt."""

    drafts: dict[int, str] = field(default_factory=dict)
    runs: set[str] = field(default_factory=set)

    @property
    def revision(self) -> int:
        return max(self.drafts, default=0)


class Annotator:
    """One person at one page at a time, and what every request took in milliseconds."""

    def __init__(self, served: Site, person: Person, study: str, seed: int) -> None:
        self.served, self.person, self.study = served, person, study
        self.random = random.Random(seed)
        self.took: dict[str, list[float]] = defaultdict(list)
        self.errors: list[str] = []
        self.attempts: dict[int, Work] = {}
        self.beaten, self.submitted = 0.0, False

    def work(self, over: Event) -> None:
        """Take one example after another until the time is over; what is open then is closed."""
        over.wait(self.random.uniform(0, 5))
        while not over.is_set():
            taken = self.note(NEXT, self.person.post(f"/work/{self.study}/next/", {}), 302)
            if not taken.location.startswith("/attempts/"):
                self.errors.append(f"no example: {taken.location}")
                return
            try:
                self.solve(taken.location, over)
            except TimeoutError as error:
                self.errors.append(f"{taken.location}: {error}")
                return

    def solve(self, address: str, over: Event) -> None:
        """Read, type, run, and end the attempt."""
        work = self.attempts.setdefault(int(address.split("/")[2]), Work())
        self.note(PAGE, self.person.get(address), 200)
        with Frames(self.served.port, f"/ws{address}", self.person.cookie) as frames:
            self.rest(READING_SECONDS, address, over)
            for number, code in enumerate((WRONG, RIGHT), 1):
                for at in range(self.random.randint(2, 5)):
                    self.rest(TYPING_SECONDS, address, over)
                    self.save(address, work, f"{code}# {at} {'ö' * at}\n")
                self.run(address, work, frames, code, number)
            if self.random.random() < 0.1:
                self.note(REST, self.person.post(f"{address}give-up/", {"reason": "a benchmark"}), 302)
            else:
                self.submit(address, work, frames)
        outcome = "solved" if work.runs and self.submitted else "gave_up"
        said: dict[str, str | int] = {"outcome": outcome, **SAID}
        self.note(REST, self.person.post(f"{address}verdict/", said), 302)

    def rest(self, seconds: tuple[float, float], address: str, over: Event) -> None:
        """Think, with a beat where one is due; at the end of all there is no more thinking."""
        over.wait(self.random.uniform(*seconds))
        if time.monotonic() - self.beaten > BEAT_SECONDS:
            self.beaten = time.monotonic()
            beat: dict[str, str | int] = {"tab": "bench", "visible": "true", "ms_since_input": 200}
            self.note(REST, self.person.post(f"{address}beat/", beat, **xhr()), 200, 204)

    def save(self, address: str, work: Work, text: str) -> None:
        form: dict[str, str | int] = {"function": text, "module": "", "base_revision": work.revision}
        answer = self.note(SAVE, self.person.post(f"{address}draft/", form, **xhr()), 200)
        if answer.status == 200:
            work.drafts[self.person.json_of(answer)["revision"]] = text

    def run(self, address: str, work: Work, frames: Frames, code: str, number: int) -> None:
        frames.forget()
        began = self.ask(f"{address}run/", work, code)
        told = re.compile(rf'Run {number}:.*<li class="(ok|bad)">', re.S)
        self.took[FIRST_ROW].append((frames.wait_for(told.search) - began) * 1000)

    def submit(self, address: str, work: Work, frames: Frames) -> None:
        frames.forget()
        began = self.ask(f"{address}submit/", work, RIGHT)
        ended = frames.wait_for(lambda text: 'data-state="submitted"' in text)
        self.took[OUTCOME].append((ended - began) * 1000)

    def ask(self, address: str, work: Work, code: str) -> float:
        """Ask for a run as the page does, and return the moment at which it was asked for."""
        key, began = str(uuid4()), time.perf_counter()
        form: dict[str, str | int] = {"function": code, "module": "", "key": key, "listens": "1"}
        answer = self.person.post(address, form, **htmx("execution"))
        if answer.status in (200, 204):
            work.runs.add(key)
        else:
            self.errors.append(f"run: {answer.status}")
        self.submitted = address.endswith("submit/")
        return began

    def note(self, kind: str, answer: Answer, *expected: int) -> Answer:
        """Note what a request took, and what came instead of the expected status."""
        self.took[kind].append(answer.total_ms)
        if answer.status not in expected:
            self.errors.append(f"{kind}: {answer.status} for {expected[0]}")
        return answer


@contextmanager
def second_worker() -> Iterator[int]:
    """Give the process id of a worker beside the site's own."""
    command = ["setpriv", "--pdeathsig", "TERM", "--", sys.executable, "-m", "config.work"]
    process = subprocess.Popen(command, cwd=ROOT, env=os.environ.copy())
    try:
        yield process.pid
    finally:
        process.terminate()
        process.wait(60)


def resident(pids: list[int]) -> float:
    """Return what these processes hold by themselves, shared pages by their share, in MiB."""
    total = 0
    for pid in pids:
        for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines():
            total += int(line.split()[1]) if line.startswith("Pss:") else 0
    return total / 1024


def measure(served: Site, worker: int, seconds: float, people: int) -> int:
    """Let everybody work for so long, and print what came of it; return the exit status."""
    from annotation.accounts import create_account
    from config.access import Role
    from tests.annotation.factories import make_study

    accounts = [create_account(username=f"p{at}", role=Role.ANNOTATOR, password=None) for at in range(people)]
    versions = max(int(people * seconds / 15 / SOLVERS), people)
    study = make_study(people=accounts, versions=versions, solvers=SOLVERS)
    annotators = [
        Annotator(served, Person(served.port, session_of(account)), study.name, seed)
        for seed, account in enumerate(accounts)
    ]
    table = Table(f"{people} annotators for {seconds:.0f} s, {served.stores}, 2 web processes, 2 workers")
    pids = [*served.pids_of("config.web"), *served.pids_of("config.work"), worker]
    over = Event()
    with ThreadPoolExecutor(people) as threads:
        jobs = [threads.submit(each.work, over) for each in annotators]
        over.wait(seconds / 6)  # by then everything has warmed up
        early = resident(pids)
        over.wait(seconds * 5 / 6)
        over.set()
        for job in jobs:
            job.result()
    for kind in (PAGE, SAVE, NEXT, FIRST_ROW, OUTCOME, REST):
        table.add(kind, [ms for each in annotators for ms in each.took[kind]])
    requests = sum(len(values) for each in annotators for values in each.took.values())
    table.fact("requests and frames waited for", f"{requests}, {requests / seconds:.0f} per second")
    judge(study, annotators, table)
    grown = resident(pids) - early
    table.fact(
        "memory of web and workers",
        f"{early:.0f} MiB after a sixth, {grown:+.1f} MiB by the end",
        goal=f"< {GROWTH_MIB} MiB",
        holds=grown < GROWTH_MIB,
    )
    return table.show()


def judge(study: Any, annotators: list[Annotator], table: Table) -> None:
    """Compare the database with what was acknowledged."""
    from annotation.models import Attempt, Draft, Run, Slot
    from runner.models import Execution

    with suppress(RuntimeError):  # the table says what has no end
        wait_until(lambda: not Execution.objects.all().open().exists(), "an end of every execution")
    attempts = Attempt.objects.filter(slot__study=study)
    live = list(attempts.exclude(state=Attempt.State.RELEASED).values_list("slot", flat=True))
    pairs = list(attempts.values_list("slot__version", "annotator"))
    doubled = len(live) - len(set(live)) + len(pairs) - len(set(pairs))
    table.fact("places given twice", f"{doubled} of {len(pairs)} attempts", goal="0", holds=not doubled)
    lost = saved = unfinished = asked = 0
    for each in annotators:
        for pk, work in each.attempts.items():
            stored = dict(Draft.objects.filter(attempt=pk).values_list("revision", "function"))
            lost += sum(stored.get(revision) != text for revision, text in work.drafts.items())
            saved += len(work.drafts)
            done = Run.objects.filter(attempt=pk, key__in=work.runs, execution__state="finished").count()
            unfinished += len(work.runs) - done
            asked += len(work.runs)
    table.fact("acknowledged drafts not stored", f"{lost} of {saved}", goal="0", holds=not lost and saved > 0)
    table.fact(
        "acknowledged runs without outcome",
        f"{unfinished} of {asked}",
        goal="0",
        holds=not unfinished and asked > 0,
    )
    final = attempts.filter(state=Attempt.State.CLOSED, verdict__isnull=False).count()
    taken = Slot.objects.filter(study=study, state=Slot.State.TAKEN).count()
    table.fact(
        "attempts without a final state",
        f"{len(pairs) - final}, {taken} places still held, {final} closed",
        goal="0",
        holds=len(pairs) == final and not taken,
    )
    errors = [error for each in annotators for error in each.errors]
    table.fact(
        "refused or silent", f"{len(errors)} {'; '.join(errors[:3])}".strip(), goal="0", holds=not errors
    )


def main(arguments: list[str]) -> int:
    """Measure on Postgres and Redis; return the exit status."""
    seconds = float(arguments[0]) if arguments else SECONDS
    people = int(arguments[1]) if len(arguments) > 1 else PEOPLE
    program, programs = redis_program(), postgres_programs()
    if program is None or programs is None:
        print("This needs Postgres and Redis: apt-get install postgresql redis-server")
        return 1
    with (
        postgres_server(programs) as database,
        redis_server(program) as redis,
        site(DATABASE_URL=database, REDIS_URL=redis, WEB_PROCESSES=WEB_PROCESSES) as served,
        second_worker() as worker,
    ):
        return measure(served, worker, seconds, people)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
