"""Emptying SQLite after a test that commits: the triggers of frozen releases step aside, and come back."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module
from typing import Any

import pytest
from django.db.backends.sqlite3.base import DatabaseOperations

triggers = import_module("examples.migrations.0003_frozen_release_triggers")


@pytest.fixture(autouse=True, scope="session")
def frozen_releases_can_be_flushed() -> Iterator[None]:
    """Let `flush` empty tables with a frozen release; Postgres truncates, which asks no trigger of a row."""
    plain = DatabaseOperations.sql_flush

    def sql_flush(self: DatabaseOperations, *arguments: Any, **options: Any) -> list[str]:
        statements = plain(self, *arguments, **options)
        return (
            [*triggers.removals("sqlite"), *statements, *triggers.statements("sqlite")] if statements else []
        )

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(DatabaseOperations, "sql_flush", sql_flush)
        yield
