"""TIME: intervals of an attempt, derived from beats; pure.

The page sends a beat every 15 s and the server stamps it. Rows are only added, there is no running total, so
reloads, second tabs, sleep and wrong clocks cannot double time. Moments of any zone are compared in UTC.

How a moment is read, the first that holds:
- paused: the person pressed pause;
- outage: we were down, or no beat came for more than ``MAX_SILENCE`` (a laptop asleep, a lost connection, a
  hidden tab throttled by its browser): nobody is known to be there;
- waiting: one of our executions for this attempt was queued or running;
- idle: no tab was visible, or ``idle_limit`` seconds had gone by since the last sign of the person;
- active: after the first input; reading: before it.
Signs of the person are inputs reported by beats, opening the attempt, a pause or its end, and asking for an
execution. The first ``idle_limit`` seconds after a sign count, so a longer limit never yields less. Against
the limit on active time count active and reading: the rest is not the solver's, or not work.
"""

from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence, Set
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from itertools import pairwise, zip_longest

BEAT_PERIOD = timedelta(seconds=15)
MAX_SILENCE = 2 * BEAT_PERIOD + timedelta(seconds=5)  # one beat may be lost, and each may be late
PAUSE_LIMIT = timedelta(hours=24)
IDLE_LIMIT = 120
IDLE_LIMITS = (60, 120, 300)


class Kind(StrEnum):
    """What an interval was, strongest first: where two hold, the earlier one names it."""

    PAUSED = "paused"
    OUTAGE = "outage"
    WAITING = "waiting"
    IDLE = "idle"
    ACTIVE = "active"
    READING = "reading"


@dataclass(frozen=True, slots=True)
class Beat:
    """A sign of life of a tab, stamped by the server; ``ms_since_input`` is None before the first input."""

    at: datetime
    tab: str
    visible: bool
    ms_since_input: int | None


@dataclass(frozen=True, slots=True)
class Pause:
    """The person paused at ``start``; ``end`` is None while it lasts."""

    start: datetime
    end: datetime | None


@dataclass(frozen=True, slots=True)
class Wait:
    """An execution of this attempt from queued to finished; ``end`` is None until then."""

    start: datetime
    end: datetime | None


@dataclass(frozen=True, slots=True)
class Outage:
    """A span in which the server knows that it was not serving."""

    start: datetime
    end: datetime


@dataclass(frozen=True, slots=True)
class AttemptLog:
    """Everything the clock may look at. ``ended_at`` is None while the attempt is open."""

    started_at: datetime
    ended_at: datetime | None = None
    beats: Sequence[Beat] = ()
    pauses: Sequence[Pause] = ()
    waits: Sequence[Wait] = ()
    outages: Sequence[Outage] = ()


@dataclass(frozen=True, slots=True)
class Interval:
    """A span of one kind, in UTC, ``start`` before ``end``."""

    kind: Kind
    start: datetime
    end: datetime

    @property
    def seconds(self) -> float:
        """Return the length in seconds."""
        return (self.end - self.start).total_seconds()


Span = tuple[datetime, datetime]


def derive_intervals(log: AttemptLog, *, idle_limit: int = IDLE_LIMIT) -> tuple[Interval, ...]:
    """Return the intervals from start to end, in order, without gap or overlap, neighbours of different kind.

    The end is ``ended_at``, or the last beat of an open attempt; ``idle_limit`` is in seconds. Raises
    ValueError for a moment without time zone, an end before the start, an idle limit that is not positive.
    """
    if idle_limit <= 0:
        raise ValueError(f"An idle limit of {idle_limit} s would leave nothing active.")
    log = _in_utc(log)
    start = log.started_at
    end = log.ended_at or max((start, *(beat.at for beat in log.beats)))
    if end < start:
        raise ValueError(f"The attempt ends at {end}, before its start at {start}.")
    intervals: list[Interval] = []
    for kind, (begin, until) in _classified(_facts(log, end, timedelta(seconds=idle_limit)), start, end):
        if intervals and intervals[-1].kind == kind:
            begin = intervals.pop().start
        intervals.append(Interval(kind, begin, until))
    return tuple(intervals)


def totals(intervals: Iterable[Interval]) -> dict[Kind, float]:
    """Return the seconds of each of the six kinds, 0.0 where there were none."""
    sums = dict.fromkeys(Kind, timedelta())
    for interval in intervals:
        sums[interval.kind] += interval.end - interval.start
    return {kind: length.total_seconds() for kind, length in sums.items()}


def active_seconds(intervals: Iterable[Interval]) -> float:
    """Return the seconds that count against the limit on active time: active plus reading."""
    seconds = totals(intervals)
    return seconds[Kind.ACTIVE] + seconds[Kind.READING]


def sensitivity(log: AttemptLog, *, limits: Sequence[int] = IDLE_LIMITS) -> dict[int, float]:
    """Return the active seconds under each idle limit, which never fall as the limit grows."""
    return {limit: active_seconds(derive_intervals(log, idle_limit=limit)) for limit in limits}


def pause_gives_slot_back(pauses: Iterable[Pause], *, now: datetime) -> bool:
    """Return whether a pause has lasted more than 24 hours, so that the slot goes to somebody else."""
    return any(_utc(pause.end or now) - _utc(pause.start) > PAUSE_LIMIT for pause in pauses)


