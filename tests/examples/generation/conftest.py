"""Fixtures of generation: warm boxes with the plain image, and its environment in the database."""

from __future__ import annotations

from functools import partial

import pytest

from examples.checking.run import check_version
from examples.generation import running
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
    """The plain environment, and warm boxes for every execution of this process; checks repeat twice, not five times."""
    monkeypatch.setattr(boxes, "sandbox", lambda: Warm(pool))
    monkeypatch.setattr(running, "check_version", partial(check_version, seeds=(1, 2)))
    store_environment(recipes()["plain"], plain, [])
