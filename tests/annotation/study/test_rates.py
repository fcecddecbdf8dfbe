"""Rates of a study: what counts, out of what, and what was left out."""

import pytest

from annotation.study.rates import study_rates
from annotation.study.rows import EXTRA, INTERRUPTED, STILL_OPEN, leave_out_protocol
from tests.annotation.study.rows import LEVELS, a_row


def rates(rows, submissions=1):
    return study_rates(rows, submissions=submissions, levels=LEVELS)


def of(figure):
    return figure.rate.count, figure.rate.total


def test_attempts_and_versions_have_their_own_denominators():
    rows = [
        a_row(1, 1),
        a_row(1, 2, solved=False),
        a_row(2, 1),
        a_row(2, 2),
        a_row(3, 1, solved=False),
        a_row(3, 2, solved=False),
    ]
    found = rates(rows)
    assert of(found.solved) == (3, 6)
    assert of(found.versions_by_one) == (2, 3)
    assert of(found.versions_by_majority) == (1, 3)
    assert found.versions_by_one.denominator == "versions with at least one closed attempt"


def test_half_is_no_majority_and_two_of_three_is():
    halves = rates([a_row(1, 1), a_row(1, 2, solved=False)])
    assert of(halves.versions_by_majority) == (0, 1)
    thirds = rates([a_row(1, 1), a_row(1, 2), a_row(1, 3, solved=False)])
    assert of(thirds.versions_by_majority) == (1, 1)


def test_versions_have_a_wilson_interval_only_and_say_why():
    figure = rates([a_row(1, 1), a_row(1, 2), a_row(2, 1, solved=False)]).versions_by_one
    assert figure.rate.wilson is not None
    assert figure.rate.cluster is None
    assert "share" in figure.rate.cluster_reason


def test_later_submissions_are_within_m_and_not_first():
    rows = [a_row(1, 1), a_row(1, 2, solved_at_submission=2), a_row(2, 1, solved_at_submission=3)]
    found = rates([*rows, a_row(2, 2, solved=False)], submissions=3)
    assert of(found.solved_at_first) == (1, 4)
    assert [of(figure) for figure in found.within] == [(2, 4), (3, 4)]
    assert [figure.name for figure in found.within] == [
        "solved within 2 submissions",
        "solved within 3 submissions",
    ]
    assert rates(rows).within == ()


def test_what_is_left_out_is_counted_by_reason_and_stays_out_of_every_figure():
    rows = [
        a_row(1, 1),
        a_row(2, 1, closed=False, solved=False, difficulty=None),
        a_row(3, 1, solved=False, interrupted=True),
        a_row(4, 1, excluded_reason="knew it already"),
        a_row(5, 1, excluded_reason="knew it already", extra=True),
        a_row(6, 1, extra=True),
        a_row(7, 1, interrupted=True),
    ]
    found = rates(rows)
    assert of(found.solved) == (2, 2)
    assert of(found.versions_by_one) == (2, 2)
    expected = {EXTRA: 1, INTERRUPTED: 1, "knew it already": 2, STILL_OPEN: 1}
    for figure in (found.solved, found.solved_at_first, found.versions_by_majority, *found.difficulty):
        assert figure.exclusions == expected
        assert list(figure.exclusions) == sorted(expected)
    assert figure.rate.total + sum(figure.exclusions.values()) == len(rows)


def test_effort_comes_first_and_every_level_of_the_scale_is_there():
    rows = [
        a_row(1, 1),
        a_row(1, 2, difficulty="trivial"),
        a_row(2, 1, solved=False),
        a_row(2, 2, difficulty=None),
    ]
    shares = rates(rows).difficulty
    assert [figure.name for figure in shares] == ["requires effort", "trivial", "very hard"]
    assert [of(figure) for figure in shares] == [(2, 3), (1, 3), (0, 3)]
    assert shares[0].exclusions == {"no difficulty given": 1}


def test_a_scale_without_the_published_wording_keeps_its_order():
    figures = study_rates([a_row(difficulty="b")], submissions=1, levels=["a", "b"]).difficulty
    assert [figure.name for figure in figures] == ["a", "b"]


def test_a_rating_outside_the_scale_is_refused():
    with pytest.raises(ValueError, match="not on the scale"):
        rates([a_row(difficulty="easy")])


def test_no_rows_give_no_shares_and_no_errors():
    found = rates([])
    assert found.solved.rate.share is None
    assert found.versions_by_one.rate.wilson is None
    assert len(found.difficulty) == 3


def test_the_protocol_keeps_open_and_interrupted_attempts_for_the_time_figures():
    kept = leave_out_protocol([a_row(closed=False), a_row(interrupted=True), a_row(extra=True)])
    assert (len(kept.rows), kept.exclusions) == (2, {EXTRA: 1})
