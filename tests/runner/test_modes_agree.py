"""A slice of published samples in every mode: the same outcome, test by test and row by row (all of them: check_modes)."""

from __future__ import annotations

import pytest

from runner import modes
from runner.environments.building import BuiltImage
from runner.sandbox.engine import Engine
from runner.sandbox.pool import Pool
from tests.benchmarks.check_modes import differences, forked, samples, single
from tests.benchmarks.records import DATA

SLICES = {"humaneval-samples": 23, "quixbugs": 9, "refactory": 450}

pytestmark = [
    pytest.mark.docker,
    pytest.mark.skipif(not DATA.is_dir(), reason="the published files are not at hand (../shared/data)"),
]


def test_published_samples_come_to_the_same_in_every_mode(
    engine: Engine, pool: Pool, plain: BuiltImage
) -> None:
    chosen = [sample for name, every in SLICES.items() for sample in samples(name, every)]
    jobs, ids = [sample.job for sample in chosen], [sample.id for sample in chosen]
    alone = single(pool, plain.digest, jobs)
    assert {came.outcome.value for came in alone.values()} >= {"PASSED", "FAILED"}
    for mode in modes.MODES[:-1]:
        if modes.tried(engine, mode, plain.digest) != modes.HOLDS:
            continue
        came = forked(engine, mode, plain.digest, jobs)
        assert sum(each is not None for each in came.values()) > 0.9 * len(jobs)
        different = list(differences(ids, alone, came))
        assert [each for each in different if not each[1].is_explained(each[2])] == []
