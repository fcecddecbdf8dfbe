"""Meter, share, forest, axis: svg without a viewBox; every position is a number from 0 to 100."""

from __future__ import annotations

from collections.abc import Iterable

from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from config.parts.signs import checked

UNDEFINED = "undefined"


def _held(value: float) -> float:
    """Return the value kept within 0 and 100, so that a mark never leaves its drawing."""
    return min(100.0, max(0.0, float(value)))


def percent(fraction: float | None) -> float | None:
    """Return a fraction (0 to 1) as a position (0 to 100); None, which is undefined, stays None."""
    return None if fraction is None else 100.0 * fraction


def meter(
    label: str, parts: float | Iterable[tuple[str, float]], total: float = 100, *, thin: bool = False
) -> SafeString:
    """Return a bar for part of a whole, or for parts of one as pairs of kind and amount; `label` says it in words."""
    pairs = [("", float(parts))] if isinstance(parts, int | float) else list(parts)
    at, rects = 0.0, []
    for kind, amount in pairs:
        width = min(100 - at, _held(100 * amount / total)) if total else 0.0
        rects.append((checked(kind), f"{at:.2f}", f"{width:.2f}"))
        at += width
    drawn = format_html_join("", '<rect class="{}" x="{}%" width="{}%" height="100%"/>', rects)
    return format_html(
        '<svg class="meter{}" role="img" aria-label="{}">{}</svg>', " thin" if thin else "", label, drawn
    )


def interval(low: float | None, high: float | None) -> str:
    """Return "(57 to 93)" for positions, or that the interval is undefined."""
    return f"interval {UNDEFINED}" if low is None or high is None else f"({low:.0f} to {high:.0f})"


def share(count: int, total: int, low: float | None = None, high: float | None = None) -> SafeString:
    """Return "13 of 16, 81 % (57 to 93)": never a percentage without its count and interval (0 to 100)."""
    if not total:
        return format_html('<span class="num">{} of {}</span>, {}', count, total, UNDEFINED)
    comma = "," if low is None or high is None else ""
    return format_html(
        '<span class="share"><span class="num">{} of {}</span>, <span class="num">{} %{} {}</span></span>',
        f"{count:,}",
        f"{total:,}",
        f"{100 * count / total:.0f}",
        comma,
        interval(low, high),
    )


def _marks(
    point: float, low: float | None, high: float | None, outer: tuple[float, float] | None, hollow: str
) -> SafeString:
    """Return the lines and the dot of one estimate; an outer interval makes the inner one the thick line."""
    lines = []
    if outer:
        lines.append(("iv", outer[0], outer[1]))
    if low is not None and high is not None:
        lines.append(("iv2" if outer else "iv", low, high))
    drawn = format_html_join(
        "",
        '<line class="{}" x1="{}%" x2="{}%" y1="50%" y2="50%"/>',
        ((name, f"{_held(a):.1f}", f"{_held(b):.1f}") for name, a, b in lines),
    )
    return format_html(
        '{}<circle class="pt{}" cx="{}%" cy="50%" r="4.5"/>', drawn, hollow, f"{_held(point):.1f}"
    )


def _words(point: float | None, low: float | None, high: float | None, words: str) -> SafeString:
    """Return the value in words, made from the positions where none are given."""
    if words:
        return format_html("<b>{}</b>", words)
    if point is None:
        return format_html("<b>{}</b>", UNDEFINED)
    return format_html("<b>{} %</b> <span>{}</span>", f"{point:.0f}", interval(low, high))


def forest_row(
    label: str,
    point: float | None,
    low: float | None = None,
    high: float | None = None,
    *,
    n: str = "",
    words: str = "",
    more: str = "",
    outer_low: float | None = None,
    outer_high: float | None = None,
    kind: str = "",
    hollow: bool = False,
) -> SafeString:
    """Return one line of a `ul.forest`: label with n, dot and intervals (0 to 100), value in words.

    `low` and `high` are the inner interval (Wilson), `outer_low` and `outer_high` the one over clusters. An undefined
    point draws nothing and reads "undefined". `more` stands small below the value.
    """
    grid = format_html_join(
        "", '<line class="gr" x1="{0}%" x2="{0}%" y1="0" y2="100%"/>', ((x,) for x in (25, 50, 75))
    )
    outer = None if outer_low is None or outer_high is None else (outer_low, outer_high)
    marks = SafeString("") if point is None else _marks(point, low, high, outer, " hollow" if hollow else "")
    return format_html(
        '<li class="{}"><span>{}{}</span><svg aria-hidden="true">{}{}</svg><span class="v">{}{}</span></li>',
        checked(kind),
        label,
        format_html("<small>{}</small>", n) if n else "",
        grid,
        marks,
        _words(point, low, high, words),
        format_html("<small>{}</small>", more) if more else "",
    )


def axis(ticks: str = "0 25 50 75 100", unit: str = "%", end: float = 100) -> SafeString:
    """Return the last line of a `ul.forest`: ticks (words with spaces between), `end` being the value at the right."""
    values = ticks.split()
    last = len(values) - 1
    texts = format_html_join(
        "",
        '<text class="{}" x="{}%" y="14">{}</text>',
        (
            (
                "end-t" if at == last else "mid-t" if at else "",
                f"{_held(100 * float(value) / end):.1f}",
                f"{value} {unit}".strip() if at in (0, last) else value,
            )
            for at, value in enumerate(values)
        ),
    )
    return format_html(
        '<li class="axis" aria-hidden="true"><span></span><svg>{}</svg><span class="v"></span></li>', texts
    )
