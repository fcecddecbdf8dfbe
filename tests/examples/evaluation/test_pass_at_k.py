"""pass@k against cases worked by hand, against its definition, and at its edges."""

from __future__ import annotations

from itertools import combinations
from math import comb, isclose

import pytest
from hypothesis import given
from hypothesis import strategies as st

from examples.evaluation.pass_at_k import Count, difference, mean, mean_pass_at_k, pass_at_k


@pytest.mark.parametrize(
    ("samples", "passed", "k", "expected"),
    [
        (1, 0, 1, 0),
        (1, 1, 1, 1),
        (5, 0, 5, 0),
        (10, 3, 1, 3 / 10),
        (5, 2, 2, 1 - 3 / 10),  # C(3, 2) = 3 pairs of failures among C(5, 2) = 10 pairs
        (4, 1, 2, 1 / 2),  # 3 of the 6 pairs hold the one that passes
        (4, 2, 3, 1),  # no three of two failures
        (6, 2, 3, 1 - 4 / 20),
        (100, 1, 100, 1),
        (200, 1, 100, 1 / 2),
    ],
)
def test_cases_worked_by_hand(samples, passed, k, expected):
    assert pass_at_k(samples, passed, k) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize(
    ("samples", "passed", "k"), [(5, 0, 10), (0, 0, 1), (3, 1, 0), (3, 4, 1), (3, -1, 1)]
)
def test_fewer_samples_than_k_is_an_error_and_never_a_one(samples, passed, k):
    with pytest.raises(ValueError):
        pass_at_k(samples, passed, k)


@given(st.data())
def test_it_is_the_share_of_draws_that_hold_a_pass(data):
    samples = data.draw(st.integers(1, 8))
    passed = data.draw(st.integers(0, samples))
    k = data.draw(st.integers(1, samples))
    draws = list(combinations(range(samples), k))
    share = sum(any(each < passed for each in draw) for draw in draws) / len(draws)
    assert isclose(pass_at_k(samples, passed, k), share, abs_tol=1e-12)


@given(st.integers(1, 3000), st.data())
def test_it_is_stable_for_many_samples_and_grows_with_k_and_with_passes(samples, data):
    passed = data.draw(st.integers(0, samples))
    k = data.draw(st.integers(1, samples))
    value = pass_at_k(samples, passed, k)
    assert 0 <= value <= 1
    assert isclose(value, 1 - comb(samples - passed, k) / comb(samples, k), abs_tol=1e-9)
    if k < samples:
        assert pass_at_k(samples, passed, k + 1) >= value - 1e-12
    if passed < samples:
        assert pass_at_k(samples, passed + 1, k) >= value - 1e-12


def test_examples_with_too_few_samples_are_left_out_and_counted():
    found = mean_pass_at_k([Count(10, 10), Count(10, 0), Count(1, 1), Count(0, 0)], 2)
    assert (found.value, found.n, found.total, found.is_whole) == (0.5, 2, 4, False)
    none = mean_pass_at_k([Count(1, 1)], 2)
    assert none.value is None
    assert none.reason == "no example has 2 or more samples"


def test_the_interval_is_over_examples_whatever_the_number_of_samples():
    # Two examples at 0 and 1: s = sqrt(1/2), reach = 12.706 * s / sqrt(2), cut at 0 and 1.
    assert (mean([0, 1], total=2).low, mean([0, 1], total=2).high) == (0, 1)
    # 0.2, 0.4, 0.6: s = 0.2, t(0.975; 2) = 4.302653, reach = 4.302653 * 0.2 / sqrt(3) = 0.496828
    found = mean([0.2, 0.4, 0.6], total=3)
    assert found.value == pytest.approx(0.4)
    assert found.high == pytest.approx(0.896828, abs=1e-6)
    few = mean_pass_at_k([Count(2, 1), Count(2, 2), Count(2, 0)], 1)
    many = mean_pass_at_k([Count(200, 100), Count(200, 200), Count(200, 0)], 1)
    assert (few.low, few.high) == (many.low, many.high)


def test_there_is_no_interval_without_variance_or_from_one_example():
    assert mean([0.5], total=1).reason.startswith("needs two")
    same = mean([1, 1, 1], total=3)
    assert (same.value, same.low, same.high) == (1, None, None)
    assert "no variance" in same.reason


def test_a_difference_is_taken_example_by_example():
    # Differences 0.5, 0.5, 0.2: mean 0.4, s = sqrt(0.03), reach = 4.302653 * 0.1 = 0.430265
    found = difference([(1, 0.5), (0.5, 0), (0.4, 0.2)], total=5)
    assert found.value == pytest.approx(0.4)
    assert (found.low, found.high) == pytest.approx((-0.030265, 0.830265), abs=1e-6)
    assert (found.n, found.total) == (3, 5)
