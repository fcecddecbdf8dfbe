"""Parts of the pages of generation: {% load generation_values %}."""

from __future__ import annotations

from django.template import Library
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from config.parts.plots import interval, percent
from examples.generation.yields import Stage, Yield

register = Library()


@register.simple_tag
def funnel(report: Yield) -> SafeString:
    """Return the stages of a report as rows of a `ul.forest.funnel`: pale what came in, solid what went on."""
    most = max(report.stages[0].count, 1)
    rows = format_html_join(
        "", "{}", ((_row(stage, most, first=not at),) for at, stage in enumerate(report.stages))
    )
    return format_html(
        '<ul class="forest short funnel" aria-label="Funnel of {}">{}</ul>', report.title, rows
    )


def _row(stage: Stage, most: int, *, first: bool) -> SafeString:
    bars = format_html_join(
        "",
        '<rect class="{}" x="0" width="{}%" y="30%" height="40%"/>',
        (("bar soft", f"{100 * stage.of / most:.1f}"), ("bar", f"{100 * stage.count / most:.1f}")),
    )
    return format_html(
        '<li><span>{}</span><svg aria-hidden="true">{}</svg><span class="v"><b>{}</b>{}</span></li>',
        stage.title,
        bars,
        f"{stage.count:,}",
        "" if first else _share(stage),
    )


def _share(stage: Stage) -> SafeString:
    if not stage.of:
        return format_html(" of 0<small>{}</small>", "undefined")
    share = f"{100 * stage.count / stage.of:.0f} % {interval(percent(stage.low), percent(stage.high))}"
    return format_html(" of {}<small>{}</small>", f"{stage.of:,}", share)


@register.filter
def money(micros: float | None) -> str:
    """Return millionths of a currency with as many digits as say something; "undefined" for None."""
    if micros is None:
        return "undefined"
    return f"{micros / 1_000_000:.{2 if micros >= 1_000_000 or not micros else 4}f}"


@register.filter
def figure(value: float | None) -> str:
    """Return a figure with two digits behind the point where it is small; "undefined" for None."""
    if value is None:
        return "undefined"
    return f"{value:,.0f}" if value >= 100 or value == int(value) else f"{value:.2f}"
