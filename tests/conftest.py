"""Fixtures for every kind of test: people by role, and settings that let tests run without a broker."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from enum import IntEnum

import pytest

from annotation.accounts import create_account
from annotation.models import User
from config.access import Role
from tests.flushing import frozen_releases_can_be_flushed
from tests.migrated import migrated_file
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
# Those modules that drive Chromium longest, first of their kind, so that no process ends up alone with one.
LONGEST = (
    "test_walk",
    "test_workspace",
    "test_states",
    "test_closing",
    "test_shell",
    "test_queue_walk",
    "test_lost_work",
    "test_editor",
    "test_curating_look",
    "test_results_look",
    "test_generation",
)


@pytest.fixture(scope="session")
def django_db_keepdb(django_db_modify_db_settings: None) -> bool:
    """The test database, whose name is final by now, is a copy of one in which nothing is left to migrate."""
    from django.conf import settings

    default = settings.DATABASES["default"]
    if default["ENGINE"] == "config.sqlite":
        shutil.copy(migrated_file(), default["TEST"]["NAME"])
        return True
    return False


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


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> Iterator[None]:
    """Keep a module that uses the engine or Chromium in one process (`--dist loadgroup`), and put the tests in turn.

    Such a module shares boxes, sites and results, which a second process would make again. All other tests go wherever
    there is room. Boxes come first; what drives Chromium comes last, since Playwright leaves an event loop running in
    the process, in which no coroutine of another test could be run.

    Groups are named before xdist writes them into the names by which it spreads tests; the turn is decided last, since
    pytest-django sorts by database.
    """
    for item in items:
        turn, _ = _turn_of(item)
        if turn != Turn.ANYWHERE:
            group = f"{turn.name} {item.path.parent.name}/{item.path.stem}"
            item.add_marker(pytest.mark.xdist_group(group))
    yield
    items.sort(key=_turn_of)


class Turn(IntEnum):
    """When a kind of test comes."""

    BOXES = 1
    ANYWHERE = 2
    BROWSER = 3


def _turn_of(item: pytest.Item) -> tuple[Turn, int]:
    """Return when a test comes, and where among its kind; one that drives a browser may use containers as well."""
    if item.get_closest_marker("browser"):
        stem = item.path.stem
        return Turn.BROWSER, LONGEST.index(stem) if stem in LONGEST else len(LONGEST)
    return Turn.BOXES if item.get_closest_marker("docker") else Turn.ANYWHERE, 0
