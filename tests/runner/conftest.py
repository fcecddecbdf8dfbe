"""Real boxes for tests: the engine, the images, one warm pool for the whole run."""

from __future__ import annotations

from collections.abc import Iterator

import docker
import pytest

from config import cache
from runner import obstacles
from runner.environments.building import BuiltImage, build
from runner.environments.recipe import recipes
from runner.sandbox.base import SandboxUnavailable
from runner.sandbox.containers import ColdSandbox
from runner.sandbox.engine import Engine
from runner.sandbox.pool import Pool


@pytest.fixture(autouse=True)
def fit_host(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let no test know what another found out about this host or its broker."""
    monkeypatch.setattr(obstacles, "_host", obstacles._Host())
    monkeypatch.setattr(cache, "_server", cache._Server())


@pytest.fixture(scope="session")
def engine() -> Iterator[Engine]:
    """The Docker engine of this host."""
    engine = Engine()
    try:
        assert engine.facts
    except SandboxUnavailable as reason:
        pytest.skip(f"no Docker engine: {reason}")
    yield engine
    engine.close()


@pytest.fixture(scope="session")
def plain(engine: Engine) -> BuiltImage:
    """The image with the language alone."""
    return build(recipes()["plain"], client=docker.from_env(timeout=600), progress=print)


@pytest.fixture(scope="session")
def science(engine: Engine) -> BuiltImage:
    """The image with numpy, pandas and the like."""
    return build(recipes()["science"], client=docker.from_env(timeout=900), progress=print)


@pytest.fixture(scope="session")
def pool(engine: Engine, plain: BuiltImage) -> Iterator[Pool]:
    """Four warm boxes with the plain image."""
    pool = Pool(engine, {plain.digest: 4})
    assert pool.wait_until_full(60)
    yield pool
    pool.close()
    assert engine.boxes(pool.cold.keeper) == []


@pytest.fixture(scope="session")
def cold(engine: Engine) -> Iterator[ColdSandbox]:
    """A sandbox that starts a box for every run."""
    cold = ColdSandbox(engine)
    yield cold
    cold.close()
    assert engine.boxes(cold.keeper) == []
