"""Published formats: how their records become jobs, and that real slices of them come to the verdicts known of them."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from dataclasses import replace
from io import StringIO
from itertools import islice
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.utils import timezone

from runner.environments.building import BuiltImage
from runner.models import Environment, Execution
from runner.outcome import Measurement, Outcome
from runner.reproducing import verdicts
from runner.reproducing.base import FileUnusable, Known, Sample
from runner.reproducing.formats import FORMATS
from runner.reproducing.places import Boxes, Judged
from runner.reproducing.reporting import Figure, figures, lines
from runner.reproducing.repost import job_of, with_new_implementation
from runner.reproducing.running import Result, run_all
from runner.reproducing.storing import Stored
from runner.sandbox.base import Job, Limits, SandboxUnavailable
from runner.sandbox.pool import Pool
from tests.runner.fakes import PASSED, TIMED_OUT, FakeSandbox
from tests.runner.test_instrument import SAMPLE

DATA = SAMPLE.parent
LIMITS = Limits.for_cpu(2)

PROBLEM = {
    "task_id": "Own/0",
    "prompt": "def twice(n):\n",
    "entry_point": "twice",
    "canonical_solution": "    return 2 * n\n",
    "test": "\nCASES = [1, 2]\ndef check(candidate):\n    for n in CASES:\n        assert candidate(n) == n + n\n",
}
MBPP = {
    "text": "Double it.",
    "code": "class Box:\r\n\tpass\r\ndef twice(b):\r\n\treturn 2 * b.n",
    "task_id": 7,
    "test_setup_code": "box = Box()\r\nbox.n = 2\r\n",
    "test_list": ["assert twice(box) == 4", " assert box.n == 2 "],
    "challenge_test_list": ["assert False"],
}
SANITIZED = {
    "task_id": 8,
    "code": "def root(n):\n  return math.isqrt(n)",
    "test_imports": ["import math"],
    "test_list": ["assert root(9) == math.isqrt(9)"],
}
BUG = {
    "name": "pairs",
    "correct": "def pairs(n, e=0.1):\n    yield from [(k, k + 1.0) for k in range(n)]\n",
    "buggy": "def pairs(n, e=0.1):\n    yield from [(k, k + 1.2) for k in range(n)]\n",
    "tests": [[2, [[0, 1.0], [1, 2.0]]], [[1], [[0, 1]]]],
}
NEAR = {
    "name": "third",
    "correct": "def third(n, e):\n    return n / 3 + e / 2\n",
    "buggy": "def third(n, e):\n    return n / 3 + e * 1.5\n",
    "tests": [[[1, 0.01], 0.3333]],
}
QUESTION = {
    "question": "q1",
    "global": "LIMIT = 3\r\n",
    "tests": [{"input": "cut([1, 5])\n", "output": "[1, 3]\n"}, {"input": "cut([])", "output": "[]"}],
}
SCRIPT = """import functools


class Counter:
    step = 2

    @functools.lru_cache
    def count(self, n):
        return n * self.step


def test_count():
    assert Counter().count(3) == Counter().count_new_implementation(3) == 6


if __name__ == "__main__":
    test_count()
