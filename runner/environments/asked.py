"""From an environment that somebody asked for to its recipe: a Python from Debian, and packages resolved and locked."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

import docker
from packaging.utils import canonicalize_name

from runner.environments.building import BuiltImage, Progress, Source, build
from runner.environments.recipe import PYTHON, SUITE, Recipe, recipes
from runner.environments.resolving import Target, lock, read_lock, resolve
from runner.environments.wanted import read_wanted


@dataclass(frozen=True)
class Asked:
    """What somebody asked for: a name, a Python, the Debian that has it, packages; `requirements` once they are locked."""

    name: str
    python: str
    suite: str
    wanted: str = ""
    requirements: str = ""


class Made(NamedTuple):
    """A recipe and its image."""

    recipe: Recipe
    image: BuiltImage


def make(
    asked: Asked,
    *,
    client: docker.DockerClient,
    progress: Progress,
    source: Source = "auto",
    ca_file: Path | None = None,
) -> Made:
    """Return the recipe and the image of what was asked for; made where no image of that recipe exists.

    Packages are resolved once: what was locked stays. Raises BuildFailed with the line and the remedy.
    """
    base = build(base_of(asked), client=client, progress=progress, source=source, ca_file=ca_file)
    requirements = asked.requirements
    if asked.wanted and not requirements:
        wanted = read_wanted(asked.wanted)
        progress(f"Resolving {len(wanted)} package(s) for Python {base.python_version}; wheels only.")
        pinned = resolve(wanted, Target(base.python_version, asked.suite, ca_file))
        requirements = lock(pinned)
        for each in pinned:
            progress(each.line)
    recipe = recipe_of(asked, requirements)
    image = build(recipe, client=client, progress=progress, source=source, ca_file=ca_file)
    return Made(replace(recipe, provides=provided(requirements, image)), image)


def provided(requirements: str, image: BuiltImage) -> tuple[str, ...]:
    """Return the top-level modules of an image that came with the packages of a hashed requirements text."""
    names = {canonicalize_name(each.name) for each in read_lock(requirements)}
    found = {
        module: {canonicalize_name(each) for each in origins} for module, origins in image.modules.items()
    }
    return tuple(sorted(module for module, origins in found.items() if origins & names))


def base_of(asked: Asked) -> Recipe:
    """Return the recipe with that Python alone; ours where it is the same."""
    if (asked.python, asked.suite) == (PYTHON, SUITE):
        return recipes()["plain"]
    return Recipe(
        f"python-{asked.python}", f"benchwright/python:{asked.python}", python=asked.python, suite=asked.suite
    )


def recipe_of(asked: Asked, requirements: str) -> Recipe:
    """Return the recipe of what was asked for with its packages locked."""
    tag = f"benchwright/asked-{asked.name}:{asked.python}"
    return Recipe(asked.name, tag, base_of(asked), requirements, python=asked.python, suite=asked.suite)
