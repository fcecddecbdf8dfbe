"""Time to solve, against an example computed by hand and against plain counting."""

from math import sqrt

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotation.study.times import (
    Duration,
    End,
    curve,
    geometric_mean,
    median,
    restricted_mean,
    time_to_solve,
)
from tests.annotation.study.rows import a_row

# Six attempts: solved at 1, 4, 5, gave up at 2 and 6, interrupted at 3. By hand, with S before and n at risk:
# t=1  n=6  S=1    solved 1/6             unsolved 0
# t=2  n=5  S=5/6  solved 1/6             unsolved 5/6*1/5 = 1/6
# t=4  n=3  S=4/6  solved 1/6+2/9 = 7/18
# t=5  n=2  S=4/9  solved 7/18+2/9 = 11/18
# t=6  n=1  S=2/9                         unsolved 1/6+2/9 = 7/18
BY_HAND = [
    Duration(1, End.SOLVED),
    Duration(2, End.UNSOLVED),
    Duration(3, End.CENSORED),
    Duration(4, End.SOLVED),
    Duration(5, End.SOLVED),
    Duration(6, End.UNSOLVED),
]


def test_incidence_of_the_example_by_hand():
    points = curve(BY_HAND)
    assert [point.seconds for point in points] == [0, 1, 2, 3, 4, 5, 6]
    assert [point.at_risk for point in points] == [6, 6, 5, 4, 3, 2, 1]
    assert [point.solved for point in points] == pytest.approx(
        [0, 1 / 6, 1 / 6, 1 / 6, 7 / 18, 11 / 18, 11 / 18]
    )
    assert [point.unsolved for point in points] == pytest.approx([0, 0, 1 / 6, 1 / 6, 1 / 6, 1 / 6, 7 / 18])


def test_the_band_ends_where_censoring_begins():
    assert [point.band is not None for point in curve(BY_HAND)] == [
        True,
        True,
        True,
        True,
        False,
        False,
        False,
    ]


def test_median_and_restricted_mean_of_the_example_by_hand():
    """Area above the curve: 1 + 3 * 5/6 + 11/18 + 7/18 = 4.5, and one more second at 7/18."""
    assert median(BY_HAND).value == 5
    assert restricted_mean(BY_HAND, limit=6).value == pytest.approx(4.5)
    assert restricted_mean(BY_HAND, limit=7).value == pytest.approx(4.5 + 7 / 18)


def test_giving_up_competes_and_is_not_censored():
    """Ten start; five give up at once, five solve: half solve, where one minus Kaplan-Meier would say all."""
    durations = [Duration(1, End.UNSOLVED)] * 5 + [Duration(2, End.SOLVED)] * 5
    assert curve(durations)[-1].solved == 0.5


@pytest.mark.parametrize(("times", "expected"), [((1, 2, 3, 4), 2), ((1, 2, 3), 2), ((7,), 7)])
def test_median_is_the_smallest_time_with_half_solved(times, expected):
    assert median([Duration(time, End.SOLVED) for time in times]).value == expected


def test_exactly_half_solved_of_six_reaches_the_median():
    """The case in which a library gave 3 or infinity by the version of numpy."""
    solved = [Duration(time, End.SOLVED) for time in (1, 2, 3)]
    assert median([*solved, *[Duration(9, End.UNSOLVED)] * 3]).value == 3
    missed = median([*solved, *[Duration(9, End.UNSOLVED)] * 4])
    assert missed.value is None
    assert missed.n == 7
    assert missed.reason.startswith("not reached")


def test_geometric_mean_knows_only_the_solved_and_refuses_a_zero():
    solved = [Duration(4, End.SOLVED), Duration(9, End.SOLVED), Duration(1000, End.UNSOLVED)]
    assert geometric_mean(solved).value == pytest.approx(6)
    assert geometric_mean(solved).n == 2
    assert geometric_mean([Duration(0, End.SOLVED), *solved]).value is None
    assert geometric_mean([Duration(5, End.UNSOLVED)]).reason == "none was solved"


def test_restricted_mean_is_undefined_where_the_curve_ends_before_the_limit():
    cut_off = [Duration(1, End.SOLVED), Duration(2, End.CENSORED)]
    assert restricted_mean(cut_off, limit=10).value is None
    assert "before the limit" in restricted_mean(cut_off, limit=10).reason
    assert restricted_mean(cut_off, limit=2).value == pytest.approx(1.5)


def test_times_of_a_study_say_what_they_are_made_of():
    rows = [
        a_row(1, 1, active_seconds=100.0),
        a_row(1, 2, active_seconds=400.0),
        a_row(2, 1, solved=False, active_seconds=50.0),
        a_row(2, 2, solved=False, interrupted=True, active_seconds=500.0),
        a_row(3, 1, solved=False, closed=False, active_seconds=600.0),
        a_row(3, 2, active_seconds=None),
        a_row(4, 1, excluded_reason="knew it already"),
    ]
    found = time_to_solve(rows, limit=600)
    assert (found.started, found.solved, found.unsolved, found.censored) == (5, 2, 1, 2)
    assert found.exclusions == {"knew it already": 1, "no time recorded": 1}
    assert found.geometric_mean.value == pytest.approx(sqrt(100 * 400))
    assert (found.share_solved.count, found.share_solved.total) == (2, 3)
    assert found.median.value is None
    assert found.curve[-1].solved == pytest.approx(0.4)


def test_no_attempts_give_reasons_and_no_numbers():
    found = time_to_solve([], limit=600)
    assert found.median.value is found.restricted_mean.value is found.geometric_mean.value is None
    assert found.median.reason == found.restricted_mean.reason == "no attempt has a recorded time"
    assert found.curve == ()


durations = st.builds(Duration, st.integers(1, 20).map(float), st.sampled_from(End))
ended = st.builds(Duration, st.integers(1, 20).map(float), st.sampled_from([End.SOLVED, End.UNSOLVED]))


@given(st.lists(durations, min_size=1, max_size=30))
def test_shares_never_fall_and_never_exceed_one(some):
    points = curve(some)
    for name in ("solved", "unsolved"):
        values = [getattr(point, name) for point in points]
        assert values == sorted(values)
    assert points[-1].solved + points[-1].unsolved <= 1 + 1e-12


@given(st.lists(ended, min_size=1, max_size=30), st.integers(1, 25))
def test_without_censoring_it_is_plain_counting(some, limit):
    for point in curve(some):
        counted = sum(one.end is End.SOLVED and one.seconds <= point.seconds for one in some)
        assert point.solved == counted / len(some)
    waited = [min(one.seconds, limit) if one.end is End.SOLVED else limit for one in some]
    assert restricted_mean(some, limit=limit).value == pytest.approx(sum(waited) / len(some))
