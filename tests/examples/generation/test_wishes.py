"""Packages that replies ask for become an environment only by a curator's word."""

from __future__ import annotations

import pytest

from annotation.models import User
from examples.environments import NotAsked
from examples.generation.wishes import WishDecided, approve_wish, refuse_wish
from examples.models import AuditEntry, Dataset, Fragment, GenerationRun, PackageWish
from runner.environments.recipe import PYTHON
from runner.models import Build, Environment
from tests.factories import make_environment

pytestmark = pytest.mark.django_db


@pytest.fixture
def wish() -> PackageWish:
    """An open wish for a package."""
    dataset = Dataset.objects.create(name="made", title="Made")
    run = GenerationRun.objects.create(
        name="run-1", dataset=dataset, path="model", model="tiny", environment=make_environment()
    )
    fragment = Fragment.objects.create(run=run, number=1, source="x", function="f")
    return PackageWish.objects.create(fragment=fragment, package="idna", said="pip install idna")


def test_an_approved_wish_is_an_environment_that_was_asked_for(wish: PackageWish, curator: User) -> None:
    made = approve_wish(wish, name="with-idna", python=PYTHON, packages="idna==3.10", by=curator)
    wish.refresh_from_db()
    assert (wish.state, wish.environment, wish.decided_by) == ("approved", made, curator)
    assert made.wanted == "idna==3.10"
    assert Build.objects.get().environment == made
    assert AuditEntry.objects.filter(action="package wish approved", person=curator).exists()


def test_a_version_must_be_named_and_what_cannot_be_asked_for_leaves_the_wish_open(
    wish: PackageWish, curator: User
) -> None:
    with pytest.raises(NotAsked):
        approve_wish(wish, name="with-idna", python=PYTHON, packages="idna", by=curator)
    wish.refresh_from_db()
    assert (wish.state, wish.decided_by) == ("open", None)
    assert not Environment.objects.filter(name="with-idna").exists()


def test_a_wish_is_decided_once(wish: PackageWish, curator: User) -> None:
    refuse_wish(wish, by=curator)
    with pytest.raises(WishDecided):
        refuse_wish(wish, by=curator)
    with pytest.raises(WishDecided):
        approve_wish(wish, name="with-idna", python=PYTHON, packages="idna==3.10", by=curator)
    wish.refresh_from_db()
    assert (wish.state, Environment.objects.filter(name="with-idna").count()) == ("refused", 0)
