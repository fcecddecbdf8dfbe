"""QuixBugs (Lin et al. 2017): 31 programs with JSON tests, each correct and with one bug.

The source's own runner calls the program with each input (one that is no list is the only argument), turns a generator
into a list, and compares what comes back with the expected value as JSON. Here the comparison is `alike`: tuples and
iterators are lists, true is not 1, and where a number is not whole, two numbers may differ by the tolerance that the
last input gives (only `sqrt` has one). All cases of a program are one test function, in order, so the limit is the
program's.
"""

from __future__ import annotations

import inspect
import json
from collections.abc import Iterator, Sequence
from pathlib import Path

from runner.reproducing import comparing
from runner.reproducing.base import Format, Known, Sample, field, objects
from runner.sandbox.base import Job, Limits

TEST = "test_program"
TESTS = """
{comparing}


def {test}():
    import json

    for inputs, expected in json.loads({cases!r}):
        arguments = inputs if isinstance(inputs, list) else [inputs]
        tolerance = arguments[-1] if arguments and isinstance(arguments[-1], float) else 0
        assert alike({name}(*arguments), expected, tolerance)
"""


def programs(paths: Sequence[Path], limits: Limits) -> Iterator[Sample]:
    """Yield both forms of each program: first as `correct/name`, then as `buggy/name`."""
    (path,) = paths
    for form in ("correct", "buggy"):
        for item in objects(path):
            name = field(item, "name", str, path)
            cases = json.dumps(field(item, "tests", list, path))
            tests = TESTS.format(comparing=inspect.getsource(comparing), test=TEST, cases=cases, name=name)
            job = Job(field(item, form, str, path), tests, (TEST,), limits)
            yield Sample(f"{form}/{name}", job, recorded=form == "correct")


FORMATS = (
    Format(
        "quixbugs",
        "QuixBugs programs",
        ("quixbugs.jsonl",),
        programs,
        10,
        (Known("correct/", 31, 29), Known("buggy/", 31, 0)),
    ),
)
