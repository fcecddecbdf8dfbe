"""A sample: in proportion, the same by the same seed, and every set equally likely."""

from collections import Counter
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from annotation.sampling import allocate, stratified

seeds = st.integers(0, 1000)


@st.composite
def questions(draw):
    """Strata with ids of their own, and a size that can be drawn."""
    sizes = draw(st.lists(st.integers(1, 30), min_size=1, max_size=6))
    ids = iter(draw(st.permutations(range(sum(sizes)))))
    strata = {(str(at),): [next(ids) for _ in range(size)] for at, size in enumerate(sizes)}
    return strata, draw(st.integers(1, sum(sizes)))


@settings(max_examples=150, deadline=None)
@given(questions(), seeds)
def test_each_stratum_gets_its_share_rounded_and_never_more_than_it_holds(question, seed):
    strata, size = question
    total = sum(map(len, strata.values()))
    drawn = stratified(strata, size, seed=seed)
    assert sum(map(len, drawn.values())) == size
    for stratum, ids in drawn.items():
        assert set(ids) <= set(strata[stratum])
        assert len(set(ids)) == len(ids)
        assert abs(len(ids) - Fraction(len(strata[stratum]) * size, total)) < 1


@settings(max_examples=100, deadline=None)
@given(questions(), seeds, st.randoms())
def test_the_same_seed_draws_the_same_in_whatever_order_ids_and_strata_come(question, seed, random):
    strata, size = question
    names = list(strata)
    random.shuffle(names)
    mixed = {name: random.sample(strata[name], len(strata[name])) for name in names}
    assert stratified(mixed, size, seed=seed) == stratified(strata, size, seed=seed)


def test_every_id_of_a_stratum_is_drawn_about_equally_often_over_seeds():
    times = Counter(
        one for seed in range(2000) for one in stratified({("a",): list(range(10))}, 3, seed=seed)[("a",)]
    )
    assert all(500 < times[one] < 700 for one in range(10))  # 600 +- 20 (one standard deviation)


def test_equal_remainders_are_decided_by_the_seed_and_not_by_the_name():
    sizes = {("a",): 5, ("b",): 5}
    assert {tuple(allocate(sizes, 5, seed=seed).values()) for seed in range(20)} == {(3, 2), (2, 3)}


def test_what_cannot_be_drawn_is_refused():
    with pytest.raises(ValueError, match="4 cannot be drawn of 3"):
        stratified({("a",): [1, 2, 3]}, 4, seed=0)
    with pytest.raises(ValueError, match="two strata"):
        stratified({("a",): [1], ("b",): [1]}, 1, seed=0)