"""
OWN: dict[str, tuple[list[list[dict[str, Any]]], dict[str, bool]]] = {
    "humaneval": ([[PROBLEM]], {"Own/0": True}),
    "humaneval-samples": (
        [
            [PROBLEM],
            [
                {"task_id": "Own/0", "completion": "    return n + n\n", "passed": True},
                {"task_id": "Own/0", "completion": "    return n +\n", "passed": False},
                {"task_id": "Own/0", "completion": "    return n\n", "passed": False},
            ],
        ],
        {"1/Own/0/0": True, "1/Own/0/1": False, "1/Own/0/2": False},
    ),
    "codet-samples": (
        [[PROBLEM], [{"prompt": PROBLEM["prompt"], "samples": ["    return n*2", "    return exit(0)"]}]],
        {"Own/0/0": True, "Own/0/1": False},
    ),
    "mbpp": ([[MBPP]], {"7": True}),
    "mbpp-sanitized": ([[SANITIZED]], {"8": True}),
    "quixbugs": (
        [[BUG, NEAR]],
        {"correct/pairs": True, "correct/third": True, "buggy/pairs": False, "buggy/third": False},
    ),
    "refactory": (
        [
            [QUESTION],
            [
                {
                    "question": "q1",
                    "verdict": "correct",
                    "file": "a.py",
                    "code": "def cut(xs):\r\n\treturn [min(x, LIMIT) for x in xs]",
                },
                {"question": "q1", "verdict": "wrong", "file": "b.py", "code": "def cut(xs):\n  return xs"},
            ],
        ],
        {"correct/q1/a.py": True, "wrong/q1/b.py": False},
    ),
    "repost": (
        [
            [
                {"idx": "5", "func_name": "Counter.count", "eval_script": SCRIPT},
                {"idx": "6", "func_name": "f", "eval_script": "import numpy\n"},
            ]
        ],
        {"5": True},
    ),
}


def written(folder: Path, files: list[list[dict[str, Any]]]) -> list[Path]:
    """Return the files of some records: the first as a JSON list, the others as packed JSON Lines."""
    paths = [folder / f"{number}.json" for number in range(len(files))]
    paths[0].write_text(json.dumps(files[0]))
    for path, records in zip(paths[1:], files[1:], strict=True):
        path.write_bytes(gzip.compress("\n".join(map(json.dumps, records)).encode()))
    return paths


def ran(samples: Iterator[Sample], pool: Pool, image: BuiltImage) -> list[Result]:
    return list(
        run_all(
            samples,
            places=[Judged(Boxes(pool, image.digest))] * 2,
            alone=Judged(Boxes(pool.cold, image.digest)),
        )
    )


@pytest.mark.docker
@pytest.mark.parametrize("name", OWN)
def test_records_of_each_format_come_to_their_verdicts(
    name: str, tmp_path: Path, pool: Pool, plain: BuiltImage
):
    files, expected = OWN[name]
    found = ran(FORMATS[name].read(written(tmp_path, files), LIMITS), pool, plain)
    assert {result.id: result.passed for result in found} == expected
    assert all(result.as_recorded and result.outcome for result in found)


def test_every_format_has_records_here():
    assert {*OWN, "humanevalplus"} == set(FORMATS)


SLICES = {
    "humaneval": (["humaneval/HumanEval.jsonl.gz"], 33, set()),
    "humaneval-samples": (
        [
            "humaneval/HumanEval.jsonl.gz",
            "samples/humaneval_codellama_7b_results.jsonl",
            "samples/humaneval_qwen2.5-coder_7b_results.jsonl",
        ],
        45,
        set(),
    ),
    "mbpp": (["mbpp/mbpp.jsonl"], 190, set()),
    "mbpp-sanitized": (["mbpp/sanitized-mbpp.json"], 110, set()),
    "quixbugs": (["quixbugs/quixbugs.jsonl"], 15, set()),
    "refactory": (["refactory/problems.json", "refactory/submissions.jsonl.gz"], 800, set()),
    "repost": (["repost/repost_eval.json.gz"], 38, {"96"}),
}


@pytest.mark.docker
@pytest.mark.skipif(not DATA.is_dir(), reason="no shared/data beside this repository")
@pytest.mark.parametrize("name", SLICES)
def test_a_slice_of_the_published_file_comes_to_its_recorded_verdicts(
    name: str, pool: Pool, plain: BuiltImage
):
    files, step, differing = SLICES[name]
    form = FORMATS[name]
    paths = [DATA / file for file in files]
    samples = islice(form.read(paths, Limits.for_cpu(form.cpu_seconds)), 0, None, step)
    found = ran(samples, pool, plain)
    assert len(found) >= 4
    assert {result.id for result in found if not result.as_recorded} <= differing


@pytest.mark.skipif(not DATA.is_dir(), reason="no shared/data beside this repository")
def test_the_published_files_hold_as_many_samples_as_are_known():
    for name, (files, _, _) in SLICES.items():
        form = FORMATS[name]
        read = [Result(s.id, s.recorded, None) for s in form.read([DATA / file for file in files], LIMITS)]
        assert all(figure.is_whole for figure in figures(form, read)), name


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{}\n", "no field"),
        ('{"task_id"\n', "line 1|Expecting"),
        ("7\n", "not an object"),
        ("\x1f\x8bno", "ompress"),
    ],
)
def test_a_file_in_another_form_is_refused_with_its_name(text: str, said: str, tmp_path: Path):
    path = tmp_path / "wrong.jsonl"
    path.write_bytes(text.encode("latin-1"))
    with pytest.raises(FileUnusable, match=said) as refused:
        list(FORMATS["humaneval"].read([path], LIMITS))
    assert str(path) in str(refused.value)


def test_a_sample_of_a_problem_that_is_not_there_is_refused(tmp_path: Path):
    sample = {"task_id": "Own/9", "completion": "", "passed": True}
    with pytest.raises(FileUnusable, match="Own/9"):
        list(FORMATS["humaneval-samples"].read(written(tmp_path, [[PROBLEM], [sample]]), LIMITS))


def test_the_new_implementation_stands_behind_the_function_with_its_decorators():
    import ast

    made = with_new_implementation(SCRIPT, ast.parse(SCRIPT), "Counter.count")
    copy = (
        "    @functools.lru_cache\n    def count_new_implementation(self, n):\n        return n * self.step\n"
    )
    assert made == SCRIPT.replace("n * self.step\n", "n * self.step\n\n" + copy, 1)
    job = job_of(made, LIMITS)
    assert (job.expected, job.block) == (("test_count",), "test_count()\n")
    assert "def test_count" not in job.program
    assert job.program.count("\n") == made.count("\n")


def test_what_the_provider_could_not_run_is_no_verdict():
    unavailable = FakeSandbox(SandboxUnavailable("no engine"))
    (result,) = run_all(
        [sample()], places=[Judged(Boxes(unavailable, "x"))], alone=Judged(Boxes(unavailable, "x"))
    )
    assert (result.outcome, result.reason, len(unavailable.names)) == (None, "no engine", 4)


def test_a_run_that_only_waited_is_repeated_alone_after_all_others():
    slow, alone = FakeSandbox(TIMED_OUT, PASSED), FakeSandbox(PASSED)
    found = list(
        run_all(
            [sample("a"), sample("b")], places=[Judged(Boxes(slow, "x"))], alone=Judged(Boxes(alone, "x"))
        )
    )
    assert [(result.id, result.outcome) for result in found] == [("b", Outcome.PASSED), ("a", Outcome.PASSED)]
    assert len(alone.names) == 1


def test_an_error_of_the_reader_ends_the_run():
    def broken() -> Iterator[Sample]:
        yield sample()
        raise FileUnusable("line 2")

    place = Judged(Boxes(FakeSandbox(PASSED), "x"))
    with pytest.raises(FileUnusable, match="line 2"):
        list(run_all(broken(), places=[place], alone=place))


def sample(name: str = "a") -> Sample:
    return Sample(name, Job("", "", ("test_one",), Limits.for_cpu(1)), recorded=True)


def result(name: str, outcome: Outcome, *, recorded: bool | None = True, cpu: float = 0.1) -> Result:
    return Result(name, recorded, outcome, cpu_seconds=cpu)


def test_a_known_figure_is_held_to_only_for_the_whole_file():
    known = Known("", 2, 2)
    whole = Figure(known, (result("a", Outcome.PASSED), result("b", Outcome.FAILED)))
    part = Figure(known, (result("a", Outcome.FAILED),))
    assert (whole.said(), whole.holds, whole.as_recorded()) == ("2 of 2: MISSES", False, "1 of 2")
    assert part.said() == "none for 1 samples"
    assert Figure(replace_known(known, within=1), whole.results).holds


def replace_known(known: Known, **changes: int) -> Known:
    return known._replace(**changes)


def test_the_table_has_the_limit_beside_each_figure_and_names_who_differs():
    form = replace(FORMATS["quixbugs"], known=(Known("correct/", 2, 1), Known("buggy/", 1, 0)))
    found = [
        result("correct/a", Outcome.PASSED, cpu=3.5),
        result("correct/b", Outcome.TIMEOUT_CPU, cpu=10),
        result("buggy/a", Outcome.FAILED, recorded=False),
    ]
    text = list(lines(form, found, Limits.for_cpu(10)))
    table = [line for line in text if "10 s CPU, 21 s wall, 256 MiB" in line]
    assert [line.split()[:3] for line in table] == [["correct/", "2", "1"], ["buggy/", "1", "0"]]
    assert all("holds" in line for line in table)
    assert "  correct/b: TIMEOUT_CPU, recorded as passed, 10.00 s CPU" in text
    assert "need more than 3 s of CPU to pass: 1: correct/a (3.5 s)" in text


def test_two_files_of_results_are_compared_sample_by_sample(tmp_path: Path):
    path = tmp_path / "out.jsonl"
    with path.open("w") as file:
        verdicts.write(file, result("a", Outcome.PASSED), {"limit": "3 s"})
        verdicts.write(file, result("b", Outcome.PASSED), {})
    now = [result("a", Outcome.FAILED), result("c", Outcome.PASSED)]
    assert list(verdicts.differing(now, verdicts.read(path))) == [
        "  a: PASSED before, FAILED now",
        "  c: absent before, PASSED now",
        "  b: PASSED before, absent now",
    ]
    assert len(list(verdicts.differing(now, verdicts.read(path), part=True))) == 2


@pytest.mark.docker
@pytest.mark.django_db
def test_the_command_prints_the_table_and_leaves_with_1_where_results_differ(
    tmp_path: Path, plain: BuiltImage
):
    Environment.objects.create(name="plain", image_digest=plain.digest, built_at=timezone.now())
    (path,) = written(tmp_path, [[PROBLEM]])
    out, said = tmp_path / "out.jsonl", StringIO()
    call_command("reproduce", "humaneval", str(path), out=out, stdout=said)
    assert "HumanEval references" in said.getvalue()
    assert "3 s CPU, 7 s wall, 256 MiB" in said.getvalue()
    (line,) = map(json.loads, out.read_text().splitlines())
    assert (line["id"], line["outcome"], line["image"]) == ("Own/0", "PASSED", plain.digest)
    out.write_text(out.read_text().replace("PASSED", "FAILED"))
    with pytest.raises(SystemExit) as left:
        call_command("reproduce", "humaneval", str(path), against=out, stdout=said)
    assert left.value.code == 1
    assert "Own/0: FAILED before, PASSED now" in said.getvalue()


@pytest.mark.docker
@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("queue", ["bulk", "interactive"])
def test_samples_go_the_way_of_the_site_to_the_same_verdicts(queue: str, tmp_path: Path, plain: BuiltImage):
    environment = Environment.objects.create(name="plain", image_digest=plain.digest, built_at=timezone.now())
    files, expected = OWN["humaneval-samples"]
    place = Stored(environment, queue)
    samples = FORMATS["humaneval-samples"].read(written(tmp_path, files), LIMITS)
    found = list(run_all(samples, places=[place], alone=place))
    assert {result.id: result.passed for result in found} == expected
    assert Execution.objects.filter(queue=queue, state="finished").count() == len(expected)


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("refactory", __file__), "takes 2 file"),
        (("humaneval", "/nowhere/at.all"), "is no file"),
        (("humaneval", __file__), "build_environments --name plain"),
    ],
)
def test_the_command_says_what_to_do(arguments: tuple[str, ...], said: str):
    with pytest.raises(CommandError, match=said):
        call_command("reproduce", *arguments)


def test_a_measurement_is_summed_up_as_it_was_measured():
    measured: Measurement = replace(PASSED, cpu_seconds=0.25, memory_bytes=5)
    place = Judged(Boxes(FakeSandbox(measured), "x"))
    (found,) = run_all([sample()], places=[place], alone=place)
    assert (found.cpu_seconds, found.memory_bytes, found.mode) == (0.25, 5, "fake")
