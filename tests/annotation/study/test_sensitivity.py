"""Figures of time under other idle limits."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from annotation.study.sensitivity import under_limits
from tests.annotation.study.rows import a_row


def timed(annotator: int, shortest: float, middle: float, longest: float, **changes):
    return a_row(annotator, annotator, counted_under={60: shortest, 120: middle, 300: longest}, **changes)


def test_the_same_attempts_under_three_limits():
    rows = [timed(1, 50, 100, 200), timed(2, 60, 80, 90), timed(3, 10, 20, 30, solved=False)]
    found = under_limits(rows, idle_limits=(60, 120, 300), limit=150)
    assert [line.counted_seconds for line in found] == [120, 200, 320]
    assert [line.median.value for line in found] == [60, 100, 200]
    assert [line.geometric_mean.value for line in found] == pytest.approx([54.77, 89.44, 134.16], abs=0.01)
    assert [(line.solved_in_time.count, line.solved_in_time.total) for line in found] == [
        (2, 3),
        (2, 3),
        (1, 3),
    ]


def test_what_is_left_out_stays_out_and_what_has_no_time_counts_as_it_was_solved():
    rows = [timed(1, 50, 100, 200, excluded_reason="knew it already"), a_row(2, 2, active_seconds=None)]
    (line,) = under_limits(rows, idle_limits=(60,), limit=40)
    assert (line.counted_seconds, line.median.value) == (0, None)
    assert (line.solved_in_time.count, line.solved_in_time.total) == (1, 1)


counts = st.tuples(*[st.floats(0, 4000)] * 3).map(sorted)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(counts, st.booleans()), max_size=8))
def test_a_longer_idle_limit_never_shows_less_time_nor_more_solved_in_time(drawn):
    rows = [timed(at, *times, solved=solved) for at, (times, solved) in enumerate(drawn)]
    found = under_limits(rows, idle_limits=(60, 120, 300), limit=1800)
    seconds = [line.counted_seconds for line in found]
    solved = [line.solved_in_time.count for line in found]
    assert seconds == sorted(seconds)
    assert solved == sorted(solved, reverse=True)
