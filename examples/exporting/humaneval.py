"""EXPORT: HumanEval's JSONL, for harnesses that read nothing else.

A harness runs `prompt + completion`, a line break, `test`, a line break and `check(entry_point)`. So `prompt` ends with
the line before the body, and what stands behind the body in the context goes before the tests.
"""

from __future__ import annotations

from examples.exporting.benchwright import dump
from examples.jobs import segments_of
from examples.masking import line_ended, test_source
from examples.models import Version

PYTHON, CHECK = "python", "check"
CALLS = """

_tests = [{names}]


def check(candidate):
    import asyncio
    import inspect

    for test in _tests:
        result = test()
        if inspect.isawaitable(result):
            asyncio.run(result)
"""


def line(version: Version) -> str:
    """Return the version's line, ended; "" for another language than Python, which such a harness does not run."""
    if version.language != PYTHON:
        return ""
    data = version.context.encode()
    before, behind = data[: version.gap].decode(), data[version.gap :].decode()
    prompt = before.rstrip(" \t")
    record = {
        "task_id": f"{version.example.dataset.name}/{version.example.key}",
        "prompt": prompt,
        "canonical_solution": before[len(prompt) :] + line_ended(version.reference),
        "entry_point": version.focal_name.partition(".<locals>")[0],
        "test": (line_ended(behind) if behind.strip() else "") + _tests(version),
        "instruction": version.instruction,
    }
    return dump(record) + "\n"


def _tests(version: Version) -> str:
    """Return the tests with a function `check` that runs them: their own, or one that calls each."""
    tests = test_source(segments_of(version))
    return tests if version.expected == [CHECK] else tests + CALLS.format(names=", ".join(version.expected))
