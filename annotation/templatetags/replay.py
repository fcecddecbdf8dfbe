"""Tags of the replay: an attempt's time as one bar."""

from __future__ import annotations

from django.template import Library
from django.utils.safestring import SafeString

from annotation.replay.bar import span_bar
from annotation.replay.moment import Moment
from annotation.replay.timeline import Timeline

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
