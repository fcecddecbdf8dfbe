"""CURATE: packages that replies ask for: an environment is made of them, or they are refused; nothing installs itself."""

from __future__ import annotations

from typing import Any

from django.db import transaction

from examples.environments import ask_environment
from examples.models import PackageWish, audit
from runner.models import Environment


class WishDecided(Exception):
    """Somebody has decided about the wish already."""


def approve_wish(wish: PackageWish, *, name: str, python: str, packages: str, by: Any) -> Environment:
    """Ask for an environment with the packages that a curator names, by name and version, and return it.

    What the reply wrote decides nothing: it may name a package that a stranger registered for such replies. Runs are made
    in the new environment by a curator. Raises environments.NotAsked, WishDecided.
    """
    with transaction.atomic():
        _decide(wish, PackageWish.State.APPROVED, by)
        made = ask_environment(name=name, python=python, packages=packages, by=by)
        PackageWish.objects.filter(pk=wish.pk).update(environment=made)
        audit(
            by,
            "package wish approved",
            f"fragment:{wish.fragment_id}",
            package=wish.package,
            environment=name,
        )
    return made


def refuse_wish(wish: PackageWish, *, by: Any) -> None:
    """Refuse a wish. Raises WishDecided."""
    with transaction.atomic():
        _decide(wish, PackageWish.State.REFUSED, by)
        audit(by, "package wish refused", f"fragment:{wish.fragment_id}", package=wish.package)


def _decide(wish: PackageWish, state: PackageWish.State, by: Any) -> None:
    open_ = PackageWish.objects.filter(pk=wish.pk, state=PackageWish.State.OPEN)
    if not open_.update(state=state, decided_by=by):
        raise WishDecided
