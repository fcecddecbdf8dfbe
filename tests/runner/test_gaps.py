"""Memory put in order before a fork: what the fork allocates touches few pages."""

from __future__ import annotations

import json
import subprocess
import sys

# Says how many pages a fork touches by what it allocates: between the gaps that half-used memory has, and once they are full.
MEASURE = """
import json, os, resource
from runner.sandbox.inside.gaps import fill_gaps

def touched(work):
    reading, writing = os.pipe()
    if os.fork() == 0:
        before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
        work()
        os.write(writing, str(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before).encode())
        os._exit(0)
    os.wait()
    return int(os.read(reading, 20))

def allocate():
    return [bytes(size) for size in (*range(0, 480, 16), *range(600, 3000, 100)) for _ in range(20)]

older = [[bytes(size) for _ in range(2000)] for size in (*range(0, 480, 16), *range(600, 3000, 100))]
for blocks in older:
    del blocks[::40]
found = [touched(allocate)]
fill_gaps()
print(json.dumps([*found, touched(allocate)]))
"""


def test_what_a_fork_allocates_lies_together():
    done = subprocess.run([sys.executable, "-c", MEASURE], capture_output=True, text=True, check=True)
    between_gaps, filled = json.loads(done.stdout)
    assert filled * 3 < between_gaps
