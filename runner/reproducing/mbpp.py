"""MBPP (Austin et al. 2021), the whole and the sanitized form.

The published program is the code, then `test_setup_code` (whole form) or before it `test_imports` (sanitized form), then
the assertions of `test_list`, all at top level; passing is to come to its end. Two records (367, 927) have a setup that
needs the code before it. Here the assertions, and nothing else, become the body of one test function, in their order.
`challenge_test_list` is no part of the published verdict and is left out.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from runner.reproducing.base import Format, Known, Sample, field, objects
from runner.reproducing.wrapping import as_function
from runner.sandbox.base import Job, Limits

TEST = "test_mbpp"


def whole(paths: Sequence[Path], limits: Limits) -> Iterator[Sample]:
    """Yield the solution of each record of mbpp.jsonl."""
    (path,) = paths
    for item in objects(path):
        setup = field(item, "test_setup_code", str, path)
        tests = f"{setup}\n\n\n{as_function(TEST, field(item, 'test_list', list, path))}"
        job = Job(field(item, "code", str, path), tests, (TEST,), limits)
        yield Sample(str(field(item, "task_id", int, path)), job, recorded=True)


def sanitized(paths: Sequence[Path], limits: Limits) -> Iterator[Sample]:
    """Yield the solution of each record of sanitized-mbpp.json."""
    (path,) = paths
    for item in objects(path):
        program = "\n".join([*field(item, "test_imports", list, path), field(item, "code", str, path)])
        tests = as_function(TEST, field(item, "test_list", list, path))
        yield Sample(
            str(field(item, "task_id", int, path)), Job(program, tests, (TEST,), limits), recorded=True
        )


FORMATS = (
    Format("mbpp", "MBPP references", ("mbpp.jsonl",), whole, 10, (Known("", 974, 974),)),
    Format(
        "mbpp-sanitized",
        "MBPP sanitized references",
        ("sanitized-mbpp.json",),
        sanitized,
        10,
        (Known("", 427, 427),),
    ),
)
