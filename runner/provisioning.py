"""ENVIRONMENTS in the database: build a recipe's image and store what came of it."""

from __future__ import annotations

import platform
from collections.abc import Callable
from pathlib import Path

import docker
import docker.errors
from django.conf import settings
from django.utils import timezone

from runner.environments.building import BuiltImage, build
from runner.environments.recipe import BuildFailed, Recipe, recipes
from runner.models import Environment, bounded
from runner.workers import lately


def provision(recipe: Recipe, *, progress: Callable[[str], None]) -> Environment:
    """Build the image of a recipe where it is absent and return the environment that names it.

    Doing it twice changes nothing. `progress` hears what is done, a line at a time. Raises BuildFailed with what to do;
    the environment's log then says why. An image that another host has is not made a second time: it would be another
    by its digest, and the first host's would count for nothing.
    """
    client = engine_client()
    if (elsewhere := _elsewhere(recipe, client)) is not None:
        raise BuildFailed(elsewhere)
    said: list[str] = []

    def tell(line: str) -> None:
        said.append(line)
        progress(line)

    authority = Path(settings.RUNNER_CA_FILE) if settings.RUNNER_CA_FILE else None
    try:
        built = build(recipe, client=client, progress=tell, ca_file=authority)
    except BuildFailed as failed:
        Environment.objects.update_or_create(
            name=recipe.name, defaults={"log": bounded("\n".join([*said, str(failed)]))}
        )
        raise
    return store(recipe, built, said)


def _elsewhere(recipe: Recipe, client: docker.DockerClient) -> str | None:
    """Return how to fetch the recipe's image where only workers of other hosts have it, None where it may be built."""
    found = Environment.objects.filter(name=recipe.name, recipe_hash=recipe.digest()).exclude(image_digest="")
    digest = found.values_list("image_digest", flat=True).first()
    if digest is None:
        return None
    try:
        client.images.get(digest)
    except docker.errors.ImageNotFound:
        facts = lately().exclude(facts__host=platform.node()).values_list("facts", flat=True)
        hosts = sorted({str(each.get("host")) for each in facts if digest in each.get("images", {})})
        if hosts:
            return (
                f"{', '.join(hosts)} has the image of {recipe.name} already. Carry it here, so that it is the same: "
                f"docker save {recipe.tag} | ssh THIS-HOST docker load"
            )
    return None


def store(recipe: Recipe, built: BuiltImage, said: list[str]) -> Environment:
    """Write what was built and return the environment; what is stored already stays as it is."""
    found = Environment.objects.filter(name=recipe.name, image_digest=built.digest).first()
    if found is not None:
        return found
    environment, _ = Environment.objects.update_or_create(
        name=recipe.name,
        defaults={
            "language": recipe.language,
            "language_version": built.python_version,
            "packages": dict(built.packages),
            "provides": list(recipe.provides),
            "requirements": "" if recipe.name in recipes() else recipe.requirements,
            "recipe_hash": recipe.digest(),
            "image_digest": built.digest,
            "size_bytes": built.size,
            "built_at": timezone.now(),
            "log": bounded("\n".join(said)),
        },
    )
    return environment


def engine_client() -> docker.DockerClient:
    """Return a client of the engine that builds. Raises BuildFailed where no engine answers."""
    try:
        return docker.DockerClient(base_url=settings.DOCKER_HOST, version="auto")
    except docker.errors.DockerException as error:
        raise BuildFailed(
            f"No Docker engine answers at {settings.DOCKER_HOST} ({error}). "
            "Install and start one (Debian: apt-get install docker.io), or set DOCKER_HOST."
        ) from error
