"""CURATE: environments: ask for one, build it again, remove those that nothing names; each with its audit entry."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.db import IntegrityError, transaction
from django.db.models import Count, Exists, IntegerField, OuterRef, ProtectedError, QuerySet, Subquery
from django.db.models.functions import Coalesce

from examples.models import AuditEntry, ReleaseItem, Version, audit
from examples.waking import wake_on_commit
from runner import builds, pruning
from runner.environments.recipe import PYTHON, SUITE, recipes
from runner.environments.suites import SUITES
from runner.environments.wanted import WantedInvalid, as_text, read_wanted
from runner.models import Build, Environment, Execution, Suite
from runner.pruning import Removed

# What the addresses of the pages need for themselves.
RESERVED = ("new", "unused", "suites")


class NotAsked(Exception):
    """Why an environment cannot be asked for, by field: what is wrong and what helps."""

    def __init__(self, problems: dict[str, str]) -> None:
        super().__init__(" ".join(problems.values()))
        self.problems = problems


@dataclass(frozen=True)
class Python:
    """A Python to choose: its minor version, the Debian that has it, and the version of Debian's package."""

    version: str
    suite: str
    package: str = ""


def pythons() -> list[Python]:
    """Return the Pythons there are to choose from, newest first: ours, and what a worker found at the Debian mirror."""
    order = {name: at for at, name in enumerate(SUITES)}
    found = sorted(Suite.objects.exclude(python=""), key=lambda suite: order.get(suite.name, len(order)))
    offered = {PYTHON: Python(PYTHON, SUITE)}
    for suite in found:
        if suite.python not in offered or offered[suite.python].suite == suite.name:
            offered[suite.python] = Python(suite.python, suite.name, suite.package)
    return sorted(
        offered.values(), key=lambda each: [int(part) for part in each.version.split(".")], reverse=True
    )


def ask_suites() -> None:
    """Let a worker look at the Debian mirror; what it finds is offered from then on."""
    from examples.tasks import look_at_mirror

    with transaction.atomic():
        builds.ask_suites()
        wake_on_commit(look_at_mirror)


def ask_environment(*, name: str, python: str, packages: str, by: Any, wake: bool = True) -> Environment:
    """Save a new environment and ask for its image. Raises NotAsked.

    A worker is woken when the transaction commits, unless who calls this builds at once.
    `packages` are lines, kept as they were written, since what is wrong is said by the number of the line. An environment
    is what it is for good: other packages are another environment, so that no version's ground moves.
    """
    chosen = next((each for each in pythons() if each.version == python), None)
    if chosen is None:
        raise NotAsked({"python": f"Python {python} is not offered. Choose one that is."})
    if name in RESERVED:
        raise NotAsked({"name": f"{name} is an address of this site. Choose another name."})
    if name in recipes():
        raise NotAsked({"name": f"{name} comes with Benchwright. Choose another name."})
    written = "\n".join(packages.splitlines()).rstrip()
    _refuse_same(chosen, _text_of(written))
    with transaction.atomic():
        try:
            with transaction.atomic():
                made = Environment.objects.create(
                    name=name, suite=chosen.suite, language_version=chosen.version, wanted=written
                )
        except IntegrityError:
            raise NotAsked(
                {"name": f"There is an environment {name} already. Choose another name."}
            ) from None
        audit(by, "environment asked for", _subject(made), python=python, packages=_text_of(written).split())
        _ask(made, wake=wake)
    return made


def _refuse_same(chosen: Python, text: str) -> None:
    """Raise NotAsked where an environment has that Python and these packages already."""
    for there in Environment.objects.asked_for().filter(suite=chosen.suite).defer("log", "requirements"):
        same_python = f"{there.language_version}.".startswith(f"{chosen.version}.")
        if same_python and as_text(read_wanted(there.wanted)) == text:
            raise NotAsked({"packages": f"Environment {there.name} is exactly this. Use it."})


def _text_of(packages: str) -> str:
    """Return the packages of a text in the order of their names. Raises NotAsked."""
    try:
        return as_text(read_wanted(packages))
    except WantedInvalid as refusal:
        raise NotAsked({"packages": str(refusal)}) from refusal


def build_again(environment: Environment, *, by: Any) -> Build:
    """Ask for the environment's image (again); where it exists as it should, nothing changes."""
    with transaction.atomic():
        audit(by, "environment build asked for", _subject(environment))
        return _ask(environment)


def _ask(environment: Environment, *, wake: bool = True) -> Build:
    from examples.tasks import build_environment

    build = builds.ask_build(environment)
    if wake:
        wake_on_commit(build_environment, build.pk)
    return build


def with_use(environments: QuerySet[Environment]) -> QuerySet[Environment]:
    """Return the environments with `version_count` and `was_executed_in`."""
    counted = Version.objects.filter(environment=OuterRef("pk")).order_by().values("environment")
    count = Subquery(counted.annotate(n=Count("pk")).values("n"), output_field=IntegerField())
    executed = Exists(Execution.objects.filter(environment=OuterRef("pk")))
    return environments.annotate(version_count=Coalesce(count, 0), was_executed_in=executed)


def unused() -> QuerySet[Environment]:
    """Return the environments that may be removed: asked for, named by no version and no execution, not being built.

    A frozen release names versions, and versions name their environment.
    """
    opened = Build.objects.open().filter(environment=OuterRef("pk"))
    free = Environment.objects.asked_for().filter(versions=None, executions=None)
    return free.exclude(Exists(opened))


def remove_unused(names: Sequence[str], *, by: Any, wake: bool = True) -> list[str]:
    """Remove those of the named environments that are unused, and return them; a worker that is woken removes their images.

    The database has the last word: what a version or an execution names since it was looked at stays.
    """
    from examples.tasks import sweep_images

    removed = []
    for environment in unused().filter(name__in=names):
        digest = environment.image_digest
        try:
            with transaction.atomic():
                subject = _subject(environment)
                environment.delete()
                audit(by, "environment removed", subject, name=environment.name, digest=digest)
        except ProtectedError:
            continue
        removed.append(environment.name)
    if removed and wake:
        wake_on_commit(sweep_images)
    return removed


def sweep() -> list[Removed]:
    """Remove from the engine what removed and superseded environments left there; for workers and commands."""
    return pruning.sweep(named=_is_released)


def _is_released(digest: str) -> bool:
    """Return whether a line of a release names the image."""
    return ReleaseItem.objects.filter(line__contains=digest).exists()


def asked_by(environment: Environment) -> AuditEntry | None:
    """Return the entry that says who asked for the environment."""
    asked = AuditEntry.objects.filter(subject=_subject(environment), action="environment asked for")
    return asked.select_related("person").order_by("pk").first()


def requirements_of(environment: Environment) -> str:
    """Return the hashed requirements text of an environment, "" where it has no packages or they are not resolved yet."""
    recipe = recipes().get(environment.name)
    return recipe.requirements if recipe is not None else environment.requirements


def _subject(environment: Environment) -> str:
    return f"environment:{environment.pk}"
