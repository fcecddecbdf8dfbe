"""Fixtures for every kind of test: people by role, and settings that let tests run without a broker."""

from __future__ import annotations

import pytest

from annotation.accounts import create_account
from annotation.models import User
from config.access import Role
from tests.flushing import frozen_releases_can_be_flushed
from tests.services import (
    chosen_database,
    either_database,
    migrated_postgres,
    postgres_url,
    redis_url,
)

__all__ = [
    "chosen_database",
    "either_database",
    "frozen_releases_can_be_flushed",
    "migrated_postgres",
    "postgres_url",
    "redis_url",
]

PASSWORD = "correct horse battery"
# Of the tests that drive Chromium, those in which somebody works on an example: about half of their time.
WORKING = {
    "test_walk",
    "test_workspace",
    "test_limits",
    "test_blind_workspace",
    "test_narrow",
    "test_second_factor",
}


@pytest.fixture
def ann(db: None) -> User:
    """An annotator."""
    return create_account(username="ann", role=Role.ANNOTATOR, password=PASSWORD)


@pytest.fixture
def ben(db: None) -> User:
    """Another annotator."""
    return create_account(username="ben", role=Role.ANNOTATOR, password=PASSWORD)


@pytest.fixture
def curator(db: None) -> User:
    """A curator."""
    return create_account(username="cleo", role=Role.CURATOR, password=PASSWORD)


@pytest.fixture
def admin_user(db: None) -> User:
    """An admin."""
    return create_account(username="adam", role=Role.ADMIN, password=PASSWORD)


@pytest.fixture
def reader(db: None) -> User:
    """A reader: downloads releases."""
    return create_account(username="rita", role=Role.READER, password=PASSWORD)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Keep tests that use the engine in one process, and those that drive Chromium in two (`--dist loadgroup`).

    The first count containers and workers of this host, and come first, since they take longest. The second share a
    browser and its servers, and come last: Playwright leaves an event loop running in the process, in which no
    coroutine of another test could be run. They are two groups, so that no process is idle at the end.
    """
    for item in items:
        if group := _group_of(item):
            item.add_marker(pytest.mark.xdist_group(group))
    items.sort(key=lambda item: ("boxes", "", "browser: work", "browser: pages").index(_group_of(item)))


def _group_of(item: pytest.Item) -> str:
    """Return the group that a test shares a process with; a browser test may use containers as well."""
    if item.get_closest_marker("browser"):
        return "browser: work" if item.path.stem in WORKING else "browser: pages"
    return "boxes" if item.get_closest_marker("docker") else ""
