"""Checks by real executions in containers: what is usable passes all seven, what is not fails by the check that says why.

All 24 published records and HumanEval go through in tests/benchmarks/check_exec_csn.py and check_humaneval.py.
"""

from __future__ import annotations

import io
import json
from typing import Any

import pytest
from django.test import Client

from annotation.models import User
from examples.checking.repeating import run_repeats
from examples.checking.run import CHECKS, check_version
from examples.importing.store import store_stream
from examples.models import Check, Dataset, ImportReport, Repeats, Version
from runner import boxes
from runner.environments.building import BuiltImage
from runner.environments.recipe import recipes
from runner.provisioning import store as store_environment
from runner.sandbox.containers import ColdSandbox
from tests.examples.published import exec_csn
from tests.runner.conftest import cold, engine, plain, science

__all__ = ["cold", "engine", "plain", "science"]

pytestmark = [pytest.mark.docker, pytest.mark.django_db(transaction=True)]
FLAKY = """import random

def pick(options):
    return random.choice(options)

def test_pick():
    assert pick([1, 2, 3, 4]) in [1, 2]
"""
UNTESTED = "def add(a, b):\n    return a + b\n"


@pytest.fixture
def environments(
    plain: BuiltImage, science: BuiltImage, cold: ColdSandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Both environments, built, in the database of the test; every execution in a box of its own."""
    monkeypatch.setattr(boxes, "sandbox", lambda: cold)
    for image in (plain, science):
        store_environment(recipes()[image.name], image, [])


def load(items: list[dict[str, Any]], *, licence: str = "MIT") -> dict[str, Version]:
    """Import records and return their versions by key."""
    dataset = Dataset.objects.create(name="exec-csn", title="Exec-CSN", licence=licence)
    report = ImportReport.objects.create(
        dataset_name="exec-csn", dataset=dataset, file_name="x.json", state="running"
    )
    store_stream(io.BytesIO(json.dumps(items).encode()), report)
    return {version.example.key: version for version in Version.objects.select_related("example")}


def published(*numbers: int) -> list[dict[str, Any]]:
    """Return published records by idx."""
    return [item for item in exec_csn() if int(item["idx"]) in numbers]


def own(code: str, name: str) -> dict[str, Any]:
    """Return a record of our own."""
    return {"idx": 1, "code": code, "func_name": name, "revised_instruction": "Do it."}


def failed(version: Version) -> list[str]:
    """Check the version and return the names of the checks that failed."""
    assert check_version(version.pk) is not None
    assert set(version.checks.values_list("name", flat=True)) == {*CHECKS, "canary"}
    return list(version.checks.filter(state=Check.State.FAILED).values_list("name", flat=True))


def test_published_records_end_as_known(environments: None, client: Client, curator: User) -> None:
    versions = load(published(6982, 6221, 9194, 1769))
    assert failed(versions["9194"]) == []
    assert failed(versions["1769"]) == []
    assert versions["1769"].environment.name == "science"
    assert failed(versions["6982"]) == ["reference", "network"]
    assert "empty_body" in failed(versions["6221"])
    good = versions["9194"]
    good.refresh_from_db()
    assert good.check_state == Version.CheckState.PASSED
    assert good.cpu_limit_seconds == 1.0
    reference = good.checks.get(name="reference")
    assert [run["seed"] for run in reference.evidence["runs"]] == [1, 2, 3, 4, 5]
    assert {run.facts["image"] for run in reference.executions.all()} == {good.environment.image_digest}
    assert check_version(good.pk) is None
    client.force_login(curator)
    html = client.get(f"/examples/{good.example_id}/").content.decode()
    assert reference.finding in html
    run = reference.executions.first()
    assert run is not None
    assert client.get(f"/examples/executions/{run.pk}/").status_code == 200


def test_a_flake_that_five_repeats_may_miss_is_caught_by_more(environments: None, curator: User) -> None:
    version = load([own(FLAKY, "pick")])["1"]
    check_version(version.pk)
    asked = Repeats.objects.create(version=version, times=10, asked_by=curator)
    assert run_repeats(asked.pk)
    found = version.checks.get(name="stable")
    # It fails every other time: 15 repeats miss that with (1/2)^15, which is 3 in 100,000.
    assert found.state == Check.State.FAILED
    assert found.evidence["repeats"] == 15
    version.refresh_from_db()
    assert version.check_state == Version.CheckState.FAILED
    assert {"reference", "stable"} <= set(version.failed_checks.split(","))


def test_without_a_test_or_a_licence_it_is_not_usable(environments: None) -> None:
    version = load([own(UNTESTED, "add")], licence="")["1"]
    assert {"tests_ran", "licence"} <= set(failed(version))
