"""Drafts: seeded by repository, refused with a reason, changed and thrown away."""

from __future__ import annotations

import pytest

from annotation import evidence
from examples.models import AuditEntry, Release, Version
from examples.releasing.drafting import DraftPlan, DraftRefused, SplitPlan, discard, draft_release, leave_out
from examples.releasing.freezing import freeze
from examples.releasing.numbering import NumberRefused
from tests.examples.releasing.conftest import SPLITS


def places(release: Release) -> dict[str, set[str]]:
    """Return the repositories of each split."""
    found: dict[str, set[str]] = {}
    for split, repository in release.items.values_list("split__name", "version__example__repository"):
        found.setdefault(split, set()).add(repository)
    return found


def test_a_draft_puts_whole_repositories_into_splits_by_share(solved_versions, make_draft):
    release = make_draft()
    repositories = places(release)
    assert {split: len(names) for split, names in repositories.items()} == {
        "train": 2,
        "test": 1,
        "private": 1,
    }
    assert sum(len(names) for names in repositories.values()) == 4
    assert list(release.items.values_list("position", flat=True)) == list(range(1, 9))


def test_the_next_release_keeps_repositories_where_they_were(solved_versions, make_draft, curator):
    first = freeze(make_draft(), by=curator, people=evidence)
    second = draft_release(
        DraftPlan(name="solved", number="1.1.0", seed=99, splits=SPLITS),
        versions=Version.objects.all(),
        by=curator,
    )
    assert places(second) == places(first)


def test_a_number_that_does_not_grow_is_refused(solved_versions, make_draft, curator):
    freeze(make_draft("1.2.0"), by=curator, people=evidence)
    with pytest.raises(NumberRefused):
        make_draft("1.1.9")


def test_two_drafts_of_one_number_are_refused(solved_versions, make_draft):
    make_draft()
    with pytest.raises(DraftRefused, match="exists already"):
        make_draft()


def test_an_empty_selection_or_a_split_named_twice_is_refused(solved_versions, curator):
    plan = DraftPlan(name="x", number="1.0.0", seed=0, splits=[SplitPlan("a", 1)])
    with pytest.raises(DraftRefused, match="No version"):
        draft_release(plan, versions=Version.objects.none(), by=curator)
    twice = DraftPlan(name="x", number="1.0.0", seed=0, splits=[SplitPlan("a", 0.5), SplitPlan("a", 0.5)])
    with pytest.raises(DraftRefused, match="same name"):
        draft_release(twice, versions=Version.objects.all(), by=curator)
    assert not Release.objects.exists()


def test_versions_left_out_go_and_the_others_stay_in_their_splits(solved_versions, make_draft, curator):
    release = make_draft()
    before = dict(release.items.values_list("version_id", "split__name"))
    gone = solved_versions[0].pk
    assert leave_out(release, versions=[gone], by=curator) == 1
    del before[gone]
    assert dict(release.items.values_list("version_id", "split__name")) == before
    assert AuditEntry.objects.filter(action="release versions left out", person=curator).count() == 1


def test_a_discarded_draft_frees_its_number(solved_versions, make_draft, curator):
    discard(make_draft(), by=curator)
    assert make_draft().number == "1.0.0"
