"""`kill -9` of the worker at five points: one true outcome each time, and nobody had to do anything."""

from __future__ import annotations

import pytest

from tests.runner.killing import drills_on_postgres, drills_on_sqlite

pytestmark = [pytest.mark.docker, pytest.mark.timeout(300)]


def test_an_execution_outlives_its_worker_on_sqlite(tmp_path, redis_url, plain):
    results = drills_on_sqlite(tmp_path, redis_url, plain)
    assert [result for result in results if not result.holds] == []


@pytest.mark.postgres
def test_an_execution_outlives_its_worker_on_postgres(tmp_path, postgres_url, redis_url, plain):
    results = drills_on_postgres(tmp_path, postgres_url, redis_url, plain.digest)
    assert [result for result in results if not result.holds] == []
