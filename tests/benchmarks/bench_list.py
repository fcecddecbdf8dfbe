"""The list of 30 at 20,000 examples with one user: server time, queries, page weights cold and again.

    python -m tests.benchmarks.bench_list

20,000 imported Exec-CSN-sized records with their 140,000 checks. Each address is asked 40 times through all middleware,
one at a time. Goals: 50 ms for a page of the list, 300 kB cold, 40 kB again. Exit 1 where a weight is beyond its goal,
or the default page needs more than 50 ms of the process's own time.
"""

from __future__ import annotations

import re
import sys
import tempfile
import time
from pathlib import Path
from statistics import quantiles
from typing import Any

from tests.benchmarks.prepared import load, prepare, write_records

COUNT, TIMES = 20_000, 40
GOAL_MS, COLD_BYTES, AGAIN_BYTES = 50.0, 300_000, 40_000
ADDRESSES = {
    "first page": "/examples/",
    "page 600": "/examples/?page=600",
    "by title": "/examples/?sort=title",
    "search": "/examples/?q=flags",
    "label": "/examples/?q=EX-0417",
    "failed a check": "/examples/?checks=failed",
    "failed: reference": "/examples/?checks=failed:reference",
    "imports numpy": "/examples/?library=numpy",
    "in a study": "/examples/?study=open",
    "one example": "/examples/417/",
    "its content": "/examples/417/content/",
    "duplicates": "/examples/duplicates/",
}


def fill() -> None:
    """Import the records and give each version its checks: 1 in 10 failed, 1 in 100 waits."""
    from examples.checking.run import CHECKS
    from examples.models import Check, Example, Version

    if Example.objects.count() >= COUNT:
        return  # a database given by DATABASE_URL that an earlier run has filled
    with tempfile.TemporaryDirectory() as room:
        path = Path(room) / "records.json"
        write_records(path, COUNT)
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


def ask(client: Any, name: str, address: str) -> float:
    """Ask an address many times, print the figures, and return the process's own time for one, p50 in ms."""
    from django.db import connection
    from django.test.utils import CaptureQueriesContext

    with CaptureQueriesContext(connection) as queries:
        answer = client.get(address)
    count = len(queries)
    assert answer.status_code == 200, address
    walls, owns = [], []
    for _ in range(TIMES):
        began, used = time.perf_counter(), time.process_time()
        client.get(address)
        walls.append((time.perf_counter() - began) * 1000)
        owns.append((time.process_time() - used) * 1000)
    wall, own = quantiles(walls, n=20), quantiles(owns, n=20)
    print(
        f"{name:18} p50 {wall[9]:6.1f} ms  p95 {wall[18]:6.1f} ms  CPU p50 {own[9]:6.1f} ms  "
        f"{count:2} queries  {len(answer.content) / 1000:6.1f} kB",
        flush=True,
    )
    return own[9]


def weigh(client: Any) -> bool:
    """Print what the list weighs cold (with its compressed files) and again, and return whether both are in bounds."""
    from tests.config.test_weight import weight

    html = client.get("/examples/").content
    files = set(re.findall(r'(?:src|href)="/static/([^"]+)"', html.decode()))
    cold = len(html) + sum(map(weight, files))
    print(
        f"weight of the list: cold {cold / 1000:.1f} kB in {1 + len(files)} files, again {len(html) / 1000:.1f} kB"
    )
    return cold <= COLD_BYTES and len(html) <= AGAIN_BYTES


def main() -> int:
    """Fill, ask, weigh; return the exit status."""
    prepare()
    began = time.monotonic()
    fill()
    print(f"{COUNT:,} examples and their checks made in {time.monotonic() - began:.0f} s")
    client = people()
    own = {name: ask(client, name, address) for name, address in ADDRESSES.items()}
    light = weigh(client)
    return 0 if light and own["first page"] <= GOAL_MS else 1


if __name__ == "__main__":
    sys.exit(main())
