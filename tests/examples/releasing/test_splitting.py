"""Splits: whole repositories, close to the shares, the same every time."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from examples.releasing.splitting import Placeable, SharesRefused, assign_splits

REPOSITORIES = st.sampled_from(["", "a/a", "A/a", "b/b", "c/c", "d/d/"])
ITEMS = st.lists(REPOSITORIES, max_size=40).map(
    lambda names: [Placeable(100 + at, at, name) for at, name in enumerate(names)]
)
WEIGHTS = st.lists(st.integers(0, 10), min_size=1, max_size=4).filter(any)
SHARES = WEIGHTS.map(lambda weights: {f"s{at}": weight / sum(weights) for at, weight in enumerate(weights)})


@given(ITEMS, SHARES, st.integers(0, 2**31))
def test_no_repository_is_in_two_splits(items, shares, seed):
    chosen = assign_splits(items, shares=shares, seed=seed)
    assert chosen.keys() == {item.version_id for item in items}
    of_group = {}
    for item in items:
        assert of_group.setdefault(item.group, chosen[item.version_id]) == chosen[item.version_id]


@given(ITEMS, SHARES, st.integers(0, 2**31))
def test_no_split_exceeds_its_share_by_more_than_the_largest_group(items, shares, seed):
    chosen = list(assign_splits(items, shares=shares, seed=seed).values())
    groups = [item.group for item in items]
    largest = max((groups.count(group) for group in groups), default=0)
    for split, share in shares.items():
        assert chosen.count(split) <= share * len(items) + largest + 1e-6
        if share == 0:
            assert split not in chosen


@given(ITEMS, SHARES, st.integers(0, 2**31), st.randoms())
def test_the_order_of_the_versions_does_not_matter(items, shares, seed, random):
    shuffled = list(items)
    random.shuffle(shuffled)
    assert assign_splits(items, shares=shares, seed=seed) == assign_splits(shuffled, shares=shares, seed=seed)


@given(ITEMS, SHARES, st.integers(0, 2**31))
def test_repositories_of_an_earlier_release_keep_their_split(items, shares, seed):
    first = assign_splits(items, shares=shares, seed=seed)
    placed = {item.group: first[item.version_id] for item in items}
    more = [*items, *(Placeable(900 + at, 900 + at, f"new/{at}") for at in range(5))]
    again = assign_splits(more, shares=shares, seed=seed + 1, placed=placed)
    assert {key: again[key] for key in first} == first


def test_another_seed_gives_another_assignment():
    items = [Placeable(at, at, "") for at in range(50)]
    shares = {"train": 0.5, "test": 0.5}
    assert assign_splits(items, shares=shares, seed=1) != assign_splits(items, shares=shares, seed=2)


def test_the_assignment_of_a_seed_is_the_same_for_ever():
    items = [Placeable(at, at, "r/x" if at < 3 else "") for at in range(12)]
    chosen = assign_splits(items, shares={"train": 0.5, "test": 0.5}, seed=8)
    assert "".join(chosen[at][1] for at in range(12)) == "rrreeerreere"


@pytest.mark.parametrize("shares", [{"a": 0.5}, {"a": 0.7, "b": 0.7}, {"a": 1.5, "b": -0.5}])
def test_shares_that_do_not_make_a_whole_are_refused(shares):
    with pytest.raises(SharesRefused):
        assign_splits([], shares=shares, seed=0)
