"""Planning figures, against the table of the protocols and against the interval itself."""

import pytest

from annotation.study.intervals import wilson_interval
from annotation.study.power import attempts_for, clustered_attempts_for, design_effect, wilson_half_width


@pytest.mark.parametrize(
    ("attempts", "points"), [(16, 18), (32, 13), (64, 9.5), (100, 7.6), (128, 6.7), (200, 5.4), (386, 3.9)]
)
def test_half_widths_at_81_per_cent_are_those_of_the_protocols(attempts, points):
    assert 100 * wilson_half_width(0.8125, attempts) == pytest.approx(
        points, abs=0.06 if attempts > 32 else 0.5
    )


def test_half_width_is_that_of_the_interval():
    interval = wilson_interval(52, 64)
    assert wilson_half_width(52 / 64, 64) == pytest.approx((interval.high - interval.low) / 2)


@pytest.mark.parametrize("share", [0.0, 0.5, 0.81, 1.0])
@pytest.mark.parametrize("half_width", [0.3, 0.1, 0.05, 0.01])
def test_attempts_are_enough_and_one_fewer_is_not(share, half_width):
    attempts = attempts_for(share, half_width)
    assert wilson_half_width(share, attempts) <= half_width
    assert attempts == 1 or wilson_half_width(share, attempts - 1) > half_width


def test_attempts_of_one_person_are_worth_less_than_those_of_many():
    assert design_effect(1, 0.5) == 1
    assert design_effect(16, 0.1) == 2.5
    alone = attempts_for(0.81, 0.05)
    assert clustered_attempts_for(0.81, 0.05, per_annotator=16, icc=0.0) == alone
    assert clustered_attempts_for(0.81, 0.05, per_annotator=11, icc=0.1) == 2 * alone


@pytest.mark.parametrize("call", [lambda: wilson_half_width(1.1, 5), lambda: wilson_half_width(0.5, 0)])
def test_no_interval_for_nonsense(call):
    with pytest.raises(ValueError, match="No interval"):
        call()


def test_nonsense_is_refused():
    with pytest.raises(ValueError, match="cannot be reached"):
        attempts_for(0.8, 0)
    with pytest.raises(ValueError, match="design effect"):
        design_effect(0, 0.1)
    with pytest.raises(ValueError, match="design effect"):
        design_effect(4, 1.5)
