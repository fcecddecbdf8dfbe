"""People beside models: the same versions, paired, and never in one number."""

from __future__ import annotations

import pytest

from annotation.study.beside_models import beside, majority_level, people_on
from examples.evaluation.pass_at_k import Count
from tests.annotation.study.rows import LEVELS, a_row


def test_people_are_counted_at_the_first_and_within_m_submissions_on_these_versions_alone():
    rows = [
        a_row(1, 1),
        a_row(1, 2, solved_at_submission=2),
        a_row(2, 1, solved=False),
        a_row(2, 2, solved=False, excluded_reason="knew it already"),
        a_row(3, 1),
    ]
    found = people_on(rows, {1, 2}, submissions=3)
    assert (found.at_first.count, found.at_first.total) == (1, 3)
    assert [(number, rate.count, rate.total) for number, rate in found.within] == [(2, 2, 3), (3, 2, 3)]
    assert found.versions == 2
    assert found.left_out == {"knew it already": 1}


def test_the_difference_is_paired_over_versions_that_both_sides_met():
    rows = [
        a_row(1, 1),
        a_row(1, 2),
        a_row(2, 1),
        a_row(2, 2, solved=False),
        a_row(3, 1),
        a_row(4, 1, closed=False),
    ]
    counts = {1: Count(10, 5), 2: Count(10, 0), 3: Count(0, 0), 4: Count(10, 10), 5: Count(10, 10)}
    found = beside(rows, counts, [1, 20])
    # Version 1: 1 - 0.5, version 2: 0.5 - 0; 3 has no judged sample, 4 no attempt that counts, 5 none at all.
    assert found.people_less_model.value == pytest.approx(0.5)
    assert (found.people_less_model.n, found.people_less_model.total) == (2, 3)
    (one, first), (twenty, last) = found.figures
    assert (one, first.value, first.n, first.total) == (1, 0.25, 2, 3)
    assert (twenty, last.value) == (20, None)


def test_a_version_stands_at_the_level_that_most_gave_it_and_at_the_harder_of_two():
    trivial, effort, hard = LEVELS
    rows = [
        a_row(1, 1, difficulty=trivial),
        a_row(1, 2, difficulty=trivial),
        a_row(1, 3, difficulty=hard),
        a_row(2, 1, difficulty=trivial),
        a_row(2, 2, difficulty=effort),
        a_row(3, 1, difficulty=None),
    ]
    assert majority_level(rows, LEVELS) == {1: trivial, 2: effort}
