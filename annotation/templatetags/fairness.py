"""Tags of the pages of judging: a flaw in words."""

from __future__ import annotations

from django.template import Library

from annotation.fairness.findings import TITLES, Flaw

register = Library()


@register.filter
def flaw(name: str) -> str:
    """Return a flaw in words."""
    return TITLES[Flaw(name)]
