"""Images: built once per recipe, known by digest, without network where packages go in."""

from __future__ import annotations

import json
import os
import tempfile
from dataclasses import replace
from pathlib import Path

import docker
import pytest

from runner.environments import building
from runner.environments.building import BuiltImage, build
from runner.environments.recipe import RECIPES, BuildFailed, Recipe, recipes
from runner.environments.wheels import download_wheels
from runner.environments.workroom import PREFIX, workroom


@pytest.mark.docker
def test_a_second_build_finds_the_image_and_makes_nothing(plain: BuiltImage, science: BuiltImage) -> None:
    said: list[str] = []
    client = docker.from_env(timeout=60)
    again = [
        build(recipe, client=client, progress=said.append) for recipe in recipes().values() if recipe.usual
    ]
    assert [image.digest for image in again] == [plain.digest, science.digest]
    assert not any(image.fresh for image in again)
    assert all("up to date" in line for line in said)


@pytest.mark.docker
def test_an_image_of_another_recipe_is_not_taken_for_this_one(
    plain: BuiltImage, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[str] = []
    monkeypatch.setattr(building, "_build_base", lambda client, recipe, *rest: made.append(recipe.tag))
    changed = replace(recipes()["plain"], requirements="# changed")
    assert build(changed, client=docker.from_env(timeout=60), progress=made.append).fresh
    assert changed.tag in made


@pytest.mark.docker
def test_a_layer_is_built_from_hashed_wheels_and_found_again(plain: BuiltImage) -> None:
    text = recipes()["science"].requirements
    one = text[text.index("idna==") : text.index("itsdangerous==")]
    recipe = Recipe("tiny", "benchwright-test/tiny:1", recipes()["plain"], one)
    client = docker.from_env(timeout=300)
    try:
        first = build(recipe, client=client, progress=print)
        second = build(recipe, client=client, progress=print)
        assert (first.fresh, second.fresh, first.digest) == (True, False, second.digest)
        assert "idna" in dict(first.packages)
        look = "import idna, os; print(os.path.exists(idna.__cached__), os.path.exists('/tmp/wheels'))"
        said = client.containers.run(first.digest, ["python3", "-c", look], remove=True, network_mode="none")
        assert said.decode().split() == ["True", "False"]
    finally:
        client.images.remove(recipe.tag, force=True)


@pytest.mark.docker
def test_the_science_image_holds_what_the_published_records_import(science: BuiltImage) -> None:
    held = {name.lower(): version for name, version in science.packages}
    wanted = {
        "numpy",
        "pandas",
        "requests",
        "python-dateutil",
        "tornado",
        "flask",
        "scikit-learn",
        "matplotlib",
    }
    assert wanted <= set(held)
    assert science.python_version.startswith("3.13.")
    assert f"numpy=={held['numpy']}" in (RECIPES / "science.in").read_text()


LOOK = """
import json, os, stat
bad = []
for base, folders, files in os.walk("/"):
    folders[:] = [f for f in folders if os.path.join(base, f) not in ("/proc", "/sys", "/dev")]
    for name in files:
        try:
            if os.lstat(os.path.join(base, name)).st_mode & (stat.S_ISUID | stat.S_ISGID):
                bad.append(os.path.join(base, name))
        except OSError:
            pass
print(json.dumps([bad, os.path.isdir("/work"), os.path.exists("/tmp/wheels")]))
"""


@pytest.mark.docker
def test_images_hold_no_setuid_file_and_nothing_of_the_build(plain: BuiltImage, science: BuiltImage) -> None:
    client = docker.from_env(timeout=60)
    for image in (plain, science):
        said = client.containers.run(image.digest, ["python3", "-c", LOOK], remove=True, network_mode="none")
        assert json.loads(said) == [[], True, False]


@pytest.mark.docker
def test_the_published_base_image_is_made_fit_without_network(plain: BuiltImage, tmp_path: Path) -> None:
    client = docker.from_env(timeout=300)
    tag = "benchwright-test/python:3.13"
    stand_in = not client.images.list("python:3.13-slim")
    if stand_in:  # no registry answers here: our own image stands in for the published one
        client.images.get(plain.digest).tag("python", "3.13-slim")
    try:
        dockerfile = building.PLAIN_FROM_REGISTRY.format(image="python:3.13-slim")
        building._docker_build(client, tmp_path, dockerfile, tag, {"x": "y"}, print)
        said = client.containers.run(tag, ["python3", "-c", LOOK], remove=True, network_mode="none")
        assert json.loads(said) == [[], True, False]
        assert client.images.get(tag).labels["x"] == "y"
    finally:
        client.images.remove(tag, force=True)
        if stand_in:
            client.images.remove("python:3.13-slim", noprune=True)


@pytest.mark.docker
def test_a_failed_build_says_what_was_said_last_and_leaves_no_image(
    plain: BuiltImage, tmp_path: Path
) -> None:
    client = docker.from_env(timeout=60)
    dockerfile = f"FROM {plain.digest}\nRUN echo the wheels are torn && false\n"
    said: list[str] = []
    with pytest.raises(BuildFailed, match=r"(?s)returned a non-zero code.*the wheels are torn"):
        building._docker_build(client, tmp_path, dockerfile, "benchwright-test/torn:1", {}, said.append)
    assert "the wheels are torn" in said
    assert not client.images.list("benchwright-test/torn")


@pytest.mark.docker
def test_a_registry_that_must_answer_and_does_not_is_named(
    plain: BuiltImage, monkeypatch: pytest.MonkeyPatch
) -> None:
    client = docker.from_env(timeout=60)

    def refuse(*args: object, **named: object) -> None:
        raise docker.errors.APIError("x", explanation="connection refused")

    monkeypatch.setattr(client.images.__class__, "pull", refuse)
    changed = replace(recipes()["plain"], requirements="# changed")
    with pytest.raises(BuildFailed, match=r"connection refused.*Debian mirror"):
        build(changed, client=client, progress=print, source="registry")
    assert client.api.timeout == 60


def test_every_package_of_a_recipe_is_fixed_by_version_and_hash() -> None:
    for recipe in recipes().values():
        lines = recipe.requirements.replace("\\\n", "").splitlines()
        packages = [line for line in lines if line.strip() and not line.startswith("#")]
        assert all("==" in line and "--hash=sha256:" in line for line in packages)


def test_a_recipe_is_known_by_all_it_is_made_of() -> None:
    science = recipes()["science"]
    others = {
        replace(science, requirements="x").digest("a"),
        replace(science, tag="x").digest("a"),
        science.digest("b"),
    }
    assert science.digest("a") not in others
    assert science.digest("a") == recipes()["science"].digest("a")


def test_a_wheel_that_differs_from_its_hash_is_refused(tmp_path: Path) -> None:
    wrong = "six==1.17.0 --hash=sha256:" + "0" * 64 + "\n"
    with pytest.raises(BuildFailed, match="differs from the hash"):
        download_wheels(replace(recipes()["science"], requirements=wrong), tmp_path / "wheels")


def test_a_requirement_without_hash_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BuildFailed, match=r"(?i)hash"):
        download_wheels(replace(recipes()["science"], requirements="six==1.17.0\n"), tmp_path / "wheels")


def test_a_missing_builder_names_the_remedy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from runner.environments import debian

    monkeypatch.setattr(debian.shutil, "which", lambda name: None)
    with pytest.raises(BuildFailed, match="apt-get install mmdebstrap"):
        debian.import_debian(docker.DockerClient(), "x:y", {}, suite="trixie")


def test_an_engine_that_is_not_there_is_named() -> None:
    client = docker.DockerClient(base_url="unix:///nowhere/docker.sock", version="1.41")
    with pytest.raises(BuildFailed, match="engine"):
        build(recipes()["plain"], client=client, progress=print)


def test_a_folder_that_a_killed_process_left_goes_with_a_later_build(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    left, fresh, other = (tmp_path / name for name in (f"{PREFIX}left", f"{PREFIX}fresh", "other"))
    for folder in (left, fresh, other):
        folder.mkdir()
    os.utime(left, (1, 1))
    os.utime(other, (1, 1))
    with workroom() as room:
        assert room.parent == tmp_path
        assert (left.exists(), fresh.exists(), other.exists()) == (False, True, True)
    assert not room.exists()
