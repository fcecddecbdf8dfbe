"""The list of 30 at 20,000 examples with one user: server time and queries; what pages weigh is bench_weight.

    python -m tests.benchmarks.bench_list [COUNT]

20,000 imported Exec-CSN-sized records with their 140,000 checks. Each address is asked 40 times through all middleware,
one at a time. Goal: 50 ms for a page of the list, judged by the process's own time, which others do not lengthen.
"""

from __future__ import annotations

import sys
import tempfile
import time
from pathlib import Path
from typing import Any, NamedTuple

from tests.benchmarks.figures import Table
from tests.benchmarks.prepared import database, prepare
from tests.benchmarks.records import load, write_records

COUNT, TIMES = 20_000, 40
GOAL_MS = 50.0
FIRST = "first page"
ADDRESSES = {
    FIRST: "/examples/",
    "page 600": "/examples/?page=600",
    "by title": "/examples/?sort=title",
    "search": "/examples/?q=flags",
    "label": "/examples/?q=EX-0417",
    "failed a check": "/examples/?checks=failed",
    "failed: reference": "/examples/?checks=failed:reference",
    "imports numpy": "/examples/?library=numpy",
    "in a study": "/examples/?study=open",
    "one example": "/examples/17/",
    "its content": "/examples/17/content/",
    "duplicates": "/examples/duplicates/",
}


def fill(count: int) -> None:
    """Import the records and give each version its checks: 1 in 10 failed, 1 in 100 waits."""
    from examples.checking.run import CHECKS
    from examples.models import Check, Example, Version

    if Example.objects.count() >= count:
        return  # a database given by DATABASE_URL that an earlier run has filled
    with tempfile.TemporaryDirectory() as room:
        path = Path(room) / "records.json"
        write_records(path, count)
        load(path, "exec-csn")
    ids = list(Version.objects.order_by("pk").values_list("pk", flat=True))
    for start in range(0, len(ids), 500):
        Check.objects.bulk_create(
            Check(
                version_id=pk,
                name=name,
                state="failed" if name == "reference" and pk % 10 == 0 else "passed",
                finding=f"{name} was looked at, five times, in cold containers.",
                evidence={"assertions": 9} if name == "tests_ran" else {"passed": 5, "of": 5},
            )
            for pk in ids[start : start + 500]
            if pk % 100 != 1
            for name in CHECKS
        )
    waiting = [pk for pk in ids if pk % 100 == 1]
    failed = [pk for pk in ids if pk % 10 == 0]
    Version.objects.exclude(pk__in=waiting).update(check_state="passed")
    for start in range(0, len(failed), 500):
        part = failed[start : start + 500]
        Version.objects.filter(pk__in=part).update(check_state="failed", failed_checks="reference")


def people() -> Any:
    """Make a study over 200 versions, and return a browser with a curator signed in."""
    from django.test import Client

    from annotation.accounts import create_account
    from annotation.models import Study
    from config.access import Role
    from examples.models import Version
    from tests.factories import make_attempt, make_study

    number = Study.objects.count()
    ann = create_account(username=f"ann{number}", role=Role.ANNOTATOR, password=None)
    versions = list(Version.objects.filter(check_state="passed").order_by("-pk")[:200])
    study = make_study(f"s-{number}", versions=versions, people=[ann])
    for version in versions[:20]:
        make_attempt(study, version, ann)
    client = Client(headers={"host": "127.0.0.1"})
    client.force_login(create_account(username=f"cleo{number}", role=Role.CURATOR, password=None))
    return client


class Asked(NamedTuple):
    """What one address took: milliseconds of wall and of the process's own time, queries, bytes before compression."""

    walls: list[float]
    owns: list[float]
    queries: int
    size: int


def ask(client: Any, address: str) -> Asked:
    """Ask an address many times, one at a time."""
    from django.db import connection
    from django.test.utils import CaptureQueriesContext

    with CaptureQueriesContext(connection) as queries:
        answer = client.get(address)
    assert answer.status_code == 200, address
    walls, owns = [], []
    for _ in range(TIMES):
        began, used = time.perf_counter(), time.process_time()
        client.get(address)
        walls.append((time.perf_counter() - began) * 1000)
        owns.append((time.process_time() - used) * 1000)
    return Asked(walls, owns, len(queries), len(answer.content))


def main(arguments: list[str]) -> int:
    """Fill, ask, print; return the exit status."""
    count = int(arguments[0]) if arguments else COUNT
    prepare()
    table = Table(f"List: 30 of {count:,} examples, one user, {database()}")
    fill(count)
    client = people()
    for name, address in ADDRESSES.items():
        asked = ask(client, address)
        said = f"{name}: {asked.queries} queries, {asked.size / 1000:.0f} kB"
        table.add(f"{said}: own", asked.owns, p50=GOAL_MS if name == FIRST else None)
        table.add("    wall", asked.walls)
    return table.show()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
