"""Fixtures of generation: warm boxes with the plain image, and its environment in the database."""

from __future__ import annotations

import pytest

from runner import boxes
from runner.environments.building import BuiltImage
from runner.environments.recipe import recipes
from runner.provisioning import store as store_environment
from runner.sandbox.pool import Pool
from tests.examples.generation.asking import Warm
from tests.runner.conftest import engine, fit_host, plain, pool

__all__ = ["engine", "fit_host", "plain", "pool"]


@pytest.fixture
def warm(db: None, plain: BuiltImage, pool: Pool, monkeypatch: pytest.MonkeyPatch) -> None:
    """The plain environment, and warm boxes for every execution of this process."""
    monkeypatch.setattr(boxes, "sandbox", lambda: Warm(pool))
    store_environment(recipes()["plain"], plain, [])
