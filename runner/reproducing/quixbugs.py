"""QuixBugs (Lin et al. 2017): 31 programs with JSON tests, each correct and with one bug.

The source's own runner calls the program with each input (one that is no list is the only argument), turns a generator
into a list, and compares what comes back with the expected value, which is JSON. Here each case is an assertion with the
arguments and the expected value as literals, so that it is compared outside the program's process: tuples and iterators
are lists first, and where the last input is a tolerance (no whole number; `sqrt` alone has one) two numbers may differ
by it. All cases of a program are one test function, in order, so the limit is the program's.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from runner.reproducing.base import Format, Known, Sample, field, objects
from runner.reproducing.wrapping import as_function
from runner.sandbox.base import Job, Limits

TEST = "test_program"
AS_JSON = """
from types import GeneratorType


def as_json(value):
    if isinstance(value, (list, tuple, GeneratorType, map, filter, zip, range)):
        return [as_json(item) for item in value]
    return value


"""


def programs(paths: Sequence[Path], limits: Limits) -> Iterator[Sample]:
    """Yield both forms of each program: first as `correct/name`, then as `buggy/name`."""
    (path,) = paths
    for form in ("correct", "buggy"):
        for item in objects(path):
            name = field(item, "name", str, path)
            cases = [assertion(name, *case) for case in field(item, "tests", list, path)]
            tests = AS_JSON + as_function(TEST, cases)
            job = Job(field(item, form, str, path), tests, (TEST,), limits)
            yield Sample(f"{form}/{name}", job, recorded=form == "correct")


def assertion(name: str, inputs: Any, expected: Any) -> str:
    """Return a case as an assertion."""
    arguments = inputs if isinstance(inputs, list) else [inputs]
    call = f"as_json({name}({', '.join(map(repr, arguments))}))"
    if arguments and isinstance(arguments[-1], float):
        return f"assert abs({call} - {expected!r}) <= {arguments[-1]!r}"
    return f"assert {call} == {expected!r}"


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
