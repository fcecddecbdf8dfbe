"""The tags and filters every template may use without `{% load %}`; docs/pages.md shows each; config/parts/ draws them."""

from __future__ import annotations

from typing import Any

from django.template import Context, Library
from django.utils.safestring import SafeString

from config.parts import code, forms, navigation, plots, signs, text, values

register = Library()

for tag in (
    signs.glyph,
    signs.sprite,
    signs.sign,
    signs.chip,
    plots.meter,
    plots.share,
    plots.forest_row,
    plots.axis,
    code.code,
    code.diff,
    values.moment,
    values.version,
    navigation.address_of,
    forms.field_kind,
    forms.field_input,
):
    register.simple_tag(tag)

register.filter("inert", text.inert)
register.filter("percent", plots.percent)
register.filter("clock", values.clock)
register.filter("took", values.took)
register.filter("took_ms", values.took_ms)
register.filter("size", values.size)
register.filter("markdown", values.markdown)


@register.simple_tag(takes_context=True)
def outcome(context: Context, subject: Any, word: str = "") -> SafeString:
    """Return sign and word for an execution, a test row, or the name of an outcome or state; `word` replaces the word."""
    curates = bool(getattr(context.get("user"), "curates", False))
    kind, name, said = signs.sign_of(subject, curates=curates)
    return signs.sign(kind, name, word or said)


@register.simple_tag(takes_context=True)
def site_links(context: Context) -> list[navigation.Link]:
    """Return the header's links for whoever looks at the page."""
    request, user = context.get("request"), context.get("user")
    return navigation.links(getattr(user, "role", ""), getattr(request, "path", ""))
