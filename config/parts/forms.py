"""Form fields in our look: the input gets its class and says by id which hint and which error belong to it."""

from __future__ import annotations

from django.forms import BoundField, widgets
from django.utils.safestring import SafeString

_OWN_LOOK = (widgets.CheckboxInput, widgets.RadioSelect, widgets.CheckboxSelectMultiple)


def field_kind(field: BoundField) -> str:
    """Return how `_field.html` lays the field out: hidden, check, choices or input."""
    widget = field.field.widget
    if field.is_hidden:
        return "hidden"
    if isinstance(widget, widgets.RadioSelect | widgets.CheckboxSelectMultiple):
        return "choices"
    return "check" if isinstance(widget, widgets.CheckboxInput) else "input"


def field_input(field: BoundField) -> SafeString:
    """Return the field's input with class, `aria-invalid` and `aria-describedby` (ids of `_field_words.html`)."""
    widget = field.field.widget
    attrs: dict[str, str | bool] = {}
    if not isinstance(widget, _OWN_LOOK):
        own = "select" if isinstance(widget, widgets.Select) else "input"
        attrs["class"] = f"{own} {widget.attrs.get('class', '')}".strip()
    if widget.attrs.get("placeholder") == field.label:
        attrs["placeholder"] = ""  # allauth repeats the label, which stands above already
    words = [f"{field.auto_id}_helptext"] if field.help_text else []
    if field.errors:
        attrs["aria-invalid"] = "true"
        words.append(f"{field.auto_id}_error")
    if words:
        attrs["aria-describedby"] = " ".join(words)
    return field.as_widget(attrs=attrs)
