"""Environments that curators ask for: built by a worker, kept with their logs, compared, removed when nothing names them."""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import docker
import pytest
from django.core.management import CommandError, call_command
from django.test import Client
from django.utils import timezone

from annotation.models import User
from examples import environments as asking
from examples import rerunning, tasks
from examples.environments import NotAsked
from examples.importing.environments import Environments
from examples.models import AuditEntry, Comparison, Release, ReleaseItem, Rerun, Split
from examples.rerunning import NotCompared, compare, side_by_side
from runner import boxes, builds
from runner.environments.building import BuiltImage
from runner.environments.recipe import BuildFailed, recipes
from runner.environments.suites import Offer
from runner.execution import execute
from runner.models import Build, Environment, Execution, Suite
from runner.outcome import Outcome
from runner.provisioning import store as store_environment
from runner.sandbox.base import Job, Limits
from runner.sandbox.containers import ColdSandbox
from tests.factories import make_environment, make_version
from tests.runner.conftest import cold, engine, plain
from tests.runner.test_resolving import index, make_wheel

__all__ = ["cold", "engine", "index", "plain"]

OLD = "sha256:" + "0d" * 32
JOB = Job(program="pass", tests="", expected=(), limits=Limits.for_cpu(1))


@pytest.fixture
def desk(client: Client, curator: User) -> Client:
    """A browser with a curator signed in."""
    client.force_login(curator)
    return client


@pytest.fixture
def bookworm(db: None) -> Suite:
    """Debian 12 as a worker found it."""
    return Suite.objects.create(name="bookworm", python="3.11", package="3.11.2-1", found_at=timezone.now())


def ask(by: User, name: str = "old", *, python: str = "3.13", packages: str = "") -> Environment:
    """Ask for an environment."""
    return asking.ask_environment(name=name, python=python, packages=packages, by=by)


def finish(environment: Environment, digest: str) -> Build:
    """Write that the environment's open build came to this image."""
    Environment.objects.filter(pk=environment.pk).update(image_digest=digest, built_at=timezone.now())
    build = Build.objects.open().get(environment=environment)
    build.state, build.image_digest, build.finished_at = Build.State.BUILT, digest, timezone.now()
    build.save()
    return build


