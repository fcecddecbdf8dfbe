"""Exports of 2,000 and 20,000 examples over HTTP: first byte, whole, peak memory of the web process; freezing 2,000.

    python -m tests.benchmarks.bench_export [EXAMPLES]

A site as `make run` serves it on its embedded database. Each export is fetched three times; memory is the highest resident
size of the web process during the fetch (VmHWM, set back before each), and flat means that ten times as many examples
raise it by less than 16 MiB.
"""

from __future__ import annotations

import http.client
import sys
import tempfile
import time
from pathlib import Path
from typing import Any, NamedTuple

from tests.benchmarks.figures import Table
from tests.benchmarks.records import import_records, write_records
from tests.benchmarks.site import Site, site

EXAMPLES, FEW, TIMES = 20_000, 2_000, 3
FIRST_BYTE_MS = 500
FLAT_MIB = 16
PIECE = 1 << 20


class Fetched(NamedTuple):
    """Milliseconds to the first byte and to the last, megabytes received, peak resident MiB of the web process."""

    first_ms: float
    total_ms: float
    megabytes: float
    peak_mib: float


def fetch(served: Site, token: str, path: str) -> Fetched:
    """Fetch an address with a token, reading in pieces, so that this process keeps nothing either."""
    pid = served.pid_of("config.web")
    Path(f"/proc/{pid}/clear_refs").write_text("5")
    connection = http.client.HTTPConnection("127.0.0.1", served.port, timeout=120)
    began = time.perf_counter()
    connection.request("GET", path, headers={"Authorization": f"Token {token}"})
    response = connection.getresponse()
    assert response.status == 200, response.status
    received = len(response.read(1))
    first = time.perf_counter()
    while piece := response.read(PIECE):
        received += len(piece)
    ended = time.perf_counter()
    connection.close()
    peak = next(line for line in Path(f"/proc/{pid}/status").read_text().splitlines() if "VmHWM" in line)
    return Fetched(
        (first - began) * 1000, (ended - began) * 1000, received / 1e6, int(peak.split()[1]) / 1024
    )


def measure(served: Site, token: str, path: str, name: str, table: Table) -> float:
    """Add the figures of one export, and return the highest peak in MiB."""
    found = [fetch(served, token, path) for _ in range(TIMES)]
    table.add(f"{name}: first byte", [each.first_ms for each in found], p95=FIRST_BYTE_MS)
    table.add(f"{name}: all {found[0].megabytes:.0f} MB", [each.total_ms for each in found])
    return max(each.peak_mib for each in found)


def freeze_some(table: Table) -> Any:
    """Freeze a release of FEW versions of the dataset `few`, and add what it took."""
    from annotation import evidence
    from examples.models import Version
    from examples.releasing.drafting import DraftPlan, SplitPlan, draft_release
    from examples.releasing.freezing import freeze

    curator, versions = _solved(
        Version.objects.filter(example__dataset__name="few").select_related("environment")
    )
    plan = DraftPlan("bench", "1.0.0", 1, [SplitPlan("train", 0.5), SplitPlan("test", 0.5)])
    began = time.perf_counter()
    draft = draft_release(plan, versions=versions, by=curator)
    drafted = time.perf_counter()
    freeze(draft, by=curator, people=evidence)
    table.fact(f"draft of {FEW}", f"{(drafted - began) * 1000:.0f} ms")
    table.fact(f"gate and freeze of {FEW}", f"{(time.perf_counter() - drafted) * 1000:.0f} ms")
    return curator


def _solved(versions: Any) -> tuple[Any, Any]:
    """Make every check passed and one person have solved each version; return a curator and the versions."""
    from annotation.accounts import create_account
    from annotation.models import Attempt, Slot, Verdict
    from config.access import Role
    from examples.models import Check
    from tests.factories import make_checks, make_study

    curator = create_account(username="curator", role=Role.CURATOR, password=None)
    person = create_account(username="person", role=Role.ANNOTATOR, password=None)
    type(versions[0].environment).objects.update(image_digest="sha256:bench", built_at="2026-01-01T00:00:00Z")
    versions[0].example.dataset.examples.update(licence="MIT")
    make_checks(versions.all()[0])
    model = list(Check.objects.filter(version=versions[0]))
    Check.objects.bulk_create(
        [
            Check(
                version=version,
                name=each.name,
                state=each.state,
                finding=each.finding,
                evidence=each.evidence,
            )
            for version in versions[1:]
            for each in model
        ],
        batch_size=500,
    )
    study = make_study("bench", versions=list(versions), people=[person], solvers=1)
    study.slots.update(state=Slot.State.CLOSED, annotator=person)
    attempts = Attempt.objects.bulk_create(
        [
            Attempt(
                slot=slot,
                annotator=person,
                protocol=study.protocol,
                state="closed",
                started_at=study.opened_at,
                ended_at=study.opened_at,
            )
            for slot in study.slots.all()
        ],
        batch_size=500,
    )
    Verdict.objects.bulk_create(
        [
            Verdict(
                attempt=attempt,
                outcome="solved",
                solved=True,
                difficulty="trivial",
                instruction_quality=0,
                test_quality=0,
            )
            for attempt in attempts
        ],
        batch_size=500,
    )
    return curator, versions


def main(arguments: list[str]) -> int:
    """Measure exports of a dataset and a split; return the exit status."""
    examples = int(arguments[0]) if arguments else EXAMPLES
    with site(executes=False, WEB_PROCESSES="1") as served, tempfile.TemporaryDirectory() as room:
        table = Table(f"Exports: {FEW} and {examples} examples, {served.stores}")
        for dataset, number in (("few", FEW), ("many", examples)):
            write_records(Path(room) / dataset, number)
            import_records(Path(room) / dataset, dataset)
        curator = freeze_some(table)
        from annotation.tokens import make_token

        token = make_token(curator, name="bench", scopes=["examples:read", "releases:read"], days=7)
        fetch(served, token, "/api/v1/datasets/few/export/")
        peaks = {
            dataset: measure(
                served, token, f"/api/v1/datasets/{dataset}/export/", f"dataset of {number}", table
            )
            for dataset, number in (("few", FEW), ("many", examples))
        }
        measure(
            served, token, "/api/v1/releases/bench/1.0.0/splits/train/", f"split of about {FEW // 2}", table
        )
        grown = peaks["many"] - peaks["few"]
        table.fact(
            "peak memory of the web process",
            f"{peaks['few']:.0f} MiB, then {peaks['many']:.0f} MiB",
            goal=f"+{FLAT_MIB} MiB",
            holds=grown < FLAT_MIB,
        )
        return table.show()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
