"""Tags of the replay: an attempt's time as one bar."""

from __future__ import annotations

from collections.abc import Iterable

from django.template import Library
from django.utils.html import format_html_join
from django.utils.safestring import SafeString

from annotation.replay.bar import span_bar
from annotation.replay.moment import Moment
from annotation.replay.steps import Step
from annotation.replay.timeline import Timeline
from config.parts.values import clock

register = Library()


@register.simple_tag
def time_bar(timeline: Timeline, moment: Moment) -> SafeString:
    """Return the bar of an attempt with the moment that is shown."""
    return span_bar(
        timeline.intervals,
        timeline.signs,
        total=timeline.seconds,
        now=moment.step.seconds,
        label=timeline.label,
    )


@register.simple_tag
def step_links(steps: Iterable[Step]) -> SafeString:
    """Return a link to each of the steps; there may be thousands, which a loop of the template would draw slowly."""
    return format_html_join(
        " ",
        '<a href="?at={}" data-at="{}" aria-label="{}">{}</a>',
        ((step.number, step.number, step.title, clock(step.seconds)) for step in steps),
    )
