"""The clock against days that are known: pages beat as ours do, people work, reload, switch tabs, sleep, change clocks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from zoneinfo import ZoneInfo

from hypothesis import given, settings
from hypothesis import strategies as st

from annotation.clock import (
    IDLE_LIMITS,
    MAX_SILENCE,
    AttemptLog,
    Beat,
    Kind,
    Outage,
    Pause,
    Wait,
    active_seconds,
    derive_intervals,
    totals,
)

START = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)
PERIOD = 15
SILENCE = MAX_SILENCE.total_seconds()
ZONES = ["Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Asia/Kolkata", "Africa/Casablanca"]


def at(second: float) -> datetime:
    return START + timedelta(seconds=second)


@dataclass
class Page:
    """A page as static/workspace/clock.js is one: a beat on load, every 15 s, and when it is left or looked at again.

    It knows of its own inputs only, by a clock that only goes forward, and forgets them when it is loaded again.
    """

    name: str
    loaded: float
    typed: float | None = None
    visible: bool = True
    beats: list[Beat] = field(default_factory=list)

    def beat(self, second: float) -> None:
        since = None if self.typed is None else round(1000 * (second - self.typed))
        self.beats.append(Beat(at(second), self.name, self.visible, since))

    def live(self, begin: float, end: float, *, types: bool) -> None:
        """Beat from `begin` to `end` by the page's own timer; who `types` does so every second."""
        due = self.loaded + PERIOD * -(-(begin - self.loaded) // PERIOD)
        while due < end:
            if types:
                self.typed = due
            self.beat(due)
            due += PERIOD
        if types:
            self.typed = end

    def turn(self, second: float, *, visible: bool) -> None:
        """Be left, or looked at again."""
        if self.visible != visible:
            self.visible = visible
            self.beat(second)


@dataclass(frozen=True)
class Stretch:
    """What somebody did for so many seconds."""

    kind: str
    seconds: int


def lived(stretches: Sequence[Stretch], idle_limit: int) -> tuple[AttemptLog, float, float]:
    """Return the log of a day, and the least and the most that may be counted of it.

    What is not known to the second is how long after the last beat a laptop fell asleep or we went down, and how long
    before the first one it was over: a beat's period at either end.
    """
    page, pages, now, least, most = Page("0", 0), [], 0.0, 0.0, 0.0
    pauses, waits, outages = [], [], []
    page.beat(0)
    before = ""
    for stretch in stretches:
        end = now + stretch.seconds
        match stretch.kind:
            case "work":
                page.live(now, end, types=True)
                # Who comes back after more than the idle limit is known to type once the page beats again.
                least += stretch.seconds if before in ("", "work") else max(stretch.seconds - PERIOD, 0)
                most += stretch.seconds
            case "read":
                page.live(now, end, types=False)
                most += min(stretch.seconds, idle_limit)
            case "leave":
                page.turn(now, visible=False)
                page.live(now, end, types=False)
                page.turn(end, visible=True)
            case "sleep":
                least -= 2 * PERIOD
                most += stretch.seconds + 2 * PERIOD if stretch.seconds <= SILENCE else 0
            case "reload":
                end = now + min(stretch.seconds, PERIOD)
                pages.append(page)
                page = Page(str(len(pages)), end)
                page.beat(end)
                most += end - now
            case "pause":
                pauses.append(Pause(at(now), at(end)))
                page.live(now, end, types=False)
                most += idle_limit  # going on is a sign of the person
            case "run":
                waits.append(Wait(at(now), at(end)))
                page.live(now, end, types=False)
                most += idle_limit  # so is asking for a run
            case "outage":  # no beat arrives, as in a sleep
                outages.append(Outage(at(now), at(end)))
                least -= 2 * PERIOD
        now, before = end, stretch.kind
    page.beat(now)
    beats = [beat for each in (*pages, page) for beat in each.beats]
    log = AttemptLog(START, at(now), beats, pauses, waits, outages)
    return log, max(least, 0.0), most + idle_limit  # opening the attempt is a sign, too


KINDS = ["work", "read", "leave", "sleep", "reload", "pause", "run", "outage"]
days = st.lists(st.builds(Stretch, st.sampled_from(KINDS), st.integers(1, 900)), min_size=1, max_size=10)


@settings(max_examples=200, deadline=None)
@given(days, st.sampled_from(IDLE_LIMITS))
def test_what_is_counted_of_a_day_is_the_work_and_no_more_than_an_idle_limit_after_each_sign(day, idle_limit):
    log, least, most = lived(day, idle_limit)
    counted = active_seconds(derive_intervals(log, idle_limit=idle_limit))
    assert least - 1e-6 <= counted <= most + 1e-6


@settings(max_examples=100, deadline=None)
@given(days, st.sampled_from(IDLE_LIMITS))
def test_no_second_of_sleep_outage_queue_or_start_up_counts(day, idle_limit):
    log, _, _ = lived(day, idle_limit)
    counted = [
        i for i in derive_intervals(log, idle_limit=idle_limit) if i.kind in (Kind.ACTIVE, Kind.READING)
    ]
    silent = [
        pair
        for pair in pairwise(sorted({START, *(b.at for b in log.beats)}))
        if pair[1] - pair[0] > MAX_SILENCE
    ]
    asked = {moment for p in log.pauses for moment in (p.start, p.end)} | {wait.start for wait in log.waits}
    for interval in counted:
        for span in (*log.waits, *log.outages):
            assert interval.end <= span.start or interval.start >= span.end
        for begin, end in silent:
            if not any(begin <= moment <= end for moment in asked):  # nothing at all was heard in it
                assert interval.end <= begin or interval.start >= end


@settings(max_examples=100, deadline=None)
@given(st.integers(60, 3000), st.lists(st.tuples(st.integers(1, 3000), st.integers(0, 14)), max_size=6))
def test_reloads_while_somebody_types_neither_take_nor_add_a_second(length, reloads):
    page, pages, now = Page("0", 0), [], 0.0
    page.beat(0)
    for moment, gap in sorted(reloads):
        if not now + 1 < moment < length - gap - 1:
            continue
        page.live(now, moment, types=True)
        page.beat(moment)  # a page that is left beats once more
        pages.append(page)
        now = moment + gap
        page = Page(str(len(pages)), now)
        page.beat(now)
    page.live(now, length, types=True)
    beats = [beat for each in (*pages, page) for beat in each.beats]
    assert active_seconds(derive_intervals(AttemptLog(START, at(length), beats))) == length


@settings(max_examples=100, deadline=None)
@given(st.integers(60, 3000), st.lists(st.integers(1, 3000), max_size=8), st.integers(0, 14), st.booleans())
def test_two_tabs_by_turns_or_side_by_side_are_one_person(length, switches, offset, beside):
    """By turns the other tab is hidden; side by side both are seen, and only one is typed into."""
    front, back, now = Page("a", 0), Page("b", -offset, visible=beside), 0.0
    for page in (front, back):
        page.beat(0)
    for moment in (*sorted({each for each in switches if each < length}), length):
        front.live(now, moment, types=True)
        back.live(now, moment, types=False)
        front, back, now = back, front, float(moment)
        if not beside and moment < length:
            back.turn(moment, visible=False)
            front.turn(moment, visible=True)
    log = AttemptLog(START, at(length), [*front.beats, *back.beats])
    assert active_seconds(derive_intervals(log)) == length
    assert sum(totals(derive_intervals(log)).values()) == length


@settings(max_examples=150, deadline=None)
@given(days, st.lists(st.none() | st.integers(0, 2**31 - 1), min_size=1, max_size=20))
def test_whatever_a_page_claims_of_its_inputs_no_more_counts_than_it_was_seen(day, claims):
    """A computer's clock set forward or back, or a page that lies: only the server's stamps bound what can be counted."""
    log, _, _ = lived(day, 120)
    honest = [beat.ms_since_input for beat in log.beats]
    lying = [replace(beat, ms_since_input=claims[n % len(claims)]) for n, beat in enumerate(log.beats)]
    always = [replace(beat, ms_since_input=0) for beat in log.beats]
    found, bound = (active_seconds(derive_intervals(replace(log, beats=beats))) for beats in (lying, always))
    assert len(honest) == len(lying)
    assert 0 <= found <= bound + 120 * (1 + len(log.pauses) * 2 + len(log.waits))
    assert found <= (log.ended_at - log.started_at).total_seconds()


@settings(max_examples=100, deadline=None)
@given(days, st.lists(st.integers(-3, 3), min_size=1, max_size=10))
def test_a_server_clock_that_is_corrected_by_seconds_makes_no_time(day, steps):
    """NTP, or two web processes that differ: beats are stamped a little early or late, some out of order."""
    log, _, _ = lived(day, 120)
    moved = [
        replace(beat, at=max(START, beat.at + timedelta(seconds=steps[n % len(steps)])))
        for n, beat in enumerate(log.beats)
    ]
    intervals = derive_intervals(replace(log, beats=moved))
    length = (log.ended_at - log.started_at).total_seconds()
    assert sum(totals(intervals).values()) == length
    assert 0 <= active_seconds(intervals) <= length


def moments(log: AttemptLog) -> Iterator[datetime]:
    yield log.started_at
    yield from (beat.at for beat in log.beats)


@settings(max_examples=100, deadline=None)
@given(
    days,
    st.sampled_from(ZONES),
    # an hour before clocks go forward or back: Berlin, New York, Lord Howe (by half an hour)
    st.sampled_from(
        ["2026-03-29T00:30", "2026-10-25T00:30", "2026-03-08T06:30", "2026-11-01T05:30", "2026-04-04T14:30"]
    ),
)
def test_a_day_on_which_clocks_change_counts_as_any_other_in_every_zone(day, zone, begin):
    log, _, _ = lived(day, 120)
    shift = datetime.fromisoformat(begin).replace(tzinfo=UTC) - START
    there = ZoneInfo(zone)

    def moved(moment: datetime) -> datetime:
        return (moment + shift).astimezone(there)

    local = AttemptLog(
        moved(log.started_at),
        moved(log.ended_at),
        [replace(beat, at=moved(beat.at)) for beat in log.beats],
        [Pause(moved(pause.start), moved(pause.end)) for pause in log.pauses],
        [Wait(moved(wait.start), moved(wait.end)) for wait in log.waits],
        [Outage(moved(outage.start), moved(outage.end)) for outage in log.outages],
    )
    plain = [(i.kind, i.start + shift, i.end + shift) for i in derive_intervals(log)]
    assert [(i.kind, i.start, i.end) for i in derive_intervals(local)] == plain
    assert all(moment.tzinfo for moment in moments(local))
