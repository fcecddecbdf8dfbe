"""ENVIRONMENTS: from a recipe to an image known by its digest; built once, found again by the recipe's hash.

The network is used outside the image only: for the base system and for downloading wheels. What is installed is
installed in a build stage without network, from wheels whose hashes the recipe states.
"""

from __future__ import annotations

import json
import shutil
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

import docker
import docker.errors
import requests

from runner.environments.debian import import_debian
from runner.environments.recipe import BuildFailed, Recipe
from runner.environments.wheels import download_wheels
from runner.environments.workroom import workroom
from runner.sandbox.engine import DEADLINE_LABEL, OWNER_LABEL, Owner

RECIPE_LABEL = "org.benchwright.recipe"
NAME_LABEL = "org.benchwright.environment"
BUILD_SECONDS = 900
SILENCE_SECONDS = 30
INVENTORY_SECONDS = 300

Source = Literal["auto", "debian", "registry"]
Progress = Callable[[str], None]

PLAIN_FROM_REGISTRY = """
FROM {image}
RUN find / -xdev -perm /6000 -type f -exec chmod a-s {{}} + ; mkdir -p /work
CMD ["python3"]
"""
WITH_WHEELS = """
FROM {parent}
COPY wheels /tmp/wheels
RUN PIP_BREAK_SYSTEM_PACKAGES=1 python3 -m pip install --no-cache-dir --no-index --find-links /tmp/wheels \\
    --require-hashes --only-binary :all: --no-compile --ignore-installed \\
    --root-user-action ignore -r /tmp/wheels/requirements.txt \\
 && (python3 -m compileall -q -j 0 "$(python3 -c 'import sysconfig; print(sysconfig.get_path("purelib"))')" || true) \\
 && rm -rf /tmp/wheels
"""
INVENTORY = """
import importlib.metadata as m, json, platform, subprocess, sys
def said(*command):
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
debian, language = json.loads(sys.argv[1])
version = said(*language).lstrip("v") if language else platform.python_version()
packages = {(d.name, d.version) for d in m.distributions()}
packages |= {(name, said("dpkg-query", "-W", "-f", "${Version}", name)) for name in debian}
modules = {name: found for name, found in m.packages_distributions().items() if name.isidentifier()}
print(json.dumps([version, sorted(packages), modules]))
"""


@dataclass(frozen=True)
class BuiltImage:
    """An image on this host: id digest, size in bytes, what is in it, and whether it was made just now.

    `modules` are the top-level names that a program may import, each with the packages it comes from.
    """

    name: str
    tag: str
    digest: str
    size: int
    python_version: str
    packages: tuple[tuple[str, str], ...]
    fresh: bool
    modules: dict[str, list[str]] = field(default_factory=dict)


def build(
    recipe: Recipe,
    *,
    client: docker.DockerClient,
    progress: Progress,
    source: Source = "auto",
    ca_file: Path | None = None,
) -> BuiltImage:
    """Return the image of a recipe, building it and its parents where no image of the same recipe exists.

    `source` says where the base system comes from: the Debian mirror, the registry, or the registry where it answers
    and else the mirror. `ca_file` is an extra certificate authority for downloads. Raises BuildFailed.
    """
    try:
        fresh = _ensure(client, recipe, progress, source, ca_file)
        return _described(client, recipe, fresh=fresh)
    except docker.errors.DockerException as error:
        raise BuildFailed(
            f"The engine could not make {recipe.tag}: {error}. Is it running? Try `docker info`."
        ) from error
    except requests.exceptions.RequestException as error:
        raise BuildFailed(
            f"The engine did not answer while {recipe.tag} was made: {error}. Try again."
        ) from error


def _ensure(
    client: docker.DockerClient, recipe: Recipe, progress: Progress, source: Source, ca_file: Path | None
) -> bool:
    """Make the image where none of this recipe exists, its parents first; return whether it was made."""
    parent = ""
    if recipe.parent:
        _ensure(client, recipe.parent, progress, source, ca_file)
        parent = str(client.images.get(recipe.parent.tag).id)
    wanted = recipe.digest(parent)
    if _label(client, recipe.tag) == wanted:
        progress(f"{recipe.tag} is up to date.")
        return False
    labels = {RECIPE_LABEL: wanted, NAME_LABEL: recipe.name}
    if parent:
        _build_layer(client, recipe, parent, labels, progress, ca_file)
    else:
        _build_base(client, recipe, labels, progress, source)
    return True


