"""The doctor tries this host for real, and says what to do where there is no engine."""

from __future__ import annotations

import json

import pytest
from django.core.management import call_command

from runner import doctor, probes
from runner.models import Environment
from runner.outcome import Outcome
from runner.provisioning import provision
from runner.sandbox.engine import Engine

pytestmark = pytest.mark.django_db


@pytest.mark.docker
def test_everything_holds_on_this_host(engine, plain, capsys, monkeypatch):
    monkeypatch.setattr(doctor, "recipes", lambda: {"plain": plain_recipe()})
    report = doctor.diagnose(engine)
    assert [finding for finding in report.findings if not finding.holds] == []
    assert len(report.findings) == 3 + len(probes.PROBES)
    assert report.host["engine"]
    assert report.host["cgroup"].startswith("v")
    assert set(report.modes) == {"zygote", "zygote-userns", "single"}
    assert report.modes["single"] == "yes"


@pytest.mark.docker
def test_what_does_not_hold_comes_with_a_remedy(cold, plain):
    wrong = probes._probe("the sum is wrong", "assert sum([1]) == 2", remedy="Count again.")
    finding = doctor.tried(wrong, cold, plain.digest)
    assert not finding.holds
    assert finding.seen.startswith("FAILED after")
    assert finding.remedy == "Count again."


@pytest.mark.docker
def test_a_limit_that_does_not_bite_is_seen(cold, plain):
    harmless = probes._probe("memory ends", "assert 1 == 1", expected=Outcome.MEMORY, remedy="")
    assert not doctor.tried(harmless, cold, plain.digest).holds


def test_without_an_engine_it_says_what_to_do_and_ends_with_one(monkeypatch, capsys):
    monkeypatch.setattr(doctor.boxes, "engine", lambda: Engine(base_url="unix:///nowhere/docker.sock"))
    with pytest.raises(SystemExit) as ended:
        call_command("doctor")
    assert ended.value.code == 1
    said = capsys.readouterr().out
    assert "FAILS  a Docker engine answers" in said
    assert "what to do: Install an engine" in said


def test_the_report_is_also_json(monkeypatch, capsys):
    monkeypatch.setattr(doctor.boxes, "engine", lambda: Engine(base_url="unix:///nowhere/docker.sock"))
    with pytest.raises(SystemExit):
        call_command("doctor", "--json")
    report = json.loads(capsys.readouterr().out)
    assert report["holds"] is False
    assert report["modes"]["zygote"].startswith("not tried")


@pytest.mark.docker
def test_building_an_environment_twice_changes_nothing(engine, plain):
    said: list[str] = []
    first = provision(plain_recipe(), progress=said.append)
    again = provision(plain_recipe(), progress=said.append)
    assert again.pk == first.pk
    assert again.built_at == first.built_at
    assert Environment.objects.get().image_digest == plain.digest
    assert first.size_bytes > 50e6
    assert any("up to date" in line for line in said)


def plain_recipe():
    """The recipe of the plain image."""
    from runner.environments.recipe import recipes

    return recipes()["plain"]
