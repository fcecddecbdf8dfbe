"""The servers that tests start: they answer, and both databases hold what is written to them from any thread."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest
import redis
from django.db import connection, connections

from annotation.accounts import create_account
from annotation.models import User
from config.access import Role


@pytest.mark.postgres
def test_redis_keeps_what_it_is_given(redis_url: str):
    client = redis.from_url(redis_url)
    client.set("word", "kept")
    assert client.get("word") == b"kept"
    client.close()


def _person_in_a_thread(number: int) -> str:
    try:
        return create_account(username=f"person{number}", role=Role.ANNOTATOR, password=None).pseudonym
    finally:
        connections.close_all()


@pytest.mark.parametrize("again", [1, 2])
def test_threads_write_to_either_database_and_the_next_test_finds_it_empty(either_database: str, again: int):
    assert connection.vendor == {"sqlite": "sqlite", "postgres": "postgresql"}[either_database]
    assert User.objects.count() == 0
    with ThreadPoolExecutor(4) as threads:
        names = list(threads.map(_person_in_a_thread, range(8)))
    assert sorted(names) == sorted(User.objects.values_list("pseudonym", flat=True))
    assert len(set(names)) == 8


def test_other_tests_stay_on_sqlite(db: None):
    assert connection.vendor == "sqlite"
