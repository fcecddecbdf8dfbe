"""Tags of the pages of studies and releases: a forest's line, the curve of time to solve, links to examples."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.template import Library
from django.urls import NoReverseMatch, reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString

from annotation.curve import time_curve
from annotation.figures import Line
from annotation.study.intervals import Interval
from config.parts.plots import forest_row, share

register = Library()
register.simple_tag(time_curve)


@register.filter
def limit(seconds: float) -> str:
    """Return a limit as people say it: 30 min, 90 s."""
    return f"{seconds / 60:g} min" if seconds >= 60 and seconds % 30 == 0 else f"{seconds:g} s"


@register.simple_tag
def forest_line(line: Line, *, hollow: bool = False) -> SafeString:
    """Return the line of a `ul.forest`."""
    return forest_row(
        line.label,
        line.point,
        line.low,
        line.high,
        n=line.n,
        more=line.more,
        outer_low=line.outer_low,
        outer_high=line.outer_high,
        hollow=hollow,
    )


@register.simple_tag
def stratum(part: Mapping[str, Any]) -> str:
    """Return the values that name a stratum, joined; "all" where the sample has none."""
    return ", ".join(str(value) for name, value in part.items() if name not in ("of", "drawn")) or "all"


@register.simple_tag
def share_of(count: int, total: int, wilson: Interval | None) -> SafeString:
    """Return "13 of 16, 81 % (57 to 93)", the interval undefined where it is None."""
    if wilson is None:
        return share(count, total)
    return share(count, total, 100 * wilson.low, 100 * wilson.high)


@register.simple_tag
def example_link(example: int, label: str) -> SafeString:
    """Return a link to an example's page, or only its label where there is no such page."""
    try:
        address = reverse("example", args=[example])
    except NoReverseMatch:
        return format_html("<b>{}</b>", label)
    return format_html('<a href="{}">{}</a>', address, label)
