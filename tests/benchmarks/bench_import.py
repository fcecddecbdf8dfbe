"""Import of 2,000 and 20,000 Exec-CSN-sized records: seconds and peak memory, parsing, masking and database included.

    python -m tests.benchmarks.bench_import

The 24 published records are repeated with a counter in key and code, so that all hashes differ. Each size is imported
in a process of its own, then once more, which must change nothing. Goals: 5 s and 50 s on an idle machine with
2 cores, memory flat. Exit 1 where the memory of 20,000 is not that of 2,000, or a second import changes something;
seconds are judged by those of the process itself, which others on the machine do not lengthen.
"""

from __future__ import annotations

import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from tests.benchmarks.prepared import data_file, load, prepare, write_records

GOALS = {2_000: 5.0, 20_000: 50.0}
FLAT_BYTES = 32 << 20


def peak_bytes() -> int:
    """Return the most memory this process has held."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def measure(count: int) -> int:
    """Import that many records, twice, in this process; print the figures, the peak last; return the exit status."""
    prepare()
    with tempfile.TemporaryDirectory() as room:
        path = Path(room) / "records.json"
        write_records(path, count)
        size = path.stat().st_size
        before = peak_bytes()
        began, used = time.monotonic(), time.process_time()
        report = load(path, "exec-csn")
        seconds, own = time.monotonic() - began, time.process_time() - used
        began = time.monotonic()
        again = load(path, "exec-csn")
        second = time.monotonic() - began
    print(
        f"{count:,} records, {size / 1e6:.0f} MB: {seconds:.1f} s ({own:.1f} s of CPU, goal {GOALS[count]:.0f} s), "
        f"{count / seconds:.0f} records/s; again, unchanged: {second:.1f} s; "
        f"peak {peak_bytes() / 1e6:.0f} MB, {(peak_bytes() - before) / 1e6:.0f} MB above the start"
    )
    print(peak_bytes())
    whole = (report.added, report.problem_count) == (count, 0)
    same = (again.unchanged, again.added, again.changed) == (count, 0, 0)
    return 0 if whole and same and own <= GOALS[count] else 1


def main() -> int:
    """Measure both sizes, each in a process of its own; return the exit status."""
    data_file("exec_csn_sample.json")
    peaks, held = [], True
    for count in GOALS:
        command = [sys.executable, "-m", "tests.benchmarks.bench_import", str(count)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        *told, peak = done.stdout.strip().splitlines() or [done.stderr]
        print("\n".join(told), flush=True)
        held &= done.returncode == 0
        peaks.append(int(peak) if peak.isdecimal() else 0)
    grown = peaks[1] - peaks[0]
    print(f"peak memory of 20,000 against 2,000: {grown / 1e6:+.0f} MB")
    return 0 if held and grown <= FLAT_BYTES else 1


if __name__ == "__main__":
    sys.exit(measure(int(sys.argv[1])) if len(sys.argv) > 1 else main())
