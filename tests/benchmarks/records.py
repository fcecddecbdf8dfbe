"""Records for benchmarks: the published files where they are at hand, and files of many records of their size."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from itertools import cycle, islice
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
DATA = ROOT.parent / "shared" / "data"


def data_file(name: str) -> Path:
    """Return a file of the published records beside this clone; ends the script in peace where it is absent."""
    path = DATA / name
    if not path.exists():
        print(f"{name} is not at hand (../shared/data), so there is nothing to measure.")
        sys.exit(0)
    return path


def write_records(path: Path, count: int) -> int:
    """Write a file of `count` records that all differ, as a stream, and return its size in bytes.

    The 24 published Exec-CSN records are repeated; where those are absent, the demo's.
    """
    published = DATA / "exec_csn_sample.json"
    with path.open("w") as file:
        if published.exists():
            for at, text in enumerate(_exec_csn(published, count)):
                file.write(f"{',' if at else '['}\n{text}")
            file.write("\n]\n")
        else:
            file.writelines(f"{line}\n" for line in _demo(count))
    return path.stat().st_size


def _exec_csn(published: Path, count: int) -> Iterator[str]:
    """Yield the published records again and again, each with a key and a line of code of its own."""
    for at, record in enumerate(islice(cycle(json.loads(published.read_text())), count)):
        yield json.dumps({**record, "idx": f"{record['idx']}-{at}", "code": f"# copy {at}\n{record['code']}"})


def _demo(count: int) -> Iterator[str]:
    """Yield the demo's records again and again, each with a key and a sentence of its own."""
    lines = (ROOT / "examples/demo/demo.jsonl").read_text().splitlines()
    for at, line in enumerate(islice(cycle(lines), count)):
        record = json.loads(line)
        record |= {"key": f"{record['key']}-{at}", "instruction": f"{record['instruction']}\n\nCopy {at}."}
        yield json.dumps(record)


def load(path: Path, dataset: str, *, licence: str = "MIT") -> Any:
    """Import a file into a dataset, as the command does, and return the report."""
    from examples.importing.store import store_stream
    from examples.models import Dataset, ImportReport

    room, _ = Dataset.objects.get_or_create(name=dataset, defaults={"title": dataset, "licence": licence})
    report = ImportReport.objects.create(
        dataset_name=dataset, dataset=room, file_name=path.name, state="running"
    )
    with path.open("rb") as stream:
        return store_stream(stream, report)


def import_records(path: Path, dataset: str) -> None:
    """Import the file, and let every version count as checked and passed."""
    from examples.models import Version

    report = load(path, dataset)
    assert not report.problem_count, report.problems.first()
    Version.objects.update(check_state=Version.CheckState.PASSED)
