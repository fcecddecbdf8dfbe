"""A host that can run nothing uses up no try and leaves the work to others; what never began is no try either."""

from __future__ import annotations

import platform
import time
from datetime import timedelta

import docker
import pytest
from django.db.models.functions import Now

from runner import boxes, execution, modes, obstacles, provisioning, tasks, waking
from runner.environments.recipe import BuildFailed, recipes
from runner.models import Environment, Execution, Fault, Worker
from runner.queueing import enqueue
from runner.sandbox.base import HostUnfit, ImageAbsent, NotStarted, SandboxUnavailable
from tests.runner.fakes import PASSED, a_job, built_environment, sandboxed

pytestmark = pytest.mark.django_db
AWAY = HostUnfit("No engine can be reached.")


@pytest.fixture
def environment() -> Environment:
    return built_environment()


@pytest.fixture
def woken(monkeypatch):
    """The ids in the messages that would have gone to the broker; passing on takes no time."""
    ids: list[int] = []
    monkeypatch.setattr(waking.current_app, "send_task", lambda name, args, **how: ids.append(args[0]))
    monkeypatch.setattr(tasks, "PASS_ON_AFTER_SECONDS", 0.0)
    return ids


class AnEngine:
    """An engine as `look` asks it: with some images, away, or both in turn."""

    def __init__(self, *images: str) -> None:
        self.here, self.away = dict.fromkeys(images, 5), False

    def boxes(self):
        if self.away:
            raise AWAY
        return []

    def images(self):
        return self.here


@pytest.fixture
def engine(monkeypatch):
    made = AnEngine("sha256:0")
    monkeypatch.setattr(boxes, "engine", lambda: made)
    return made


def ask(environment: Environment) -> Execution:
    return enqueue(a_job(), environment=environment, queue="interactive")


def other_host(*images: str, **columns: object) -> Worker:
    facts = {"host": "elsewhere", "images": dict.fromkeys(images, 5)}
    return Worker.objects.create(
        name="elsewhere-1", boot="other", queues=["interactive"], facts=facts, **columns
    )


def test_what_could_not_begin_is_no_try_and_nothing_is_claimed_until_the_host_is_fit(
    environment, woken, monkeypatch, engine
):
    first, second = ask(environment), ask(environment)
    with sandboxed(monkeypatch, AWAY, PASSED) as fake:
        assert execution.execute(first.pk)
        assert not execution.execute(second.pk), "one has found out for all"
        assert len(fake.names) == 2, "started once, removed once"
        first.refresh_from_db()
        assert (first.state, first.tries, first.reason) == ("queued", 0, str(AWAY))
        assert obstacles.look() == str(AWAY), "an engine that answers may still be full: a moment is waited"
        monkeypatch.setattr(obstacles, "_host", obstacles._Host())
        assert execution.execute(first.pk)
    first.refresh_from_db()
    assert (first.outcome, first.tries) == ("PASSED", 1)
    assert [fault.reason for fault in Fault.objects.all()] == [str(AWAY)]


def test_a_host_that_stays_unfit_uses_up_the_tries_in_the_end(environment, woken, monkeypatch):
    run = ask(environment)
    monkeypatch.setattr(execution, "UNFIT_AT_MOST", 2)
    for _ in range(5):
        monkeypatch.setattr(obstacles, "_host", obstacles._Host())
        Execution.objects.filter(pk=run.pk).update(retry_at=None)
        with sandboxed(monkeypatch, AWAY):
            assert execution.execute(run.pk)
    run.refresh_from_db()
    assert (run.state, run.reason) == ("unjudged", str(AWAY))
    assert list(run.faults.values_list("last", flat=True)) == [True, False, False, False, False]


@pytest.mark.parametrize("kind", [ImageAbsent, NotStarted])
def test_an_absent_image_or_a_box_that_did_not_start_closes_the_host_to_no_other(
    environment, woken, monkeypatch, kind
):
    run = ask(environment)
    with sandboxed(monkeypatch, kind("The image is not on this host.")):
        execution.execute(run.pk)
    run.refresh_from_db()
    assert (run.state, run.tries) == ("queued", 0)
    assert run.retry_at is not None
    assert obstacles.trouble() == ""


