"""20 people race for 400 places in four processes, by the stage functions alone: surplus and double assignments.

    python -m tests.benchmarks.drill_assignment           SQLite, then Postgres
    python -m tests.benchmarks.drill_assignment here      only what DATABASE_URL says

Five threads in each process, one per person, so that nothing but the database keeps them apart; one web process does the
same over HTTP in bench_people. Exit 1 where a slot was taken twice, or somebody got a version twice.
"""

from __future__ import annotations

import os
import sys
import time
from concurrent.futures import FIRST_EXCEPTION, ProcessPoolExecutor, ThreadPoolExecutor, wait
from multiprocessing import Manager
from statistics import quantiles
from threading import Barrier
from typing import NamedTuple

from tests.benchmarks.site import each_database

PEOPLE, PLACES, SAVES, PROCESSES = 20, 400, 3, 4


class Times(NamedTuple):
    """Milliseconds of each call of one person."""

    next: list[float]
    save: list[float]


def _setup() -> None:
    os.environ["DJANGO_SETTINGS_MODULE"] = "tests.settings"
    import django

    django.setup()


def solve_together(study_id: int, people: list[int], start: Barrier) -> list[Times]:
    """Let several people work in this process, a thread each, from the moment all processes are up."""
    _setup()
    with ThreadPoolExecutor(len(people)) as pool:
        jobs = [pool.submit(solve_all, study_id, person, start) for person in people]
        for job in wait(jobs, return_when=FIRST_EXCEPTION).done:
            if error := job.exception():
                print(f"one person could not go on: {error!r}", flush=True)
                os._exit(1)  # the others would wait for ever for what that person holds
        return [job.result() for job in jobs]


def solve_all(study_id: int, person_id: int, start: Barrier) -> Times:
    """Take, save and close until nothing is left, as one person."""
    from django.utils import timezone

    from annotation.assignment import Reason, take_slot
    from annotation.attempts import close_attempt, give_up
    from annotation.drafts import save_draft
    from annotation.models import Attempt, Study, User

    verdict = {"outcome": "gave_up", "difficulty": "trivial", "instruction_quality": 0, "test_quality": 0}
    study, person, times = Study.objects.get(pk=study_id), User.objects.get(pk=person_id), Times([], [])
    start.wait()
    while True:
        began = time.perf_counter()
        attempt = take_slot(study, person, timezone.now())
        times.next.append((time.perf_counter() - began) * 1000)
        if not isinstance(attempt, Attempt):
            if attempt.reason != Reason.HELD:
                return times
            time.sleep(0.02)
            continue
        for at in range(SAVES):
            began = time.perf_counter()
            save_draft(attempt, function=f"# {at}\n" * 40, module="", base_revision=at)
            times.save.append((time.perf_counter() - began) * 1000)
        give_up(attempt, reason="benchmark", now=timezone.now())
        attempt.refresh_from_db()
        close_attempt(attempt, answers=verdict, now=timezone.now())


def measure(solvers: int) -> bool:
    """Print the figures for k = `solvers`, and return whether every place was taken once and nobody came twice."""
    from annotation.accounts import create_account
    from annotation.models import Attempt, Slot
    from config.access import Role
    from tests.annotation.factories import make_study

    people = [
        create_account(username=f"k{solvers}p{at}", role=Role.ANNOTATOR, password=None)
        for at in range(PEOPLE)
    ]
    study = make_study(people=people, versions=PLACES // solvers, solvers=solvers)
    with Manager() as manager, ProcessPoolExecutor(PROCESSES) as pool:
        start = manager.Barrier(PEOPLE)
        shares = [[person.pk for person in people[at::PROCESSES]] for at in range(PROCESSES)]
        jobs = [pool.submit(solve_together, study.pk, share, start) for share in shares]
        results = [times for job in jobs for times in job.result()]
    attempts = Attempt.objects.filter(slot__study=study)
    pairs = list(attempts.values_list("slot__version", "annotator"))
    surplus = attempts.count() - Slot.objects.filter(study=study).count()
    double = len(pairs) - len(set(pairs))
    for name in Times._fields:
        _print(f"k = {solvers}, {name}", [ms for times in results for ms in getattr(times, name)])
    print(f"k = {solvers}: {attempts.count()} of {PLACES} places taken, {surplus} surplus, {double} double")
    return surplus == 0 and double == 0


def _print(label: str, milliseconds: list[float]) -> None:
    cuts = quantiles(milliseconds, n=100)
    print(f"{label:18} p50 {cuts[49]:7.1f} ms   p95 {cuts[94]:7.1f} ms   n {len(milliseconds)}")


def main(arguments: list[str]) -> int:
    """Race on both databases, or here with k = 1 and k = 2; return the exit status."""
    if arguments[:1] != ["here"]:
        return each_database("tests.benchmarks.drill_assignment")
    import multiprocessing

    multiprocessing.set_start_method("spawn")
    _setup()
    from django.core.management import call_command
    from django.db import connection

    os.environ["DATABASE_URL"] = (
        os.environ.get("DATABASE_URL") or f"sqlite:///{connection.settings_dict['NAME']}"
    )
    call_command("migrate", verbosity=0)
    print(f"{connection.vendor}, {PEOPLE} people, {PLACES} places")
    return 0 if all([measure(1), measure(2)]) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
