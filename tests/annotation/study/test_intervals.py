"""Shares with Wilson and cluster intervals, against hand computed and published figures."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotation.study.intervals import clustered_rate, plain_rate, wilson_interval


def answers(**solved_of):
    """Outcomes from a=(3, 4): a solved 3 of 4."""
    return [(who, number < solved) for who, (solved, total) in solved_of.items() for number in range(total)]


@pytest.mark.parametrize(
    ("count", "total", "low", "high"),
    [(52, 64, 0.700, 0.889), (39, 64, 0.487, 0.719), (32, 33, 0.847, 0.995)],
)
def test_wilson_gives_the_figures_of_the_protocols(count, total, low, high):
    interval = wilson_interval(count, total)
    assert (interval.low, interval.high) == pytest.approx((low, high), abs=0.0006)


def test_wilson_of_nothing_is_undefined_and_stays_within_bounds_at_the_ends():
    assert wilson_interval(0, 0) is None
    assert wilson_interval(0, 5).low == 0
    assert wilson_interval(5, 5).high == 1
    with pytest.raises(ValueError, match="not a share"):
        wilson_interval(3, 2)


def test_cluster_interval_of_four_equal_clusters_by_hand():
    """12, 13, 14, 15 of 16: p = 54/64; residuals -1.5, -.5, .5, 1.5; variance 4/3 * 5 / 64^2; t(3) = 3.18245."""
    rate = clustered_rate(answers(a=(12, 16), b=(13, 16), c=(14, 16), d=(15, 16)))
    reach = 3.182446 * (4 / 3 * 5 / 64**2) ** 0.5
    assert (rate.count, rate.total, rate.cluster_reason) == (54, 64, "")
    assert rate.cluster.low == pytest.approx(54 / 64 - reach, abs=1e-6)
    assert rate.cluster.high == pytest.approx(54 / 64 + reach, abs=1e-6)


def test_cluster_interval_of_unequal_clusters_by_hand():
    """30 of 40, 10 of 20, 18 of 20: p = 58/80; residuals 1, -4.5, 3.5; variance 3/2 * 33.5 / 80^2; t(2) = 4.30265."""
    rate = clustered_rate(answers(a=(30, 40), b=(10, 20), c=(18, 20)))
    reach = 4.302653 * (3 / 2 * 33.5 / 80**2) ** 0.5
    assert rate.share == 0.725
    assert rate.cluster.low == pytest.approx(0.725 - reach, abs=1e-6)
    assert rate.cluster.high == 1


def test_cluster_interval_needs_two_annotators_and_some_variance():
    assert clustered_rate(answers(a=(3, 4))).cluster is None
    assert "two or more annotators, here 1" in clustered_rate(answers(a=(3, 4))).cluster_reason
    assert "here 0" in clustered_rate([]).cluster_reason
    for same in (
        answers(a=(4, 4), b=(2, 2)),
        answers(a=(0, 4), b=(0, 2)),
        answers(a=(1, 3), b=(2, 6), c=(3, 9)),
    ):
        rate = clustered_rate(same)
        assert rate.cluster is None
        assert "same share" in rate.cluster_reason
        assert rate.wilson is not None


def test_two_solved_of_two_is_the_walk_through_of_the_study_page():
    rate = clustered_rate(answers(a=(1, 1), b=(1, 1)))
    assert (rate.count, rate.total, rate.share) == (2, 2, 1.0)
    assert rate.wilson.low == pytest.approx(0.342, abs=0.001)
    assert rate.cluster is None


def test_no_answers_have_no_share():
    rate = plain_rate(0, 0, reason="nothing yet")
    assert (rate.share, rate.wilson, rate.cluster, rate.cluster_reason) == (None, None, None, "nothing yet")


@given(st.lists(st.tuples(st.integers(1, 5), st.booleans())))
def test_intervals_hold_the_share_within_zero_and_one_or_say_why_not(outcomes):
    rate = clustered_rate(outcomes)
    for interval in filter(None, (rate.wilson, rate.cluster)):
        assert 0 <= interval.low <= rate.share + 1e-12
        assert rate.share - 1e-12 <= interval.high <= 1
    assert (rate.cluster is None) == bool(rate.cluster_reason)
