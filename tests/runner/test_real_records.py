"""Published records through the warm pool: the references of Exec-CSN and HumanEval come to the verdicts known of them."""

from __future__ import annotations

import gzip
import json
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from runner.environments.building import BuiltImage
from runner.outcome import Judgement, Outcome, judge
from runner.sandbox.base import Job, Limits
from runner.sandbox.engine import Engine
from runner.sandbox.pool import Pool
from tests.runner.test_instrument import SAMPLE, parts, records

pytestmark = [
    pytest.mark.docker,
    pytest.mark.skipif(not SAMPLE.exists(), reason="no shared/data beside this repository"),
]

HUMANEVAL = SAMPLE.parent / "humaneval/HumanEval.jsonl.gz"
LIMITS = Limits.for_cpu(10)
NEEDS_NETWORK, FLAKY, VACUOUS = 6982, 14371, 6221


@pytest.fixture(scope="module")
def warm(engine: Engine, science: BuiltImage) -> Iterator[Pool]:
    """Two warm boxes with the scientific packages."""
    pool = Pool(engine, {science.digest: 2})
    yield pool
    pool.close()


def verdict(pool: Pool, image: str, job: Job) -> Judgement:
    name = f"claim-{time.monotonic_ns()}"
    measurement = pool.run(job, image=image, name=name, on_started=lambda: None, on_row=lambda row: None)
    return judge(measurement, job.expected)


@pytest.mark.parametrize("record", records(), ids=lambda record: str(record["idx"]))
def test_a_published_reference_comes_to_its_known_verdict(
    record: dict[str, Any], warm: Pool, science: BuiltImage
) -> None:
    program, tests, block, expected = parts(record)
    job = Job(program, tests, expected, LIMITS, block=block)
    tries = 4 if record["idx"] == FLAKY else 1
    found = {verdict(warm, science.digest, job).outcome for _ in range(tries)}
    assert (Outcome.FAILED if record["idx"] == NEEDS_NETWORK else Outcome.PASSED) in found


def test_the_vacuous_record_passes_with_an_empty_body(warm: Pool, science: BuiltImage) -> None:
    record = next(record for record in records() if record["idx"] == VACUOUS)
    _, tests, block, expected = parts(record)
    empty = "import numpy as np\nimport pandas as pd\ndef heatmap(*args, **named):\n    pass\n"
    judgement = verdict(warm, science.digest, Job(empty, tests, expected, LIMITS, block=block))
    assert judgement.outcome is Outcome.PASSED


def test_every_fourth_humaneval_reference_passes(pool: Pool, plain: BuiltImage) -> None:
    """`make drill ARGS=humaneval` runs all of the 164."""
    problems = [json.loads(line) for line in gzip.decompress(HUMANEVAL.read_bytes()).splitlines()][::4]
    jobs = [
        Job(
            problem["prompt"] + problem["canonical_solution"],
            problem["test"],
            ("check",),
            LIMITS,
            block=f"check({problem['entry_point']})",
        )
        for problem in problems
    ]
    with ThreadPoolExecutor(3) as threads:
        found = list(threads.map(lambda job: verdict(pool, plain.digest, job), jobs))
    failed = [p["task_id"] for p, j in zip(problems, found, strict=True) if j.outcome is not Outcome.PASSED]
    assert (len(problems), failed) == (41, [])
