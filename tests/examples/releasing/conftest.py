"""A draft that may be frozen: versions that passed their checks, each solved by two people."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from annotation.models import User
from examples.models import Release, Version
from examples.releasing.drafting import DraftPlan, SplitPlan, draft_release
from tests.factories import make_attempt, make_study, make_version

SPLITS = (SplitPlan("train", 0.5), SplitPlan("test", 0.25), SplitPlan("private", 0.25, held_out=True))


@pytest.fixture
def solved_versions(ann: User, ben: User) -> list[Version]:
    """Eight versions in four repositories, each solved by ann and ben."""
    versions = [make_version(f"add{at}", repository=f"owner/r{at // 2}") for at in range(8)]
    study = make_study(versions=versions, people=[ann, ben])
    for version in versions:
        for person in (ann, ben):
            make_attempt(study, version, person)
    return versions


@pytest.fixture
def make_draft(curator: User) -> Callable[..., Release]:
    """Make a draft over every version there is."""

    def make(number: str = "1.0.0", **fields: object) -> Release:
        plan = DraftPlan(name="solved", number=number, seed=3, splits=SPLITS, licence="MIT", **fields)  # type: ignore[arg-type]
        return draft_release(plan, versions=Version.objects.all(), by=curator)

    return make
