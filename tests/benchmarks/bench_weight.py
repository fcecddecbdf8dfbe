"""What pages weigh as they are served: list, workspace and study, cold (page and every file it names) and again.

    python -m tests.benchmarks.bench_weight

A site as `make run` serves it, asked with `Accept-Encoding: br`; counted is what came over the wire, headers left out.
Again: the page alone, since its files carry their content's hash in their names and are kept by the browser for ever.
"""

from __future__ import annotations

import re
import sys
import tempfile
from pathlib import Path
from typing import Any

from tests.benchmarks.client import Person
from tests.benchmarks.figures import Table
from tests.benchmarks.records import import_records, write_records
from tests.benchmarks.site import session_of, site

COLD_KB, AGAIN_KB = 300, 40
EXAMPLES = 100
# What a browser fetches for a page: scripts, style sheets and the icon.
FILE = re.compile(r'<(?:script[^>]*? src|link[^>]*? href)="(/static/[^"]+)"')


def pages() -> tuple[list[tuple[str, str, str]], str]:
    """Make what the pages show; return (name, address, session) of each, and the dataset's name."""
    from annotation.accounts import create_account
    from config.access import Role
    from tests.annotation.factories import make_study as open_study
    from tests.annotation.factories import make_version
    from tests.factories import make_attempt

    with tempfile.TemporaryDirectory() as room:
        path = Path(room) / "records"
        write_records(path, EXAMPLES)
        import_records(path, "published")
    people = [create_account(username=name, role=Role.ANNOTATOR, password=None) for name in ("ann", "ben")]
    curator = session_of(create_account(username="cleo", role=Role.CURATOR, password=None))
    versions = [make_version() for _ in range(30)]
    study = open_study(people=people, versions=versions, solvers=2)
    for version in versions[1:]:
        for person in people:
            make_attempt(study, version, person)
    found = [
        ("list of 30", "/examples/", curator),
        ("an example", f"/examples/{versions[1].example_id}/", curator),
        ("study's results", f"/studies/{study.name}/results/", curator),
        ("study's own page", f"/studies/{study.name}/", curator),
        ("workspace", workspace(study, people[0]), session_of(people[0])),
    ]
    return found, study.name


def workspace(study: Any, person: Any) -> str:
    """Return the address of a new attempt of the person."""
    from django.utils import timezone

    from annotation.assignment import take_slot
    from annotation.models import Attempt

    attempt = take_slot(study, person, timezone.now())
    assert isinstance(attempt, Attempt), attempt
    return f"/attempts/{attempt.pk}/"


def main() -> int:
    """Weigh and print; return 1 where a page is too heavy."""
    with site(executes=False) as served:
        table = Table("Weight of pages, brotli as served, in kB", unit="kB")
        found, _ = pages()
        for name, address, session in found:
            person = Person(served.port, session)
            answer = person.get(address)
            assert answer.status == 200, (address, answer.status)
            again = len(answer.body) / 1000
            files = sorted(set(FILE.findall(person.text_of(answer))))
            cold = again + sum(len(person.get(file).body) for file in files) / 1000
            told = f"cold {cold:6.1f} in {1 + len(files)} files, again {again:5.1f}"
            table.fact(
                name, told, goal=f"{COLD_KB} / {AGAIN_KB}", holds=cold <= COLD_KB and again <= AGAIN_KB
            )
        return table.show()


if __name__ == "__main__":
    sys.exit(main())
