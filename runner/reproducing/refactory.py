"""Refactory (Hu et al. 2019): programs of students for five questions, judged by `assert (input) == (output)`.

The published program is the question's `global`, the submission, then one such assertion for each test, in order. Here
`global` and submission are the program and the assertions the body of one test function. The recorded verdict is the
folder's name: `correct` passed, `wrong` and `fail` did not.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from runner.reproducing.base import FileUnusable, Format, Known, Sample, field, objects
from runner.reproducing.wrapping import as_function
from runner.sandbox.base import Job, Limits

TEST = "test_question"


def submissions(paths: Sequence[Path], limits: Limits) -> Iterator[Sample]:
    """Yield the submissions of the second file by the questions of the first."""
    problems, submitted = paths
    questions = {field(item, "question", str, problems): item for item in objects(problems)}
    for item in objects(submitted):
        question = questions.get(field(item, "question", str, submitted))
        if question is None:
            raise FileUnusable(f"{problems}: there is no question {item['question']!r}")
        verdict = field(item, "verdict", str, submitted)
        yield Sample(
            f"{verdict}/{item['question']}/{field(item, 'file', str, submitted)}",
            job_of(question, field(item, "code", str, submitted), limits, problems),
            recorded=verdict == "correct",
        )


def job_of(question: dict[str, Any], code: str, limits: Limits, path: Path) -> Job:
    """Return the job that judges a submission to a question. Raises FileUnusable."""
    program = f"{field(question, 'global', str, path)}\n{code}"
    assertions = [
        f"assert ({test['input'].strip()}) == ({test['output'].strip()})"
        for test in field(question, "tests", list, path)
    ]
    return Job(program, as_function(TEST, assertions), (TEST,), limits)


FORMATS = (
    Format(
        "refactory",
        "Refactory submissions",
        ("problems.json", "submissions.jsonl"),
        submissions,
        10,
        (Known("correct/", 2442, 2442), Known("wrong/", 1783, 61), Known("fail/", 163, 4)),
    ),
)
