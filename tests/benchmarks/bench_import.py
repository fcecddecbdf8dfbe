"""Import of 2,000 and 20,000 Exec-CSN-sized records: seconds and peak memory, parsing, masking and database included.

    python -m tests.benchmarks.bench_import [COUNT ...]

Each size is imported in a process of its own, then once more, which must change nothing. The goals are for a machine
without other work, so the process's own time is judged; memory is flat where ten times the records take 32 MiB more at most.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from tests.benchmarks.figures import Table
from tests.benchmarks.prepared import database, prepare
from tests.benchmarks.records import load, write_records

COUNTS = (2_000, 20_000)
SECONDS_PER_RECORD = 0.0025  # 5 s for 2,000, 50 s for 20,000
FLAT_MIB = 32


def peak_mib() -> float:
    """Return the most memory this process has held."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def measure(count: int) -> dict[str, Any]:
    """Import that many records, twice, in this process, and return what that took."""
    prepare()
    with tempfile.TemporaryDirectory() as room:
        path = Path(room) / "records.json"
        size = write_records(path, count)
        began, used = time.monotonic(), time.process_time()
        report = load(path, "many")
        seconds, own = time.monotonic() - began, time.process_time() - used
        began = time.monotonic()
        again = load(path, "many")
        second = time.monotonic() - began
    whole = (report.added, report.problem_count) == (count, 0)
    same = (again.unchanged, again.added, again.changed) == (count, 0, 0)
    found = {"seconds": seconds, "own": own, "again": second, "peak": peak_mib(), "megabytes": size / 1e6}
    return found | {"right": whole and same, "database": database()}


def in_a_process(count: int) -> dict[str, Any]:
    """Measure in a process of its own, so that its peak memory is that of this import."""
    command = [sys.executable, "-m", "tests.benchmarks.bench_import", "in-this-process", str(count)]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


def main(counts: tuple[int, ...]) -> int:
    """Measure each size and print the figures; return 1 where a goal was missed."""
    table = Table("Imports: records of Exec-CSN size, file to rows", unit="s")
    found = {count: in_a_process(count) for count in counts}
    for count, each in found.items():
        name = f"{count:,} records, {each['megabytes']:.0f} MB, {each['database']}"
        table.add(f"{name}: own time", [each["own"]], p50=count * SECONDS_PER_RECORD)
        table.add(f"{name}: wall", [each["seconds"]])
        table.add(f"{name}: again", [each["again"]])
        table.fact(f"{count:,} records: all in, again no change", "", holds=each["right"])
    peaks = [each["peak"] for each in found.values()]
    told = ", ".join(f"{peak:.0f} MiB" for peak in peaks)
    flat = max(peaks) - min(peaks) <= FLAT_MIB
    table.fact("highest memory of each process", told, goal=f"+{FLAT_MIB} MiB", holds=flat)
    return table.show()


if __name__ == "__main__":
    if sys.argv[1:2] == ["in-this-process"]:
        print(json.dumps(measure(int(sys.argv[2]))))
        sys.exit(0)
    sys.exit(main(tuple(map(int, sys.argv[1:])) or COUNTS))
