"""Planning figures, against the table of the protocols and against the interval itself."""

from math import sqrt
from random import Random
from statistics import fmean, pstdev

import pytest

from annotation.study.intervals import wilson_interval
from annotation.study.power import (
    attempts_for,
    clustered_attempts_for,
    clustered_half_width,
    design_effect,
    icc_of,
    wilson_half_width,
)


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


def simulated_share(people: int, versions: int, *, skill: float, ease: float, random: Random) -> float:
    """Return the share solved where everybody tries every version; both skill and ease move the chance."""
    skills = [random.uniform(-skill, skill) for _ in range(people)]
    eases = [random.uniform(-ease, ease) for _ in range(versions)]
    return fmean(random.random() < 0.5 + one + other for one in skills for other in eases)


def test_the_design_effect_of_people_and_versions_is_that_of_a_simulated_study():
    """A uniform on [-a, a] has variance a^2 / 3, so the ICC is that over 0.25, the variance of a try at 0.5."""
    people, versions, skill, ease, random = 10, 10, 0.2, 0.25, Random(1)
    shares = [simulated_share(people, versions, skill=skill, ease=ease, random=random) for _ in range(2000)]
    effect = design_effect(versions, skill**2 / 3 / 0.25, per_version=people, icc_versions=ease**2 / 3 / 0.25)
    assert pstdev(shares) == pytest.approx(sqrt(0.25 * effect / (people * versions)), rel=0.06)


def test_a_plans_half_width_grows_with_alike_attempts_and_shrinks_with_people():
    plan = {"versions": 100, "per_version": 2, "icc": 0.1}
    widths = [clustered_half_width(0.8, annotators=people, **plan) for people in (3, 5, 10, 20)]
    assert widths == sorted(widths, reverse=True)
    assert clustered_half_width(0.8, annotators=10, **{**plan, "icc": 0.0}) < widths[2]
    assert clustered_half_width(0.8, annotators=10, **plan, icc_versions=0.5) > widths[2]
    assert clustered_half_width(0.8, annotators=1, **plan) is None
    # 200 attempts, 20 each: effect 2.9, t(0.975; 9) = 2.262
    assert widths[2] == pytest.approx(2.262 * sqrt(0.16 * 2.9 / 200), abs=0.0005)


def test_the_icc_of_a_sample_comes_near_the_true_one():
    random, found = Random(4), []
    for _ in range(60):
        chances = [random.choice((0.3, 0.9)) for _ in range(40)]  # variance 0.09, mean 0.6: ICC 0.09 / 0.24
        outcomes = [(who, random.random() < chance) for who, chance in enumerate(chances) for _ in range(8)]
        found.append(icc_of(outcomes).value)
    assert fmean(found) == pytest.approx(0.375, abs=0.03)


def test_the_icc_is_one_where_people_always_fare_alike_and_undefined_where_nothing_can_be_said():
    assert icc_of([(1, True), (1, True), (2, False), (2, False)]).value == 1
    assert icc_of([(1, True), (1, False), (2, True), (2, False)]).value == 0
    assert icc_of([(1, True), (2, False)]).value is None
    assert icc_of([(1, True), (1, True), (2, True)]).reason == "all attempts ended alike"
    assert icc_of([]).value is None
