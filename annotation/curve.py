"""FIGURES: the curve of time to solve as svg, positions in per cent, and the table of the same figures."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from annotation.study.intervals import Interval
from annotation.study.times import CurvePoint, TimeToSolve

WIDTH = 300
STEPS = (1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200)
MOST_TICKS = 6


@dataclass(frozen=True, slots=True)
class Mark:
    """The curve at one moment; behind a censored attempt shares are no counts any more, and both counts are None."""

    words: str
    at_risk: int
    solved: float
    solved_count: int | None
    unsolved: float
    unsolved_count: int | None
    band: Interval | None


def end_of(times: TimeToSolve) -> float:
    """Return where the drawing ends, in seconds: a whole step behind the last event, at most the limit."""
    last = max((point.seconds for point in times.curve), default=0.0)
    step = _step(last)
    return min(times.limit, (last // step + 1) * step) or times.limit


def marks(times: TimeToSolve) -> list[Mark]:
    """Return the curve at each tick, for the table below it; empty without attempts."""
    return [_mark(times, at) for at in _ticks(times)] if times.curve else []


def time_curve(times: TimeToSolve) -> SafeString:
    """Return the drawing: solved with its band, given up, still working, each labelled at its line."""
    end, points = end_of(times), times.curve
    levels = format_html_join(
        "",
        '<line class="gr" x1="0" x2="100%" y1="{0}%" y2="{0}%"/><text x="0" y="{0}%" dy="-4">{1} %</text>',
        ((100 - level, level) for level in (25, 50, 75, 100)),
    )
    drawn = format_html(
        '<svg width="100%" height="100%" viewBox="0 0 {} 100" preserveAspectRatio="none">'
        '<path class="band" d="{}"/><path class="cv ln-c" d="{}"/><path class="cv ln-b" d="{}"/>'
        '<path class="cv ln-a" d="{}"/></svg>',
        WIDTH,
        _band(points, end),
        _path(points, end, lambda point: 1 - point.solved - point.unsolved),
        _path(points, end, lambda point: point.unsolved),
        _path(points, end, lambda point: point.solved),
    )
    ticks = format_html_join(
        "",
        '<text class="{}" x="{}%" y="100%" dy="18">{}</text>',
        (
            ("end-t" if at >= end else "mid-t" if at else "", f"{100 * at / end:.1f}", _short(at, end))
            for at in _ticks(times)
        ),
    )
    title = "Share of attempts solved, given up and still working by active time; the table below has the figures."
    axis = format_html('<line class="ax" x1="0" x2="100%" y1="{0}%" y2="{0}%"/>', 100)
    return format_html(
        '<svg class="curve" role="img" aria-label="{}">{}{}{}{}{}</svg>',
        title,
        levels,
        axis,
        drawn,
        _labels(points),
        ticks,
    )


def _labels(points: tuple[CurvePoint, ...]) -> SafeString:
    """Return the names of the lines at their ends, each a little above its line, apart from each other."""
    if not points:
        return SafeString("")
    last = points[-1]
    ends = [("solved", "t1", last.solved), ("gave up", "t2", last.unsolved)]
    working = 1 - last.solved - last.unsolved
    if working > 0:
        ends.append(("still working", "", working))
    shown: list[tuple[str, str, str]] = []
    heights: list[float] = []
    for name, kind, share in sorted(ends, key=lambda end: -end[2]):
        height = max(100 - 100 * share, heights[-1] + 9 if heights else 0)
        heights.append(height)
        shown.append((kind, f"{height:.1f}", name))
    return format_html_join("", '<text class="lab {} end-t" x="100%" y="{}%" dy="-6">{}</text>', shown)


def _path(points: Iterable[CurvePoint], end: float, share: Callable[[CurvePoint], float]) -> str:
    """Return a step function as a path on a field of WIDTH by 100."""
    parts: list[str] = []
    for point in points:
        x, y = WIDTH * min(point.seconds, end) / end, 100 - 100 * share(point)
        parts.append(f"H{x:.1f}V{y:.1f}" if parts else f"M{x:.1f} {y:.1f}")
    return "".join([*parts, f"H{WIDTH}"]) if parts else ""


def _band(points: Iterable[CurvePoint], end: float) -> str:
    """Return the area between the bounds of the band, up to where it is defined."""
    held: list[tuple[float, Interval]] = []
    for point in points:
        if point.band is None:
            break
        held.append((WIDTH * min(point.seconds, end) / end, point.band))
    if not held:
        return ""
    edges = [*(x for x, _ in held[1:]), float(WIDTH)]
    upper = [(x, 100 - 100 * band.high) for x, band in held]
    lower = [(x, 100 - 100 * band.low) for x, band in held]
    there = f"M{upper[0][0]:.1f} {upper[0][1]:.1f}" + "".join(
        f"V{y:.1f}H{until:.1f}" for (_, y), until in zip(upper, edges, strict=True)
    )
    back = "".join(f"V{y:.1f}H{x:.1f}" for x, y in reversed(lower))
    return f"{there}{back}Z"


def _ticks(times: TimeToSolve) -> list[float]:
    end = end_of(times)
    step = _step(end)
    inner = [step * number for number in range(int(end // step) + 1) if end - step * number > step / 2]
    return [*map(float, inner), end]


def _step(end: float) -> int:
    """Return the smallest round step, in seconds, that needs at most MOST_TICKS of them."""
    return next((step for step in STEPS if end / step <= MOST_TICKS), STEPS[-1])


def _short(seconds: float, end: float) -> str:
    """Return a tick in the unit of the axis, named at its end."""
    unit, size = ("min", 60) if end >= 120 else ("s", 1)
    return f"{seconds / size:g} {unit}" if seconds >= end else f"{seconds / size:g}"


def _mark(times: TimeToSolve, at: float) -> Mark:
    """Return the curve at a moment, who acted just then included."""
    point = [each for each in times.curve if each.seconds <= at][-1]
    later = next((each for each in times.curve if each.seconds > at), None)
    return Mark(
        words=f"{at / 60:g} min" if at >= 60 else f"{at:g} s",
        at_risk=later.at_risk if later else 0,
        solved=point.solved,
        solved_count=round(point.solved * times.started) if point.band else None,
        unsolved=point.unsolved,
        unsolved_count=round(point.unsolved * times.started) if point.band else None,
        band=point.band,
    )
