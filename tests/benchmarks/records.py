"""Files of many records of real size: the published Exec-CSN records repeated with a counter; the demo's where those are absent."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import cycle, islice
from pathlib import Path

from tests.benchmarks.figures import shared_data

ROOT = Path(__file__).resolve().parents[2]


def write_records(path: Path, count: int) -> int:
    """Write a file of `count` records that all differ, as a stream, and return its size in bytes."""
    published = shared_data("exec_csn_sample.json")
    with path.open("w") as file:
        if published is None:
            file.writelines(f"{line}\n" for line in _demo(count))
        else:
            for at, text in enumerate(_exec_csn(published, count)):
                file.write(f"{',' if at else '['}\n{text}")
            file.write("\n]\n")
    return path.stat().st_size


def _exec_csn(published: Path, count: int) -> Iterator[str]:
    """Yield the published records again and again, each with a number and a line of code of its own."""
    records = json.loads(published.read_text())
    for at, record in enumerate(islice(cycle(records), count)):
        code = f"{record['code'].rstrip()}\n# copy {at}\n"
        yield json.dumps({**record, "idx": 100_000 + at, "code": code})


def _demo(count: int) -> Iterator[str]:
    """Yield the demo's records again and again, each with a key and a sentence of its own."""
    lines = (ROOT / "examples/demo/demo.jsonl").read_text().splitlines()
    for at, line in enumerate(islice(cycle(lines), count)):
        record = json.loads(line)
        record |= {"key": f"{record['key']}-{at}", "instruction": f"{record['instruction']}\n\nCopy {at}."}
        yield json.dumps(record)


def import_records(path: Path, dataset: str) -> None:
    """Import the file in this process, as the command does; every version is then marked as checked and passed."""
    from examples.importing.store import State, store_stream
    from examples.models import ImportReport, Version

    report = ImportReport.objects.create(dataset_name=dataset, file_name=path.name, state=State.RUNNING)
    with path.open("rb") as stream:
        store_stream(stream, report)
    assert not report.problem_count, report.problems.first()
    Version.objects.update(check_state=Version.CheckState.PASSED)