def _label(client: docker.DockerClient, tag: str) -> str:
    try:
        return str(client.images.get(tag).labels.get(RECIPE_LABEL, ""))
    except docker.errors.ImageNotFound:
        return ""


def _build_base(
    client: docker.DockerClient, recipe: Recipe, labels: dict[str, str], progress: Progress, source: Source
) -> None:
    """Make the image that holds the language alone."""
    published = f"{recipe.python}-slim"
    if (
        source != "debian"
        and not recipe.debian
        and _registry_answers(client, published, progress, required=source == "registry")
    ):
        with workroom() as folder:
            dockerfile = PLAIN_FROM_REGISTRY.format(image=f"python:{published}")
            _docker_build(client, folder, dockerfile, recipe.tag, labels, progress)
        return
    progress(f"Making {recipe.tag} from Debian {recipe.suite} (about half a minute).")
    import_debian(client, recipe.tag, labels, suite=recipe.suite, packages=recipe.debian, progress=progress)


def _registry_answers(
    client: docker.DockerClient, published: str, progress: Progress, *, required: bool
) -> bool:
    """Pull the published image; a registry that is silent for a while does not answer."""
    progress(f"Pulling python:{published}.")
    usual, client.api.timeout = client.api.timeout, SILENCE_SECONDS
    try:
        client.images.pull("python", tag=published)
    except (docker.errors.APIError, requests.exceptions.RequestException) as error:
        if required:
            raise BuildFailed(
                f"The registry gave no python:{published} ({getattr(error, 'explanation', None) or error}). "
                "Check the engine's access to it, or build from the Debian mirror (source: debian)."
            ) from error
        return False
    finally:
        client.api.timeout = usual
    return True


def _build_layer(
    client: docker.DockerClient,
    recipe: Recipe,
    parent: str,
    labels: dict[str, str],
    progress: Progress,
    ca_file: Path | None,
) -> None:
    """Add a recipe's packages to its parent, an image by its digest; without any, the layer is its name alone."""
    with workroom() as folder:
        if not recipe.requirements:
            _docker_build(client, folder, f"FROM {parent}\n", recipe.tag, labels, progress)
            return
        wheels = folder / "wheels"
        progress(f"Downloading the wheels of {recipe.tag}.")
        download_wheels(recipe, wheels, ca_file=ca_file)
        progress(f"Installing {sum(1 for _ in wheels.glob('*.whl'))} wheels without network.")
        _docker_build(client, folder, WITH_WHEELS.format(parent=parent), recipe.tag, labels, progress)


def _docker_build(
    client: docker.DockerClient,
    folder: Path,
    dockerfile: str,
    tag: str,
    labels: dict[str, str],
    progress: Progress,
) -> None:
    """Build with the engine's classic builder, without network. Raises BuildFailed with the last lines said."""
    if shutil.disk_usage(folder).free < 2 << 30:
        raise BuildFailed(f"Less than 2 GiB are free in {folder.parent}; make room, then build again.")
    (folder / "Dockerfile").write_text(dockerfile)
    said: list[str] = []
    for part in client.api.build(
        path=str(folder),
        tag=tag,
        labels=labels,
        network_mode="none",
        rm=True,
        forcerm=True,
        timeout=BUILD_SECONDS,
        decode=True,
    ):
        if "error" in part:
            tail = "\n".join(said)[-1500:]
            raise BuildFailed(f"Building {tag} failed: {part['error'].strip()}\n{tail}".strip())
        for line in str(part.get("stream", "")).splitlines():
            if line.strip():
                said.append(line.rstrip())
                progress(line.rstrip())
    progress(f"{tag} is built.")


def _described(client: docker.DockerClient, recipe: Recipe, *, fresh: bool) -> BuiltImage:
    """Return what the image holds, as the interpreter in it says."""
    image = client.images.get(recipe.tag)
    # The reaper removes it where we are killed before we do.
    deadline = str(int(time.time() + INVENTORY_SECONDS))
    said = client.containers.run(
        str(image.id),
        ["python3", "-c", INVENTORY, json.dumps([recipe.debian, recipe.version])],
        remove=True,
        network_mode="none",
        cap_drop=["ALL"],
        user="65534:65534",
        labels={OWNER_LABEL: str(Owner.this_process()), DEADLINE_LABEL: deadline},
    )
    version, packages, modules = json.loads(said)
    found = tuple((str(name), str(number)) for name, number in packages)
    size = int(image.attrs["Size"])
    return BuiltImage(recipe.name, recipe.tag, str(image.id), size, version, found, fresh, modules)
