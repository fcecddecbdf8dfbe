"""FRAGMENTS: the run that takes them: opened by name, made where there is none."""

from __future__ import annotations

from typing import Any

from django.db import transaction

from examples.generation.fragments.base import SourceRefused
from examples.importing.environments import Environments
from examples.models import Dataset, GenerationRun, audit
from runner.models import Environment


def plain_run(
    name: str, *, dataset: str, environment: str = "", licence: str = "", review: bool = False, by: Any = None
) -> GenerationRun:
    """Return a new run without any model, its dataset made where it is new. `environment` "" is the smallest one.

    `licence` is what the dataset gets where it has none. Raises SourceRefused where the environment is unknown.
    """
    with transaction.atomic():
        target, _ = Dataset.objects.get_or_create(
            name=dataset, defaults={"title": dataset, "source": "generation", "created_by": by}
        )
        if licence and not target.licence:
            target.licence = licence
            target.save(update_fields=["licence"])
        run = GenerationRun.objects.create(
            name=name,
            dataset=target,
            path=GenerationRun.Path.PLAIN,
            environment=environment_of(environment),
            review=review,
            created_by=by,
        )
        audit(by, "generation run made", f"generation:{run.name}", path=run.path, dataset=dataset)
    return run


def environment_of(name: str) -> Environment:
    """Return the Python environment of a name, the smallest for "". Raises SourceRefused."""
    known = Environments()
    if not name:
        return known.choose([])
    found = next((each for each in known.known if each.name == name and each.language == "python"), None)
    if found is None:
        names = ", ".join(each.name for each in known.known if each.language == "python")
        raise SourceRefused(f"There is no Python environment called {name}. There are: {names}.")
    return found
