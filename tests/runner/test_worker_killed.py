"""`kill -9` of the worker at five points: one true outcome each time, and nobody had to do anything."""

from __future__ import annotations

import pytest

from tests.migrated import give_tables
from tests.runner.killing import (
    ROWS,
    Place,
    drills_on_postgres,
    drills_on_sqlite,
    stop_while_it_runs,
)

pytestmark = [pytest.mark.docker, pytest.mark.timeout(300)]


def test_an_execution_outlives_its_worker_on_sqlite(tmp_path, redis_url, plain):
    results = drills_on_sqlite(tmp_path, redis_url, plain.digest)
    assert [result for result in results if not result.holds] == []


@pytest.mark.postgres
def test_an_execution_outlives_its_worker_on_postgres(tmp_path, postgres_url, redis_url, plain):
    results = drills_on_postgres(tmp_path, postgres_url, redis_url, plain.digest)
    assert [result for result in results if not result.holds] == []


def test_a_worker_that_is_stopped_puts_back_what_runs_and_leaves_no_container(tmp_path, redis_url, plain):
    place = Place(tmp_path, {"REDIS_URL": redis_url})
    give_tables(tmp_path)
    found, left = stop_while_it_runs(place, plain.digest)
    assert left == []
    assert (found["state"], found["outcome"], found["rows"]) == ("finished", "PASSED", ROWS)
    assert found["tries"] == 1, "being stopped in order uses up no try"
