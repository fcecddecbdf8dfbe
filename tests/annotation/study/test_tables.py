"""Tables by example and by annotator."""

import random

import pytest

from annotation.study.tables import by_annotator, by_example
from tests.annotation.study.rows import LEVELS, a_row

ROWS = [
    a_row(2, 1, active_seconds=400.0),
    a_row(2, 2, active_seconds=100.0, difficulty="trivial"),
    a_row(1, 1, solved=False, active_seconds=50.0, difficulty="very hard"),
    a_row(1, 2, excluded_reason="knew it already"),
    a_row(3, 3, closed=False, solved=False, difficulty=None, active_seconds=None),
]


def test_a_line_for_each_version_in_the_order_of_names():
    lines = by_example(ROWS, levels=LEVELS)
    assert [line.example for line in lines] == ["example 1", "example 2", "example 3"]
    assert [(line.solved.count, line.solved.total) for line in lines] == [(0, 1), (2, 2), (0, 0)]
    assert [line.fastest for line in lines] == [None, 100.0, None]
    assert lines[1].difficulty == {"trivial": 1, "requires effort": 1, "very hard": 0}
    assert lines[0].exclusions == {"knew it already": 1}
    assert lines[2].exclusions == {"still open": 1}
    assert lines[2].solved.share is None


def test_two_versions_of_one_example_are_two_lines():
    lines = by_example([a_row(9, example="same"), a_row(8, example="same")], levels=LEVELS)
    assert [line.version_id for line in lines] == [8, 9]


def test_a_line_for_each_annotator_in_the_order_of_pseudonyms():
    lines = by_annotator(ROWS, levels=LEVELS)
    assert [line.pseudonym for line in lines] == ["A-01", "A-02", "A-03"]
    assert [(line.solved.count, line.solved.total) for line in lines] == [(1, 2), (1, 1), (0, 0)]
    assert [line.active_seconds for line in lines] == [450.0, 100.0, 0]
    assert lines[0].geometric_mean.value == pytest.approx(400)
    assert lines[2].geometric_mean.value is None
    assert lines[0].solved.cluster_reason == "one annotator"


def test_the_order_of_rows_does_not_matter():
    shuffled = random.Random(1).sample(ROWS, len(ROWS))
    assert by_example(shuffled, levels=LEVELS) == by_example(ROWS, levels=LEVELS)
    assert by_annotator(shuffled, levels=LEVELS) == by_annotator(ROWS, levels=LEVELS)