class TestAsking:
    def test_it_is_a_row_and_a_build_that_waits_and_an_entry_of_who_asked(
        self, curator: User, bookworm: Suite, django_capture_on_commit_callbacks: Any, monkeypatch: Any
    ) -> None:
        woken: list[int] = []
        monkeypatch.setattr(tasks.build_environment, "apply_async", lambda args, *_, **__: woken.extend(args))
        with django_capture_on_commit_callbacks(execute=True):
            made = ask(curator, python="3.11", packages="Tornado==6.5\nidna==3.10")
        build = Build.objects.get()
        assert (made.suite, made.wanted) == ("bookworm", "Tornado==6.5\nidna==3.10")
        assert (build.state, build.environment, woken) == (Build.State.QUEUED, made, [build.pk])
        entry = AuditEntry.objects.get(action="environment asked for")
        assert (entry.person, entry.detail["packages"]) == (curator, ["idna==3.10", "Tornado==6.5"])

    def test_a_broker_that_is_down_loses_nothing(
        self, curator: User, django_capture_on_commit_callbacks: Any, monkeypatch: Any
    ) -> None:
        def down(*_: Any, **__: Any) -> None:
            raise ConnectionError("no broker")

        monkeypatch.setattr(tasks.build_environment, "apply_async", down)
        with django_capture_on_commit_callbacks(execute=True):
            made = ask(curator)
        assert builds.due_builds() == [made.builds.get().pk]

    def test_the_same_again_is_refused_with_the_one_there_is(self, curator: User, bookworm: Suite) -> None:
        ask(curator, packages="idna==3.10\nsix==1.17.0")
        with pytest.raises(NotAsked, match="Environment old is exactly this"):
            ask(curator, "other", packages="six==1.17.0\n\nidna==3.10")
        assert ask(curator, "third", python="3.11", packages="idna==3.10\nsix==1.17.0")
        with pytest.raises(NotAsked, match="already"):
            ask(curator, packages="idna==3.9")
        with pytest.raises(NotAsked, match="not offered"):
            ask(curator, "fourth", python="3.9")
        with pytest.raises(NotAsked, match="address of this site"):
            ask(curator, "new")
        with pytest.raises(NotAsked, match="comes with Benchwright"):
            ask(curator, "science")
        assert Environment.objects.count() == Build.objects.count() == 2

    def test_an_import_takes_one_that_was_asked_for_only_where_it_has_more(self, curator: User) -> None:
        make_environment("plain")
        extra = ask(curator, "aaa")
        Environment.objects.filter(pk=extra.pk).update(provides=["attr"])
        assert Environments().choose(["attr"]).name != "aaa"  # not built
        finish(extra, OLD)
        assert Environments().choose(["attr"]).name == "aaa"
        Environment.objects.filter(pk=extra.pk).update(provides=[])
        assert Environments().choose([]).name == "plain"

    def test_a_worker_looks_at_the_mirror_once_for_each_time_it_is_asked(
        self, db: None, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        looked: list[str] = []

        def offer(suites: list[str]) -> list[Offer]:
            looked.extend(suites)
            builds.look_at_suites()  # a second worker, woken as well: nothing is due for it but what is left
            return [Offer(suites[0], "3.11", "3.11.2-1") if suites == ["bookworm"] else Offer(suites[0])]

        monkeypatch.setattr(builds, "ask_mirror", offer)
        builds.look_at_suites()
        assert looked == []
        asking.ask_suites()
        builds.look_at_suites()
        assert sorted(looked) == sorted(builds.SUITES)
        assert [(each.version, each.suite) for each in asking.pythons()] == [
            ("3.13", "trixie"),
            ("3.11", "bookworm"),
        ]
        assert not Suite.objects.due().exists()


class TestBuilding:
    @pytest.fixture
    def queued(self, curator: User) -> Build:
        """A build that waits for a worker."""
        return ask(curator).builds.get()

    def test_a_failure_is_kept_with_its_log_and_another_build_may_be_asked_for(
        self, queued: Build, curator: User, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def fail(environment: Environment, progress: Any) -> None:
            progress("one step")
            raise BuildFailed("Line 1: gone==1: no such package.")

        monkeypatch.setattr(builds, "_make", fail)
        said: list[str] = []
        done = builds.run_build(queued.pk, say=said.append)
        assert done is not None
        assert (done.state, done.problem) == (Build.State.FAILED, "Line 1: gone==1: no such package.")
        assert done.log == "one step"
        assert said == ["one step"]
        assert builds.run_build(queued.pk) is None
        assert builds.due_builds() == []
        assert done.environment is not None
        assert done.environment.image_digest == ""
        again = asking.build_again(done.environment, by=curator)
        assert (again.pk != done.pk, builds.due_builds()) == (True, [again.pk])
        assert asking.build_again(done.environment, by=curator).pk == again.pk

    def test_who_lost_the_build_writes_nothing_more(
        self, queued: Build, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def stolen(environment: Environment, progress: Any) -> None:
            progress("begun")
            raise BuildFailed("too late to matter")

        monkeypatch.setattr(builds, "_make", stolen)
        rob = Build.objects.filter(pk=queued.pk)
        assert builds.run_build(queued.pk, say=lambda _: rob.update(claim="other", log="theirs")) is None
        queued.refresh_from_db()
        assert (queued.state, queued.claim, queued.log) == (Build.State.RUNNING, "other", "theirs")

    def test_a_silent_workers_build_is_taken_again_until_it_was_lost_too_often(self, queued: Build) -> None:
        held = Build.objects.filter(pk=queued.pk)
        late, soon = (timezone.now() + timedelta(minutes=sign) for sign in (-1, 1))
        held.update(state=Build.State.RUNNING, claim="dead", lease_end=soon, tries=1)
        assert builds.due_builds() == []
        held.update(lease_end=late)
        assert builds.due_builds() == [queued.pk]
        held.update(tries=builds.MOST_TRIES)
        assert builds.due_builds() == []
        queued.refresh_from_db()
        assert (queued.state, queued.problem) == (Build.State.FAILED, builds.LOST_TOO_OFTEN)

    def test_an_error_of_ours_ends_it_as_failed(self, queued: Build, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(builds, "_make", lambda *_: 1 / 0)
        done = builds.run_build(queued.pk)
        assert done is not None
        assert "ZeroDivisionError" in done.problem


def test_few_boxes_wait_for_what_was_asked_for(curator: User, settings: Any) -> None:
    settings.RUNNER_POOL_SIZE = 4
    make_environment("plain", digest="sha256:p")
    make_environment("science", digest="sha256:s")
    finish(ask(curator), "sha256:o")
    assert boxes.warm_sizes() == {"sha256:p": 4, "sha256:s": 2, "sha256:o": 1}


class TestRemoving:
    def test_what_nothing_names_is_removed_and_the_rest_stays(self, curator: User) -> None:
        make_environment("plain")
        idle, used, ran = (
            ask(curator, "idle"),
            ask(curator, "used", packages="a==1"),
            ask(curator, "ran", packages="b==1"),
        )
        busy = ask(curator, "busy", packages="c==1")
        for at, each in enumerate((idle, used, ran)):
            finish(each, f"sha256:{at}")
        make_version("one", environment=used)
        Execution.objects.create(environment=ran, queue="bulk", job_data=JOB.as_json())
        assert [each.name for each in asking.unused()] == ["idle"]
        names = ["idle", "used", "ran", "busy", "plain"]
        assert asking.remove_unused(names, by=curator) == ["idle"]
        assert set(Environment.objects.values_list("name", flat=True)) == {"used", "ran", "busy", "plain"}
        assert Build.objects.get(name="idle").image_digest == "sha256:0"
        entry = AuditEntry.objects.get(action="environment removed")
        assert (entry.person, entry.detail) == (curator, {"name": "idle", "digest": "sha256:0"})
        assert busy.builds.get().is_open

    def test_a_digest_that_an_execution_or_a_release_names_is_never_taken_off_the_engine(
        self, curator: User, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        asked_of: list[str] = []
        monkeypatch.setattr("runner.pruning._remove", lambda client, digest, held: asked_of.append(digest))
        environment = ask(curator)
        finish(environment, "sha256:now")
        for digest in ("sha256:ran", "sha256:frozen", "sha256:idle"):
            Build.objects.create(name="old", state="built", image_digest=digest, finished_at=timezone.now())
        Execution.objects.create(
            environment=environment, queue="bulk", job_data=JOB.as_json(), facts={"image": "sha256:ran"}
        )
        version = make_version(environment=environment)
        release = Release.objects.create(name="r", number="1.0.0", created_by=curator)
        split = Split.objects.create(release=release, name="test", share=1)
        ReleaseItem.objects.create(
            release=release, split=split, version=version, position=1, line='{"image":"sha256:frozen"}'
        )
        asking.sweep()
        assert asked_of == ["sha256:idle"]
        asked_of.clear()
        asking.build_again(environment, by=curator)
        asking.sweep()
        assert asked_of == []  # what is being built may stand on it


class TestPages:
    def test_a_wrong_line_comes_back_with_its_number_and_nothing_is_asked_for(
        self, desk: Client, bookworm: Suite
    ) -> None:
        sent = {"name": "old", "python": "3.11", "packages": "idna==3.10\r\nnumpy>=2"}
        answer = desk.post("/examples/environments/new/", sent)
        assert answer.status_code == 422
        assert "Line 2: “numpy&gt;=2” is not one exact version" in answer.content.decode()
        for changed in (
            {"name": "Old"},
            {"name": "-x"},
            {"name": "a--b"},
            {"python": "3.9"},
            {"name": "new"},
        ):
            answer = desk.post("/examples/environments/new/", {**sent, "packages": "", **changed})
            assert answer.status_code == 422
        assert not Environment.objects.exists()

    def test_a_build_is_followed_to_its_end(self, desk: Client, bookworm: Suite) -> None:
        sent = {"name": "old", "python": "3.11", "packages": "idna==3.10"}
        address = desk.post("/examples/environments/new/", sent)["Location"]
        assert address == "/examples/environments/old/"
        html = desk.get(address).content.decode()
        assert "waits for a worker" in html
        build = Build.objects.get()
        seen = f"{build.pk}-queued-0"
        assert f"seen={seen}" in html
        assert desk.get(f"{address}?seen={seen}", headers={"HX-Request": "true"}).status_code == 204
        Build.objects.update(state="running", claim="x", log="Step <1>")
        part = desk.get(f"{address}?seen={seen}", headers={"HX-Request": "true"}).content.decode()
        assert "Step &lt;1&gt;" in part
        assert "<html" not in part
        Build.objects.update(state="failed", claim="", problem="Line 1: gone.")
        html = desk.get(address).content.decode()
        assert "Line 1: gone." in html
        assert "hx-get" not in html

    def test_the_list_says_who_is_used_and_asks_the_database_the_same_number_of_times(
        self, desk: Client, curator: User, django_assert_num_queries: Any
    ) -> None:
        make_version(environment=make_environment("plain"))
        for at in range(5):
            finish(ask(curator, f"idle-{at}", packages=f"a=={at}"), f"sha256:{at}")
        with django_assert_num_queries(6):  # session, person, environments, builds, unused, engine's state
            html = desk.get("/examples/environments/").content.decode()
        assert html.count('name="name" value="idle-') == 5
        assert 'value="plain"' not in html
        answer = desk.post("/examples/environments/unused/", {"name": ["idle-1", "plain"]}, follow=True)
        assert "Removed: idle-1." in answer.content.decode()
        assert "Kept: plain." in answer.content.decode()

    def test_the_first_visit_asks_what_the_mirror_offers(self, desk: Client) -> None:
        assert 'hx-trigger="load"' in desk.get("/examples/environments/new/").content.decode()
        htmx = {"HX-Request": "true"}
        part = desk.post("/examples/environments/suites/", {"python": "3.13"}, headers=htmx).content.decode()
        assert "looking at the Debian mirror" in part
        Suite.objects.update(asked_at=None, python="", problem="no answer")
        Suite.objects.filter(name="bookworm").update(python="3.11", problem="")
        part = desk.get("/examples/environments/suites/?python=3.11", headers=htmx).content.decode()
        assert 'value="3.11" ' in part
        assert "every 2s" not in part

    def test_a_version_is_proposed_in_the_environment_that_was_looked_at(self, desk: Client) -> None:
        version = make_version()
        other = make_environment("science", digest=OLD)
        html = desk.get(f"/examples/{version.example_id}/versions/new/?environment=science").content.decode()
        assert f'<option value="{other.pk}" selected>science, Python 3.13</option>' in html


class TestComparing:
    def test_what_cannot_be_compared_says_why(self, curator: User) -> None:
        version = make_version(environment=make_environment("plain", digest=""))
        other = make_environment("science", digest=OLD)
        with pytest.raises(NotCompared, match="plain is not built yet"):
            compare(version, [other], by=curator)
        Environment.objects.filter(name="plain").update(image_digest=OLD, built_at=timezone.now())
        node = Environment.objects.create(
            name="node", language="javascript", image_digest=OLD, built_at=timezone.now()
        )
        with pytest.raises(NotCompared, match="node is not built, or for another language"):
            compare(version, [node], by=curator)
        with pytest.raises(NotCompared, match="Choose 1 to 5"):
            compare(version, [], by=curator)
        assert not Comparison.objects.exists()

    def test_it_runs_in_the_bulk_queue_and_changes_nothing_of_the_version(
        self, desk: Client, curator: User
    ) -> None:
        version = make_version()
        other = make_environment("science", digest=OLD)
        before = (version.check_state, version.environment_id, version.checks.count())
        address = f"/examples/{version.example_id}/environments/"
        assert desk.post(address, {"environments": []}).status_code == 422
        assert desk.post(address, {"environments": [other.pk]}).status_code == 302
        runs = Execution.objects.filter(rerun__isnull=False)
        assert set(runs.values_list("queue", flat=True)) == {"bulk"}
        assert sorted(runs.values_list("environment__name", flat=True)) == ["plain"] * 4 + ["science"] * 4
        assert [run.job_data["seed"] for run in runs.filter(environment=other)] == [1, 2, 3, 1]
        html = desk.get(address).content.decode()
        assert "running" in html
        version.refresh_from_db()
        assert (version.check_state, version.environment_id, version.checks.count()) == before
        runs.update(state="finished", outcome="PASSED")
        empty = Rerun.objects.get(execution__environment=other, program="empty").execution
        Execution.objects.filter(pk=empty.pk).update(outcome="FAILED")
        shown = side_by_side(Comparison.objects.get())
        assert [(column.environment.name, column.fit) for column in shown.columns] == [
            ("plain", False),  # its empty body passes as well
            ("science", True),
        ]
        assert shown.differs
        html = desk.get(address).content.decode()
        assert "outcomes differ" in html
        assert f"/examples/{version.example_id}/versions/new/?environment=science" in html
        assert desk.get(f"/examples/executions/{empty.pk}/").status_code == 200


@pytest.mark.docker
@pytest.mark.django_db(transaction=True)
class TestInTruth:
    """One environment from the question to its end, on the engine of this host."""

    @pytest.fixture
    def name(self) -> Iterator[str]:
        """A name that no other run has; what is left of its image is removed."""
        name = f"test-{secrets.token_hex(4)}"
        yield name
        client = docker.from_env(timeout=60)
        for image in client.images.list(filters={"label": f"org.benchwright.environment={name}"}):
            client.images.remove(image.id, force=True)

    def test_from_a_wheel_to_an_image_to_a_comparison_and_away(
        self,
        name: str,
        curator: User,
        index: Path,
        plain: BuiltImage,
        cold: ColdSandbox,
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:
        monkeypatch.setattr(boxes, "sandbox", lambda: cold)
        monkeypatch.setattr(rerunning, "SEEDS", (1,))
        store_environment(recipes()["plain"], plain, [])
        digest = make_wheel(index, "bw_tiny", "1.0", source="STEP = 1\n")
        asked = ask(curator, name, packages="bw_tiny==1.0")
        tasks.build_environment(asked.builds.get().pk)
        built = Environment.objects.get(name=name)
        build = asked.builds.get()
        assert (build.state, build.problem, build.fresh) == (Build.State.BUILT, "", True)
        assert built.provides == ["bw_tiny"]
        assert built.packages["bw_tiny"] == "1.0"
        assert digest in built.requirements
        assert built.language_version.startswith("3.13.")
        assert "Successfully installed bw_tiny-1.0" in build.log

        again = asking.build_again(built, by=curator)
        make_wheel(index, "bw_tiny", "1.0", source="STEP = 2\n")  # what the index has now does not matter
        done = builds.run_build(again.pk)
        assert done is not None
        assert (done.state, done.fresh, done.image_digest) == (Build.State.BUILT, False, built.image_digest)
        assert Environment.objects.get(name=name).built_at == built.built_at

        ours = builds.run_build(asking.build_again(Environment.objects.get(name="plain"), by=curator).pk)
        assert ours is not None
        assert (ours.state, ours.fresh, ours.image_digest) == (Build.State.BUILT, False, plain.digest)

        version = make_version(
            environment=Environment.objects.get(name="plain"),
            reference="import bw_tiny\n    return a + b * bw_tiny.STEP",
        )
        comparison = compare(version, [built], by=curator)
        for pk in Execution.objects.order_by("pk").values_list("pk", flat=True):
            assert execute(pk)
        here, there = side_by_side(comparison).columns
        assert (here.own, here.passed, there.passed, there.fit) == (True, 0, 1, True)
        assert {run.outcome for run in there.references} == {Outcome.PASSED}
        assert {run.facts["image"] for run in there.references} == {built.image_digest}
        assert "No module named 'bw_tiny'" in here.failure

        assert asking.remove_unused([name], by=curator) == []
        Comparison.objects.all().delete()
        Execution.objects.all().delete()
        assert asking.remove_unused([name], by=curator) == [name]
        tasks.sweep_images()
        client = docker.from_env(timeout=60)
        assert client.images.list(filters={"label": f"org.benchwright.environment={name}"}) == []
        assert client.images.get(plain.digest)
        assert set(Build.objects.filter(image_removed_at=None).values_list("name", flat=True)) == {"plain"}

    def test_the_command_lists_adds_builds_and_prunes(
        self,
        name: str,
        index: Path,
        plain: BuiltImage,
        capsys: pytest.CaptureFixture[str],
    ) -> None:
        store_environment(recipes()["plain"], plain, [])
        with pytest.raises(CommandError, match="not one exact"):
            call_command("environments", "add", "x", "--python", "3.13", "--package", "bw_gone")
        call_command("environments", "add", name, "--python", "3.13")
        call_command("environments", "build", name)
        call_command("environments", "list")
        call_command("environments", "prune", "--dry-run")
        call_command("environments", "prune")
        said = capsys.readouterr().out
        digest = Build.objects.filter(state="built")[0].image_digest
        assert f"{name}: built, {digest}" in said
        assert f"{name}: nothing to do, {digest}" in said
        assert f"Would be removed: {name}." in said
        assert f"Removed: {name}." in said
        assert f"{digest}: " in said
        assert not Environment.objects.filter(name=name).exists()
