"""What the scripts over examples share: a database of their own, the published records, environments, checks in threads."""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

DATA = Path(__file__).resolve().parents[2].parent / "shared" / "data"
AT_ONCE = 2


def prepare() -> None:
    """Set Django up on a database of this script and make its tables; DATABASE_URL may name a Postgres."""
    os.environ["DJANGO_SETTINGS_MODULE"] = "tests.settings"
    os.environ.setdefault("LOG_LEVEL", "ERROR")
    import django

    django.setup()
    from django.core.management import call_command
    from django.db import connection

    call_command("migrate", verbosity=0)
    print(
        f"{connection.vendor}, Python {sys.version.split()[0]}, load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores"
    )


def data_file(name: str) -> Path:
    """Return a file of the published test data; ends the script where the data is absent."""
    path = DATA / name
    if not path.exists():
        print(f"{name} is not at hand (../shared/data), so there is nothing to measure.")
        sys.exit(0)
    return path


def repeated(count: int) -> Iterator[dict[str, Any]]:
    """Yield `count` records: the 24 published ones again and again, a counter in key and code so that all differ."""
    records = json.loads(data_file("exec_csn_sample.json").read_text())
    for number in range(count):
        record = records[number % len(records)]
        yield {**record, "idx": f"{record['idx']}-{number}", "code": f"# copy {number}\n{record['code']}"}


def write_records(path: Path, count: int) -> None:
    """Write the repeated records as a JSON list, as Exec-CSN is published."""
    with path.open("w") as file:
        for number, record in enumerate(repeated(count)):
            file.write("[" if not number else ",")
            json.dump(record, file)
        file.write("]")


def load(path: Path, dataset: str, *, licence: str = "MIT") -> Any:
    """Import a file into a dataset and return the report."""
    from examples.importing.store import store_stream
    from examples.models import Dataset, ImportReport

    room, _ = Dataset.objects.get_or_create(name=dataset, defaults={"title": dataset, "licence": licence})
    report = ImportReport.objects.create(
        dataset_name=dataset, dataset=room, file_name=path.name, state="running"
    )
    with path.open("rb") as stream:
        return store_stream(stream, report)


def provide_environments() -> None:
    """Build the environments where they are absent and put them into the database."""
    from runner.environments.recipe import recipes
    from runner.provisioning import provision

    for recipe in recipes().values():
        provision(recipe, progress=lambda _: None)


def check_all(versions: list[int]) -> float:
    """Check the versions, AT_ONCE at a time, every execution in a box of its own; return the seconds it took."""
    from examples.checking.run import check_version

    began = time.monotonic()
    with ThreadPoolExecutor(AT_ONCE) as pool:
        list(pool.map(closing(check_version), versions))
    return time.monotonic() - began


def closing(call: Callable[[int], Any]) -> Callable[[int], Any]:
    """Return the call, its thread's connection closed behind it."""

    def called(argument: int) -> Any:
        from django.db import connection

        try:
            return call(argument)
        finally:
            connection.close()

    return called
