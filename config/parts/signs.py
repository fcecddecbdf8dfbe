"""Glyph, sign, outcome, chip: a sign and a word; colour only repeats what they say."""

from __future__ import annotations

from typing import Any, NamedTuple

from django.utils.html import format_html
from django.utils.safestring import SafeString

from runner.outcome import Outcome

KINDS = frozenset({"", "ok", "bad", "warn", "flag", "none", "act"})

# Shapes on a 16 by 16 grid, drawn with the current colour; class f is filled instead.
GLYPHS = {
    "pass": '<path d="M2.5 8.5l3.8 3.8 7.2-8.3"/>',
    "fail": '<path d="M3.5 3.5l9 9M12.5 3.5l-9 9"/>',
    "none": '<path d="M4 8h8"/>',
    "clock": '<circle cx="8" cy="8" r="6.2"/><path d="M8 4.5V8l2.4 1.6"/>',
    "run": '<path d="M8 1.8a6.2 6.2 0 1 1-6 4.6"/>',
    "warn": '<path d="M8 2l6.5 11.5h-13zM8 6.5v3M8 11.6v.1"/>',
    "flag": '<path d="M3.5 14.5v-12h8.5l-2 3.2 2 3.2H3.5"/>',
    "info": '<circle cx="8" cy="8" r="6.2"/><path d="M8 7.5v3.7M8 4.7v.1"/>',
    "lock": '<path d="M3.5 7.5h9v6h-9zM5.5 7.5V5a2.5 2.5 0 0 1 5 0v2.5"/>',
    "dot": '<circle class="f" cx="8" cy="8" r="4.6"/>',
    "ring": '<circle cx="8" cy="8" r="4.8"/>',
    "half": '<circle cx="8" cy="8" r="4.8"/><path class="f" d="M8 3.2a4.8 4.8 0 0 1 0 9.6z"/>',
    "pause": '<path d="M5.5 3.5v9M10.5 3.5v9"/>',
    "play": '<path class="f" d="M5 3l8 5-8 5z"/>',
    "save": '<path d="M8 2v8M4.8 7L8 10.2 11.2 7M2.5 13.5h11"/>',
    "user": '<circle cx="8" cy="5.2" r="2.8"/><path d="M2.5 14c.6-3 2.8-4.4 5.5-4.4s4.9 1.4 5.5 4.4"/>',
    "plus": '<path d="M8 3v10M3 8h10"/>',
    "search": '<circle cx="7" cy="7" r="4.3"/><path d="M10.3 10.3l3.4 3.4"/>',
    "copy": '<path d="M5.5 5.5h8v8h-8zM10.5 5.5v-3h-8v8h3"/>',
    "left": '<path d="M10 3L5 8l5 5"/>',
    "right": '<path d="M6 3l5 5-5 5"/>',
}
_OTHER_NAMES = {"passed": "pass", "failed": "fail", "download": "save", "running": "run", "queued": "ring"}


class Sign(NamedTuple):
    """How one outcome or state is shown: a class of site.css, a glyph and a word."""

    kind: str
    glyph: str
    word: str


OUTCOMES = {
    Outcome.PASSED: Sign("ok", "pass", "passed"),
    Outcome.FAILED: Sign("bad", "fail", "failed"),
    Outcome.NOT_RUN: Sign("none", "none", "not run"),
    Outcome.LOAD_ERROR: Sign("bad", "fail", "load error"),
    Outcome.EARLY_EXIT: Sign("bad", "fail", "early exit"),
    Outcome.TIMEOUT_CPU: Sign("bad", "clock", "timeout (CPU)"),
    Outcome.TIMEOUT_WALL: Sign("bad", "clock", "timeout (wall)"),
    Outcome.MEMORY: Sign("bad", "fail", "memory limit"),
    Outcome.OUTPUT_LIMIT: Sign("bad", "fail", "output limit"),
    Outcome.SIGNAL: Sign("bad", "fail", "killed by a signal"),
}
STATES = {
    "queued": Sign("none", "ring", "queued"),
    "running": Sign("act", "run", "running"),
    "unjudged": Sign("warn", "warn", "unjudged"),
}
TAMPERED = Sign("flag", "flag", "tampered")
UNCONFIRMED = Sign("flag", "flag", "could not be confirmed")
UNKNOWN = Sign("none", "none", "not run")


def checked(kind: str) -> str:
    """Return the kind; raises ValueError for one that site.css does not know."""
    if kind not in KINDS:
        raise ValueError(f"{kind!r} is no kind of part; one of {', '.join(sorted(KINDS - {''}))}")
    return kind


def glyph(name: str) -> SafeString:
    """Return a reference to a glyph of the page's sprite; raises ValueError for a name that is not in it."""
    name = _OTHER_NAMES.get(name, name)
    if name not in GLYPHS:
        raise ValueError(f"{name!r} is no glyph; one of {', '.join(GLYPHS)}")
    turning = " sp" if name == "run" else ""
    return format_html('<svg class="g{}" aria-hidden="true"><use href="#g-{}"/></svg>', turning, name)


def sprite() -> SafeString:
    """Return the one inline sprite that every `glyph` refers to; base.html holds it once."""
    symbols = SafeString("").join(
        format_html('<symbol id="g-{}" viewBox="0 0 16 16">{}</symbol>', name, SafeString(shape))
        for name, shape in GLYPHS.items()
    )
    return format_html('<svg class="sprite" aria-hidden="true">{}</svg>', SafeString(symbols))


def sign(kind: str, name: str, word: str) -> SafeString:
    """Return glyph and word in the colour of the kind."""
    return format_html('<span class="oc {}">{}{}</span>', checked(kind), glyph(name), word)


def sign_of(subject: Any, *, curates: bool) -> Sign:
    """Return how an execution, a test row, an outcome or a state is shown.

    Takes anything with `state`, `outcome` and `tampered` (each may be missing) or the name of an outcome or state.
    A flagged execution reads "tampered" only to those who curate.
    """
    if getattr(subject, "tampered", False):
        return TAMPERED if curates else UNCONFIRMED
    state = str(getattr(subject, "state", "") or "")
    if state in STATES:
        return STATES[state]
    name = subject if isinstance(subject, str) else getattr(subject, "outcome", "")
    name = str(name or "")
    if name.lower() in STATES:
        return STATES[name.lower()]
    return OUTCOMES[Outcome(name.upper())] if name.upper() in Outcome.__members__ else UNKNOWN


def chip(text: Any, kind: str = "", name: str = "", href: str = "", *, square: bool = False) -> SafeString:
    """Return a chip: a fact or a status, as a link where `href` is given."""
    classes = " ".join(word for word in ("chip", checked(kind), "square" if square else "") if word)
    inside = format_html("{}{}", glyph(name), text) if name else format_html("{}", text)
    if href:
        return format_html('<a class="{}" href="{}">{}</a>', classes, href, inside)
    return format_html('<span class="{}">{}</span>', classes, inside)