def test_a_fault_of_the_run_itself_counts_as_before(environment, woken, monkeypatch):
    run = ask(environment)
    with sandboxed(monkeypatch, SandboxUnavailable("The box ended before its job did.")):
        execution.execute(run.pk)
    run.refresh_from_db()
    assert (run.tries, obstacles.trouble()) == (1, "")


def test_an_engine_that_is_away_is_found_out_and_forgotten_by_looking(engine, environment):
    assert obstacles.look() == ""
    engine.away = True
    assert obstacles.look() == str(AWAY)
    engine.away = False
    monkey = obstacles._host.until
    obstacles.look()
    assert obstacles._host.until < monkey
    assert obstacles._host.until <= time.monotonic() + obstacles.CLOSED_SECONDS


def test_what_only_others_can_run_is_left_to_them(environment, woken, engine, monkeypatch):
    engine.here = {}
    obstacles.look()
    run = ask(environment)
    other_host("sha256:0")
    with sandboxed(monkeypatch, PASSED) as fake:
        tasks.execute(run.pk)
        tasks.execute_batch([run.pk])
        assert fake.names == []
    assert woken == [run.pk, [run.pk]]
    run.refresh_from_db()
    assert (run.state, run.tries) == ("queued", 0)


@pytest.mark.parametrize(
    "columns",
    [{"seen_at": Now() - timedelta(minutes=1)}, {"engine_error": "no engine"}],
    ids=["silent", "without an engine"],
)
def test_what_nobody_else_can_run_is_tried_here(environment, woken, engine, monkeypatch, columns):
    engine.here = {}
    obstacles.look()
    run = ask(environment)
    other_host("sha256:0", **columns)
    with sandboxed(monkeypatch, PASSED):
        tasks.execute(run.pk)
    run.refresh_from_db()
    assert run.outcome == "PASSED"


def test_a_fit_host_keeps_what_it_has_the_image_of(environment, woken, engine, monkeypatch):
    Environment.objects.create(name="science", image_digest="sha256:1", built_at=Now())
    obstacles.look()
    run = ask(environment)
    other_host("sha256:0", "sha256:1")
    assert obstacles.any_here()
    assert not obstacles.for_others(run)
    with sandboxed(monkeypatch, PASSED):
        tasks.execute(run.pk)
    run.refresh_from_db()
    assert run.outcome == "PASSED"


class WithoutImages:
    """A client of an engine that has no image."""

    @property
    def images(self):
        return self

    def get(self, digest):
        raise docker.errors.ImageNotFound("absent")


def test_an_image_that_another_host_has_is_carried_and_not_built_a_second_time(environment, monkeypatch):
    recipe = recipes()["plain"]
    Environment.objects.update(recipe_hash=recipe.digest())
    other = other_host("sha256:0")
    monkeypatch.setattr(provisioning, "engine_client", WithoutImages)
    monkeypatch.setattr(provisioning, "build", lambda *_, **__: 1 / 0)
    with pytest.raises(BuildFailed, match="elsewhere has the image of plain already"):
        provisioning.provision(recipe, progress=print)
    Worker.objects.filter(pk=other.pk).update(facts={"host": platform.node(), "images": {"sha256:0": 5}})
    with pytest.raises(ZeroDivisionError):  # it was here and is gone: it is built
        provisioning.provision(recipe, progress=print)


def test_checks_do_not_wait_for_an_engine_in_the_place_of_imports(monkeypatch):
    from examples import tasks as checks

    monkeypatch.setattr(checks, "waiting", lambda at_most: [1])
    monkeypatch.setattr(checks, "check_version", lambda pk: 1 / 0)
    obstacles.note(AWAY)
    assert checks.check_waiting() == 0


def test_a_mode_that_did_not_hold_once_is_tried_again_after_a_while(monkeypatch, settings):
    settings.RUNNER_BULK_MODE = modes.AUTO
    trials = iter(["no answer", modes.HOLDS, modes.HOLDS])
    monkeypatch.setattr(modes, "_tried", modes._Tried())
    monkeypatch.setattr(modes, "tried", lambda engine, mode, image: next(trials))
    assert modes.chain("sha256:0") == ("zygote-userns", "single")
    assert modes.chain("sha256:0") == ("zygote-userns", "single")
    modes._tried.again_at["zygote"] = time.monotonic()
    assert modes.chain("sha256:0") == ("zygote", "zygote-userns", "single")
    assert modes._tried.again_at == {}