class Fact(StrEnum):
    """What holds during a span; the kind of a moment follows from the facts that hold there."""

    PAUSED = "paused"
    DOWN = "down"
    PRESENT = "present"
    WAITING = "waiting"
    VISIBLE = "visible"
    RECENT = "recent sign"
    BEGUN = "first input seen"


def _facts(log: AttemptLog, end: datetime, idle_limit: timedelta) -> Iterator[tuple[Fact, Span]]:
    """Yield each fact with a span in which it holds; spans may overlap and reach past the attempt."""
    since = [
        (b.at, timedelta(milliseconds=b.ms_since_input)) for b in log.beats if b.ms_since_input is not None
    ]
    inputs = [at - ago for at, ago in since if at - ago >= log.started_at]
    requests = [log.started_at, *(wait.start for wait in log.waits)]
    requests += [at for pause in log.pauses for at in (pause.start, pause.end) if at]
    known = sorted({*requests, *(beat.at for beat in log.beats), *([log.ended_at] if log.ended_at else [])})
    yield from ((Fact.PAUSED, (pause.start, pause.end or end)) for pause in log.pauses)
    yield from ((Fact.DOWN, (outage.start, outage.end)) for outage in log.outages)
    yield from ((Fact.WAITING, (wait.start, wait.end or end)) for wait in log.waits)
    yield from ((Fact.PRESENT, pair) for pair in pairwise(known) if pair[1] - pair[0] <= MAX_SILENCE)
    yield from ((Fact.VISIBLE, span) for span in _visible(log.beats, requests))
    yield from ((Fact.RECENT, (sign, sign + idle_limit)) for sign in (*inputs, *requests))
    if begun := [*inputs, *(wait.start for wait in log.waits)]:
        yield Fact.BEGUN, (min(begun), end)


def _visible(beats: Sequence[Beat], requests: Sequence[datetime]) -> Iterator[Span]:
    """Yield where a tab was visible: as a beat says until its tab's next one, at most ``MAX_SILENCE``.

    Who asks for something sees the page, until the next beat of any tab says more.
    """
    moments = sorted({beat.at for beat in beats})
    for request in requests:
        following = bisect_right(moments, request)
        limit = request + MAX_SILENCE
        yield request, min(moments[following], limit) if following < len(moments) else limit
    by_tab: dict[str, list[Beat]] = {}
    for beat in sorted(beats, key=lambda beat: (beat.at, beat.visible)):
        by_tab.setdefault(beat.tab, []).append(beat)
    for tab in by_tab.values():
        for beat, following_beat in zip_longest(tab, tab[1:]):
            limit = beat.at + MAX_SILENCE
            if beat.visible:
                yield beat.at, min(following_beat.at, limit) if following_beat else limit


def _classified(
    facts: Iterable[tuple[Fact, Span]], start: datetime, end: datetime
) -> Iterator[tuple[Kind, Span]]:
    """Yield the kind of each stretch between two moments at which a fact begins or ends, in order."""
    edges: dict[datetime, Counter[Fact]] = {start: Counter(), end: Counter()}
    for fact, (begin, until) in _merged(facts):
        begin, until = max(begin, start), min(until, end)
        if begin < until:
            edges.setdefault(begin, Counter())[fact] += 1
            edges.setdefault(until, Counter())[fact] -= 1
    holding: Counter[Fact] = Counter()
    for begin, until in pairwise(sorted(edges)):
        for fact, change in edges[begin].items():
            holding[fact] += change
        yield _kind({fact for fact, number in holding.items() if number}), (begin, until)


def _merged(facts: Iterable[tuple[Fact, Span]]) -> Iterator[tuple[Fact, Span]]:
    """Yield the same with spans of one fact that touch or overlap made one: an hour of beats leaves a few of hundreds."""
    by_fact: dict[Fact, list[Span]] = {}
    for fact, span in facts:
        by_fact.setdefault(fact, []).append(span)
    for fact, spans in by_fact.items():
        spans.sort()
        begin, until = spans[0]
        for next_begin, next_until in spans:
            if next_begin > until:
                yield fact, (begin, until)
                begin, until = next_begin, next_until
            until = max(until, next_until)
        yield fact, (begin, until)


def _kind(facts: Set[Fact]) -> Kind:
    """Return the strongest kind the facts allow."""
    if Fact.PAUSED in facts:
        return Kind.PAUSED
    if Fact.DOWN in facts or Fact.PRESENT not in facts:
        return Kind.OUTAGE
    if Fact.WAITING in facts:
        return Kind.WAITING
    if not {Fact.VISIBLE, Fact.RECENT} <= facts:
        return Kind.IDLE
    return Kind.ACTIVE if Fact.BEGUN in facts else Kind.READING


def _in_utc(log: AttemptLog) -> AttemptLog:
    """Return the log with every moment in UTC, and without what came after its end or before its start."""
    start, end = _utc(log.started_at), log.ended_at and _utc(log.ended_at)
    beats = [replace(beat, at=_utc(beat.at)) for beat in log.beats]
    return AttemptLog(
        start,
        end,
        [beat for beat in beats if start <= beat.at and (end is None or beat.at <= end)],
        [Pause(_utc(pause.start), pause.end and _utc(pause.end)) for pause in log.pauses],
        [Wait(_utc(wait.start), wait.end and _utc(wait.end)) for wait in log.waits],
        [Outage(_utc(outage.start), _utc(outage.end)) for outage in log.outages],
    )


def _utc(moment: datetime) -> datetime:
    if moment.tzinfo is None:
        raise ValueError(f"{moment} has no time zone.")
    return moment.astimezone(UTC)
