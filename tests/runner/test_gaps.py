"""Memory put in order before a fork: what the fork allocates touches few pages, and mapped files are there at once."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

# Says how many pages a fork touches by its work: as it is, and after each step.
MEASURE = """
import json, os, resource
from runner.sandbox.inside.gaps import fill_gaps, take_files_along

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

def use_the_interpreter():
    compile("def f(x):\\n    return [y * 2 for y in x if y]\\n" * 20, "text", "exec")

older = [[bytes(size) for _ in range(2000)] for size in (*range(0, 480, 16), *range(600, 3000, 100))]
for blocks in older:
    del blocks[::40]
found = {"gaps": touched(allocate)}
fill_gaps()
found["filled"] = touched(allocate)
before = touched(use_the_interpreter)
take_files_along()
found["along"] = (before, touched(use_the_interpreter))
print(json.dumps(found))
"""


@pytest.fixture(scope="module")
def found():
    done = subprocess.run([sys.executable, "-c", MEASURE], capture_output=True, text=True, check=True)
    return dict(json.loads(done.stdout))


def test_what_a_fork_allocates_lies_together(found):
    assert found["filled"] * 3 < found["gaps"], found


def test_a_fork_finds_mapped_files_in_place(found):
    before, after = found["along"]
    assert after < before, found


def test_nothing_breaks_where_a_process_may_not_look_into_itself():
    script = (
        "import ctypes; from runner.sandbox.inside.gaps import take_files_along;"
        "ctypes.CDLL(None).prctl(4, 0, 0, 0, 0); take_files_along(); print('whole')"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout == "whole\n"
