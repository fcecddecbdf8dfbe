"""Import of 2,000 and 20,000 records of Exec-CSN size, database included: seconds and the process's highest memory.

    python -m tests.benchmarks.bench_imports [COUNT ...]

Each import is `manage.py import_examples` in a process of its own on a new SQLite file, or on an empty database of the
server that BENCH_DATABASE_URL names. Memory is flat where ten times the records take not a fifth more of it.
"""

from __future__ import annotations

import os
import resource
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

from tests.benchmarks.figures import Table
from tests.benchmarks.records import write_records
from tests.benchmarks.site import ROOT

COUNTS = (2_000, 20_000)
SECONDS_PER_RECORD = 0.0025  # 5 s for 2,000, 50 s for 20,000
FLAT = 1.2


class Import(NamedTuple):
    """What one import took, and the most memory its process held, in MiB."""

    seconds: float
    peak: float


def imported(count: int) -> Import:
    """Import so many records on a new database, in a new process."""
    with tempfile.TemporaryDirectory(prefix="benchwright-import-") as name:
        room = Path(name)
        file = room / "records.json"
        write_records(file, count)
        variables = {"BENCHWRIGHT_DATA": str(room / "data"), "SECRET_KEY": "of no use outside the benchmarks"}
        environment = {**os.environ, "DJANGO_SETTINGS_MODULE": "config.settings", **variables}
        environment.pop("DATABASE_URL", None)
        # A broker that refuses at once: waking workers is not what is measured.
        environment["REDIS_URL"] = f"unix://{room}/nobody.sock"
        run(["migrate", "-v0", "--skip-checks"], environment)
        began = time.monotonic()
        peak = run(["import_examples", str(file), "--dataset", "many", "--licence", "MIT"], environment)
        return Import(time.monotonic() - began, peak)


def run(words: list[str], environment: dict[str, str]) -> float:
    """Run a management command and return its peak memory in MiB. Raises RuntimeError where it fails."""
    command = [sys.executable, "manage.py", *words]
    pid = os.fork()
    if pid == 0:
        os.chdir(ROOT)
        os.execve(sys.executable, command, environment)
    _, status, usage = os.wait4(pid, 0)
    if status:
        raise RuntimeError(f"{' '.join(words)} ended with {os.waitstatus_to_exitcode(status)}")
    return _mebibytes(usage)


def _mebibytes(usage: resource.struct_rusage) -> float:
    return usage.ru_maxrss / 1024


def main(counts: tuple[int, ...]) -> int:
    """Import each number of records and print the figures; return 1 where a goal was missed."""
    table = Table(
        "Imports: records of Exec-CSN size by manage.py import_examples, start of the process included",
        unit="s",
    )
    found = {count: imported(count) for count in counts}
    for count, each in found.items():
        table.add(f"{count:,} records", [each.seconds], p50=count * SECONDS_PER_RECORD)
    peaks = ", ".join(f"{each.peak:.0f} MiB for {count:,}" for count, each in found.items())
    flat = max(each.peak for each in found.values()) <= FLAT * min(each.peak for each in found.values())
    table.fact("highest memory of the process", peaks, goal=f"x {FLAT}", holds=flat)
    return table.show()


if __name__ == "__main__":
    sys.exit(main(tuple(map(int, sys.argv[1:])) or COUNTS))
