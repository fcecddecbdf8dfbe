"""REPLAY: the time of an attempt as one bar: stretches by kind, runs below, the moment that is shown; svg in percent."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from annotation.clock import Interval, Kind

# Kind to class of site.css, top and height in px: kinds differ by height as well as by colour.
LOOKS = {
    Kind.ACTIVE: ("i-active", 8, 24),
    Kind.READING: ("i-read", 16, 16),
    Kind.IDLE: ("i-idle", 24, 8),
    Kind.WAITING: ("i-wait", 12, 20),
    Kind.PAUSED: ("i-pause", 20, 12),
    Kind.OUTAGE: ("i-out", 8, 24),
}
WORDS = {
    Kind.ACTIVE: "active",
    Kind.READING: "reading",
    Kind.IDLE: "idle",
    Kind.WAITING: "waiting for us",
    Kind.PAUSED: "paused",
    Kind.OUTAGE: "outage",
}
TICKS = 8
ROUND = (60, 120, 300, 600, 900, 1800, 3600, 2 * 3600, 6 * 3600, 24 * 3600)


class Sign(NamedTuple):
    """A sign below the bar, so many seconds after the start."""

    seconds: float
    sign: str


def span_bar(
    intervals: Sequence[Interval], signs: Sequence[Sign], *, total: float, now: float, label: str
) -> SafeString:
    """Return the bar over `total` seconds, with the shown moment at `now` seconds; `label` says it in words."""
    total = max(total, 1.0)
    begin = intervals[0].start if intervals else None

    def at(seconds: float) -> str:
        return f"{min(100.0, max(0.0, 100 * seconds / total)):.2f}"

    drawn = [
        (
            LOOKS[each.kind][0],
            at((each.start - begin).total_seconds()),
            f"{min(100.0, 100 * each.seconds / total):.2f}",
            *LOOKS[each.kind][1:],
        )
        for each in intervals
        if begin
    ]
    rects = format_html_join("", '<rect class="{}" x="{}%" width="{}%" y="{}" height="{}"/>', drawn)
    lines = format_html_join(
        "",
        '<line class="gr" x1="{0}%" x2="{0}%" y1="0" y2="36"/><text class="{1}" x="{0}%" y="64">{2}</text>',
        ((at(tick), "mid-t" if tick else "", f"{tick / 60:g}") for tick in _ticks(total)),
    )
    marks = format_html_join(
        "", '<text class="mid-t" x="{}%" y="46">{}</text>', ((at(each.seconds), each.sign) for each in signs)
    )
    here = format_html(
        '<line class="play" x1="{0}%" x2="{0}%" y1="0" y2="38"/><circle class="play-k" cx="{0}%" cy="2" r="4"/>',
        at(now),
    )
    return format_html(
        '<svg class="span-bar" role="img" aria-label="{}">{}{}{}{}</svg>', label, lines, rects, marks, here
    )


def _ticks(total: float) -> list[int]:
    """Return at most about `TICKS` round moments in seconds, from 0 on, none so near the end that its number is cut."""
    step = next((each for each in ROUND if total / each <= TICKS), ROUND[-1])
    return [tick for tick in range(0, int(total) + 1, step) if tick <= 0.98 * total or not tick]


def key(kind: Kind) -> SafeString:
    """Return the sample of a kind for the legend."""
    return format_html(
        '<svg class="k" aria-hidden="true"><rect class="{}" width="100%" height="100%"/></svg>{}',
        LOOKS[kind][0],
        WORDS[kind],
    )
