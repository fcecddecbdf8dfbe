"""Agreement, against published worked examples; undefined is undefined."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotation.study.agreement import (
    agreement,
    difficulty_agreement,
    gwet_ac1,
    krippendorff_alpha,
    pair_agreement,
)
from tests.annotation.study.rows import LEVELS, a_row

# Krippendorff 2011, section C: four observers (rows), twelve units (columns), a dot for a missing value.


def units(observers):
    return [[label for label in column if label != "."] for column in zip(*observers, strict=True)]


PUBLISHED = units(["123321412...", "1233224125.3", ".3332342251.", "12332441251."])
SCALE = list("12345")
PARADOX = [["yes"] * 3] * 90 + [["yes", "yes", "no"]] * 10


def test_alpha_gives_krippendorffs_published_values():
    assert krippendorff_alpha(PUBLISHED, levels=SCALE, ordinal=False).value == pytest.approx(
        0.743, abs=0.0005
    )
    assert krippendorff_alpha(PUBLISHED, levels=SCALE, ordinal=True).value == pytest.approx(0.815, abs=0.0005)
    assert krippendorff_alpha(PUBLISHED, levels=SCALE, ordinal=True).n == 11


def test_ac1_gives_the_value_of_the_reference_implementation_on_the_same_data():
    assert gwet_ac1(PUBLISHED, levels=SCALE).value == pytest.approx(0.77544, abs=0.000005)


def test_where_nine_of_ten_versions_agree_fully_kappa_fails_and_ac1_does_not():
    counts = Counter(label for labels in PARADOX for label in labels)
    chance = sum((number / counts.total()) ** 2 for number in counts.values())
    equal = pair_agreement(PARADOX).share
    assert (equal - chance) / (1 - chance) == pytest.approx(-0.03, abs=0.005)  # Fleiss' kappa
    assert krippendorff_alpha(PARADOX, levels=["no", "yes"], ordinal=False).value == pytest.approx(
        -0.03, abs=0.005
    )
    assert gwet_ac1(PARADOX, levels=["no", "yes"]).value == pytest.approx(0.93, abs=0.005)


def test_pairs_are_counted_within_versions_rated_twice():
    found = pair_agreement([["a", "a"], ["a", "b"], ["b"], []])
    assert (found.agreeing, found.pairs, found.versions, found.share) == (1, 2, 2, 0.5)
    assert found.wilson is not None
    assert pair_agreement([["a", "a", "b"]]).pairs == 3
    assert pair_agreement([["a", "a", "b"]]).wilson is None


def test_undefined_is_none_with_a_reason():
    nothing = agreement([["trivial"], ["very hard"]], levels=LEVELS)
    for measure in (nothing.alpha_nominal, nothing.alpha_ordinal, nothing.ac1):
        assert (measure.value, measure.n, measure.reason) == (None, 0, "no version was rated twice")
    assert (nothing.percent.share, nothing.percent.wilson) == (None, None)
    uniform = agreement([["trivial", "trivial"]] * 3, levels=LEVELS)
    assert uniform.alpha_nominal.value is uniform.alpha_ordinal.value is None
    assert "the same" in uniform.alpha_ordinal.reason
    assert uniform.ac1.value == 1
    assert "fewer than two levels" in gwet_ac1([["a", "a"]], levels=["a"]).reason


def test_two_annotators_who_choose_one_label_are_no_error():
    assert agreement([["trivial", "trivial"]], levels=LEVELS).percent.share == 1


def test_ordinal_alpha_forgives_near_misses_more_than_far_ones():
    near = [["trivial", "requires effort"], ["very hard", "very hard"], ["trivial", "trivial"]]
    far = [["trivial", "very hard"], ["very hard", "very hard"], ["trivial", "trivial"]]
    near_alpha = krippendorff_alpha(near, levels=LEVELS, ordinal=True).value
    assert near_alpha > krippendorff_alpha(far, levels=LEVELS, ordinal=True).value


def test_difficulty_agreement_leaves_out_what_does_not_count():
    rows = [
        a_row(1, 1),
        a_row(1, 2, difficulty="trivial"),
        a_row(2, 1),
        a_row(2, 2),
        a_row(2, 3, excluded_reason="knew it already", difficulty="very hard"),
        a_row(3, 1),
        a_row(3, 2, closed=False, difficulty=None),
    ]
    found = difficulty_agreement(rows, levels=LEVELS)
    assert (found.percent.agreeing, found.percent.pairs, found.percent.versions) == (1, 2, 2)
    assert found.ac1.n == 2


def test_a_label_outside_the_scale_is_refused():
    with pytest.raises(ValueError, match="not on the scale"):
        agreement([["easy", "easy"]], levels=LEVELS)


@given(st.lists(st.lists(st.sampled_from(LEVELS), max_size=4), max_size=12))
def test_measures_are_at_most_one_or_say_why_not(ratings):
    found = agreement(ratings, levels=LEVELS)
    for measure in (found.alpha_nominal, found.alpha_ordinal, found.ac1):
        assert (measure.value is None) == bool(measure.reason)
        assert measure.value is None or -1.0001 <= measure.value <= 1
