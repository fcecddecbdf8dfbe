"""The clock: intervals from beats, by example and by property."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from annotation.clock import (
    MAX_SILENCE,
    AttemptLog,
    Beat,
    Interval,
    Kind,
    Outage,
    Pause,
    Wait,
    active_seconds,
    derive_intervals,
    pause_gives_slot_back,
    sensitivity,
    totals,
)

START = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)


def at(seconds: float) -> datetime:
    return START + timedelta(seconds=seconds)


def beats(first, last, *, typed_at=None, tab="a", visible=True, step=15):
    """Beats every 15 s; ``typed_at`` is the second of the last input, which beats before it do not know of."""
    return [
        Beat(at(s), tab, visible, None if typed_at is None or s < typed_at else (s - typed_at) * 1000)
        for s in range(first, last + 1, step)
    ]


def told(intervals):
    """Intervals as (kind, first second, last second)."""
    return [
        (i.kind.value, (i.start - START).total_seconds(), (i.end - START).total_seconds()) for i in intervals
    ]


def seconds(log, kind, **options):
    return totals(derive_intervals(log, **options))[kind]


def test_reading_ends_at_the_first_input_and_activity_after_the_idle_limit():
    log = AttemptLog(START, beats=beats(0, 300, typed_at=60))
    assert told(derive_intervals(log)) == [("reading", 0, 60), ("active", 60, 180), ("idle", 180, 300)]


def test_reading_without_any_sign_becomes_idle_at_the_limit():
    log = AttemptLog(START, beats=beats(0, 300))
    assert told(derive_intervals(log)) == [("reading", 0, 120), ("idle", 120, 300)]


def test_an_open_attempt_closes_at_its_last_beat():
    assert derive_intervals(AttemptLog(START, beats=beats(0, 45)))[-1].end == at(45)
    assert derive_intervals(AttemptLog(START)) == ()


def test_a_closed_laptop_is_an_outage_from_the_last_beat_to_the_next():
    log = AttemptLog(START, beats=[*beats(0, 60, typed_at=0), *beats(600, 660, typed_at=600)])
    assert told(derive_intervals(log)) == [("active", 0, 60), ("outage", 60, 600), ("active", 600, 660)]


def test_one_lost_beat_is_forgiven():
    log = AttemptLog(START, at(60), beats=beats(0, 60, typed_at=0, step=30))
    assert told(derive_intervals(log)) == [("active", 0, 60)]


def test_two_lost_beats_in_a_row_are_an_outage():
    log = AttemptLog(START, at(90), beats=beats(0, 90, typed_at=0, step=45))
    assert told(derive_intervals(log)) == [("outage", 0, 90)]


def test_an_input_before_the_attempt_began_does_not_end_reading():
    log = AttemptLog(START, at(30), beats=[Beat(at(s), "a", True, 60_000) for s in (0, 15, 30)])
    assert told(derive_intervals(log)) == [("reading", 0, 30)]


def test_of_two_beats_in_one_instant_the_visible_one_holds_in_whatever_order():
    pair = [Beat(at(15), "a", visible, 0) for visible in (True, False)]
    for first, second in (pair, pair[::-1]):
        log = AttemptLog(START, at(30), beats=[first, second, Beat(at(30), "a", True, 0)])
        assert told(derive_intervals(log)) == [("reading", 0, 15), ("active", 15, 30)]


def test_the_end_of_an_attempt_long_after_its_last_beat_is_not_work():
    log = AttemptLog(START, at(3600), beats=beats(0, 60, typed_at=0))
    assert told(derive_intervals(log)) == [("active", 0, 60), ("outage", 60, 3600)]


def test_a_submission_shortly_after_the_last_beat_counts_up_to_the_submission():
    log = AttemptLog(START, at(70), beats=beats(0, 60, typed_at=0))
    assert told(derive_intervals(log)) == [("active", 0, 70)]


def test_a_pause_is_not_active_though_beats_go_on():
    log = AttemptLog(START, at(120), beats(0, 120, typed_at=0), pauses=[Pause(at(30), at(90))])
    assert told(derive_intervals(log)) == [("active", 0, 30), ("paused", 30, 90), ("active", 90, 120)]


def test_a_pause_without_beats_stays_a_pause_and_resuming_is_a_sign_of_the_person():
    log = AttemptLog(
        START,
        at(4000),
        [*beats(0, 60, typed_at=0), *beats(3645, 4000, typed_at=0)],
        pauses=[Pause(at(70), at(3640))],
    )
    assert told(derive_intervals(log)) == [
        ("active", 0, 70),
        ("paused", 70, 3640),
        ("active", 3640, 3760),
        ("idle", 3760, 4000),
    ]


def test_an_open_pause_lasts_to_the_end():
    log = AttemptLog(START, at(900), beats(0, 900, typed_at=0), pauses=[Pause(at(30), None)])
    assert told(derive_intervals(log)) == [("active", 0, 30), ("paused", 30, 900)]


def test_waiting_for_the_runner_is_not_the_persons_time():
    log = AttemptLog(
        START, at(90), beats(0, 90, typed_at=0), waits=[Wait(at(20), at(50)), Wait(at(40), at(55))]
    )
    assert told(derive_intervals(log)) == [("active", 0, 20), ("waiting", 20, 55), ("active", 55, 90)]


def test_an_outage_of_ours_outranks_waiting_and_a_pause_outranks_both():
    log = AttemptLog(
        START,
        at(90),
        beats(0, 90, typed_at=0),
        pauses=[Pause(at(50), at(60))],
        waits=[Wait(at(20), at(80))],
        outages=[Outage(at(40), at(70))],
    )
    assert [kind for kind, _, _ in told(derive_intervals(log))] == [
        "active",
        "waiting",
        "outage",
        "paused",
        "outage",
        "waiting",
        "active",
    ]


def test_a_hidden_page_is_idle_until_it_is_seen_again():
    log = AttemptLog(
        START,
        beats=[
            *beats(0, 30, typed_at=0),
            *beats(45, 75, typed_at=0, visible=False),
            *beats(90, 105, typed_at=90),
        ],
    )
    assert told(derive_intervals(log)) == [("active", 0, 45), ("idle", 45, 90), ("active", 90, 105)]


def test_a_second_tab_left_in_the_background_hides_nothing_and_doubles_nothing():
    front = beats(0, 300, typed_at=300, step=15)
    typing = [replace(beat, ms_since_input=1000) for beat in front]
    behind = beats(7, 300, tab="b", visible=False)
    assert seconds(AttemptLog(START, at(300), [*typing, *behind]), Kind.IDLE) == 0
    assert active_seconds(derive_intervals(AttemptLog(START, at(300), [*typing, *behind]))) == 300


def test_a_reload_forgets_no_input():
    before, after = beats(0, 60, typed_at=50), beats(65, 155, tab="after the reload")
    log = AttemptLog(START, at(155), [*before, *after])
    assert told(derive_intervals(log)) == [("reading", 0, 50), ("active", 50, 155)]


def test_summer_time_adds_and_takes_no_hour():
    berlin = ZoneInfo("Europe/Berlin")
    start = datetime(2026, 3, 29, 1, 59, 50, tzinfo=berlin)
    end = datetime(2026, 3, 29, 3, 0, 10, tzinfo=berlin)
    intervals = derive_intervals(AttemptLog(start, end))
    assert [i.seconds for i in intervals] == [20.0]
    assert intervals[0].start.tzinfo is UTC


def test_sensitivity_gives_the_three_limits():
    log = AttemptLog(START, at(600), beats(0, 600, typed_at=0))
    assert sensitivity(log) == {60: 60.0, 120: 120.0, 300: 300.0}


@pytest.mark.parametrize(("hours", "given_back"), [(23.9, False), (24, False), (24.1, True)])
def test_only_a_pause_beyond_a_day_gives_the_slot_back(hours, given_back):
    now = START + timedelta(hours=hours)
    assert pause_gives_slot_back([Pause(START, None)], now=now) is given_back


def test_nonsense_is_refused():
    with pytest.raises(ValueError, match="no time zone"):
        derive_intervals(AttemptLog(datetime(2026, 3, 2)))
    with pytest.raises(ValueError, match="before its start"):
        derive_intervals(AttemptLog(START, at(-1)))
    with pytest.raises(ValueError, match="idle limit"):
        derive_intervals(AttemptLog(START), idle_limit=0)


offsets = st.integers(-60_000, 2_000_000).map(lambda ms: START + timedelta(milliseconds=ms))
spans = st.tuples(offsets, st.integers(1, 400_000)).map(lambda p: (p[0], p[0] + timedelta(milliseconds=p[1])))


@st.composite
def logs(draw):
    """Any log: beats in any order, from up to three tabs, spans that overlap and reach past both ends."""
    a_beat = st.builds(
        Beat, offsets, st.sampled_from("abc"), st.booleans(), st.none() | st.integers(0, 900_000)
    )
    steady = beats(0, draw(st.integers(0, 900)), typed_at=draw(st.none() | st.integers(0, 900)))
    return AttemptLog(
        START,
        draw(st.none() | st.integers(0, 2_000).map(at)),
        steady + draw(st.lists(a_beat, max_size=12)),
        [Pause(*span) for span in draw(st.lists(spans, max_size=3))],
        [Wait(*span) for span in draw(st.lists(spans, max_size=3))],
        [Outage(*span) for span in draw(st.lists(spans, max_size=3))],
    )


@settings(max_examples=200, deadline=None)
@given(logs())
def test_intervals_cover_the_attempt_exactly_without_overlap(log):
    intervals = derive_intervals(log)
    end = log.ended_at or max(START, *(beat.at for beat in log.beats))
    if end == START:
        assert intervals == ()
        return
    assert (intervals[0].start, intervals[-1].end) == (START, end)
    for one, two in pairwise(intervals):
        assert one.end == two.start
        assert one.kind != two.kind
    assert all(i.start < i.end for i in intervals)
    assert sum(totals(intervals).values()) == pytest.approx((end - START).total_seconds())


@settings(max_examples=100, deadline=None)
@given(logs(), st.randoms())
def test_the_order_of_beats_and_repeated_beats_do_not_matter(log, random):
    shuffled = list(log.beats) * 2
    random.shuffle(shuffled)
    assert derive_intervals(replace(log, beats=shuffled)) == derive_intervals(log)


@settings(max_examples=100, deadline=None)
@given(logs())
def test_the_same_beats_from_a_second_tab_change_nothing(log):
    twins = [replace(beat, tab=beat.tab + "'") for beat in log.beats]
    assert derive_intervals(replace(log, beats=[*log.beats, *twins])) == derive_intervals(log)


@settings(max_examples=100, deadline=None)
@given(logs())
def test_a_longer_idle_limit_never_yields_less_active_time(log):
    at_limits = sensitivity(log, limits=(1, 30, 60, 120, 300, 10_000))
    assert list(at_limits.values()) == sorted(at_limits.values())


@settings(max_examples=100, deadline=None)
@given(logs())
def test_no_active_moment_lies_in_a_pause_an_outage_or_a_wait(log):
    for interval in derive_intervals(log):
        if interval.kind in (Kind.ACTIVE, Kind.READING, Kind.IDLE):
            for span in (*log.pauses, *log.outages, *log.waits):
                assert interval.end <= span.start or interval.start >= span.end


@settings(max_examples=100, deadline=None)
@given(logs())
def test_every_active_stretch_has_a_sign_of_presence_nearby(log):
    moments = [START, log.ended_at, *(beat.at for beat in log.beats)]
    moments += [m for pause in log.pauses for m in (pause.start, pause.end)]
    moments += [wait.start for wait in log.waits]
    for interval in derive_intervals(log):
        if interval.kind in (Kind.ACTIVE, Kind.READING):
            assert any(m and abs(m - interval.start) <= MAX_SILENCE for m in moments)


def test_two_hundred_hours_of_beats_are_one_pass():
    log = AttemptLog(START, beats=beats(0, 200 * 3600, typed_at=0))
    assert isinstance(derive_intervals(log)[0], Interval)
