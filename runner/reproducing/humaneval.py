"""HumanEval (Chen et al. 2021) and what is published in its form: references, samples with verdicts, CodeT's samples.

The published program is `prompt + completion + "\\n" + test + "\\n" + check(entry_point)`, and passing is to come to its
end. Here the box loads `prompt + completion`, then defines `test`, then runs `check(entry_point)` as the block; the
same text in the same namespace, in two steps, so that the program is loaded before any test is in the box. A completion
is taken as it stands: it was cut at the stop words of its model where it was made, and nothing is cut again.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from runner.reproducing.base import FileUnusable, Format, Known, Sample, field, objects
from runner.sandbox.base import Job, Limits

CHECK = "check"


class Problem(NamedTuple):
    """What a problem gives to each of its samples."""

    prompt: str
    test: str
    entry_point: str

    @classmethod
    def of(cls, item: dict[str, Any], path: Path) -> Problem:
        """Return the problem of a record. Raises FileUnusable."""
        prompt, test, entry = (field(item, name, str, path) for name in ("prompt", "test", "entry_point"))
        return cls(prompt, test, entry)

    def job(self, completion: str, limits: Limits) -> Job:
        """Return the job that judges a completion."""
        block = f"{CHECK}({self.entry_point})\n"
        return Job(self.prompt + completion, self.test, (CHECK,), limits, block=block)


def references(paths: Sequence[Path], limits: Limits) -> Iterator[Sample]:
    """Yield the canonical solution of each problem; that it passes is what was published."""
    (path,) = paths
    for item in objects(path):
        solution = field(item, "canonical_solution", str, path)
        yield Sample(
            field(item, "task_id", str, path), Problem.of(item, path).job(solution, limits), recorded=True
        )


def recorded_samples(paths: Sequence[Path], limits: Limits) -> Iterator[Sample]:
    """Yield the samples of result files ({task_id, completion, passed}) by the problems of the first file."""
    problems = _by(paths[0], "task_id")
    for path in paths[1:]:
        for number, item in enumerate(objects(path)):
            problem = _found(problems, field(item, "task_id", str, path), path)
            job = problem.job(field(item, "completion", str, path), limits)
            recorded = item.get("passed")
            yield Sample(
                f"{_stem(path)}/{item['task_id']}/{number}",
                job,
                recorded if isinstance(recorded, bool) else None,
            )


def codet_samples(paths: Sequence[Path], limits: Limits) -> Iterator[Sample]:
    """Yield CodeT's samples ({prompt, samples}), joined to the problems of the first file by their prompt."""
    named = {item.get("prompt"): item.get("task_id") for item in objects(paths[0])}
    problems = _by(paths[0], "prompt")
    for path in paths[1:]:
        for item in objects(path):
            prompt = field(item, "prompt", str, path)
            problem = _found(problems, prompt, path)
            for number, completion in enumerate(field(item, "samples", list, path)):
                yield Sample(f"{named[prompt]}/{number}", problem.job(completion, limits), recorded=None)


def _by(path: Path, key: str) -> dict[str, Problem]:
    return {field(item, key, str, path): Problem.of(item, path) for item in objects(path)}


def _found(problems: Mapping[str, Problem], key: str, path: Path) -> Problem:
    try:
        return problems[key]
    except KeyError:
        raise FileUnusable(f"{path}: the problem file has no {key[:80]!r}") from None


def _stem(path: Path) -> str:
    return path.name.removesuffix(".gz").removesuffix(".jsonl").removesuffix(".json")


FORMATS = (
    Format(
        "humaneval",
        "HumanEval references",
        ("HumanEval.jsonl",),
        references,
        3,
        (Known("", 164, 164),),
    ),
    Format(
        "humanevalplus",
        "HumanEval+ references",
        ("HumanEvalPlus-OriginFmt.jsonl",),
        references,
        30,
        (Known("", 164, 163),),
        environment="science",
    ),
    Format(
        "humaneval-samples",
        "HumanEval samples with recorded verdicts",
        ("HumanEval.jsonl", "SAMPLES.jsonl_results.jsonl"),
        recorded_samples,
        10,
        (
            Known("humaneval_codellama_7b_results/", 164, 47),
            Known("humaneval_qwen2.5-coder_7b_results/", 164, 120),
        ),
        more_files=True,
    ),
    Format(
        "codet-samples",
        "CodeGen-16B samples of CodeT",
        ("PROBLEMS.jsonl", "SAMPLES.jsonl"),
        codet_samples,
        3,
        (Known("", 16400, 3624, within=5),),
        more_files=True,
    ),
)
