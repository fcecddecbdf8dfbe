"""Values of the curator's pages in words: {% load examples_values %}."""

from __future__ import annotations

from django.template import Library

from examples.languages.ways import LanguageUnknown, ways

register = Library()


@register.filter
def grouped(number: int) -> str:
    """Return a count with its thousands parted: 20,000."""
    return f"{number:,}"


@register.filter
def has_block(name: str) -> bool:
    """Return whether code of its own may run the tests of an example in this language."""
    return ways(name).has_block


@register.filter
def tests_hint(name: str) -> str:
    """Return what belongs into the tests of an example in this language."""
    what = (
        "The test functions alone."
        if has_block(name)
        else "The test functions alone, or a line of JSON for each case."
    )
    return f"{what} Those called test\u2026 must pass, and so must those that had to before."


@register.filter
def language_title(name: str) -> str:
    """Return a language's name as people write it; as it stands where it is not known here."""
    try:
        return ways(name).title
    except LanguageUnknown:
        return name


@register.filter
def short_digest(text: str) -> str:
    """Return the first and last digits of a hash: sha256 41ce04d2…07d2; all of it where it is short."""
    kind, _, digits = text.rpartition(":")
    shown = digits if len(digits) < 20 else f"{digits[:8]}\u2026{digits[-4:]}"
    return f"{kind} {shown}".strip()
