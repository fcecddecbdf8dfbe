"""Values in words: clock times, durations, sizes, moments, Markdown."""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from datetime import UTC, date, datetime
from functools import cache, lru_cache
from typing import Any

from django.conf import settings
from django.utils.html import format_html
from django.utils.safestring import SafeString, mark_safe
from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.token import Token

from config.parts.code import highlighted_lines
from config.parts.text import named

NOTHING = "\u2013"


def clock(seconds: float | None) -> str:
    """Return seconds as 19:02, or 1:02:03 from an hour on."""
    if seconds is None:
        return NOTHING
    minutes, rest = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


def took(seconds: float | None) -> str:
    """Return a duration at its own scale: < 0.1 ms, 0.4 ms, 31 ms, 2.4 s, 3 min 12 s."""
    if seconds is None:
        return NOTHING
    if seconds < 0.00005:
        return "< 0.1 ms"  # what was measured is never nothing
    if seconds < 0.01:
        return f"{seconds * 1000:.1f} ms"
    if seconds < 1:
        return f"{seconds * 1000:.0f} ms"
    if seconds < 60:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest} s"


def took_ms(milliseconds: float | None) -> str:
    """Return the same of milliseconds."""
    return took(None if milliseconds is None else milliseconds / 1000)


def size(count: int | None) -> str:
    """Return bytes as 312 B, 391 kB, 1.2 MB (powers of 1000)."""
    if count is None:
        return NOTHING
    value = float(count)
    for unit in ("B", "kB", "MB"):
        if value < 999.5:
            return f"{value:.1f} {unit}" if unit == "MB" and value < 10 else f"{value:.0f} {unit}"
        value /= 1000
    return f"{value:.1f} GB"


def moment(value: datetime | date | None, *, seconds: bool = False) -> SafeString:
    """Return a `<time>` that names day and minute in UTC, never "two hours ago", which is wrong when read later."""
    if value is None:
        return format_html("{}", NOTHING)
    if not isinstance(value, datetime):
        return format_html('<time datetime="{}">{}</time>', value.isoformat(), f"{value.day} {value:%b %Y}")
    at = value.astimezone(UTC)
    shown = f"{at.day} {at:%b %Y}, {at:%H:%M:%S}" if seconds else f"{at.day} {at:%b %Y}, {at:%H:%M}"
    return format_html('<time datetime="{}">{}</time>', f"{at:%Y-%m-%dT%H:%M:%SZ}", shown)


@cache
def version() -> str:
    """Return the version of this software, as pyproject.toml says it."""
    with (settings.BASE_DIR / "pyproject.toml").open("rb") as file:
        return str(tomllib.load(file)["project"]["version"])


def _code_block(_renderer: RendererHTML, tokens: Sequence[Token], at: int, _options: Any, _env: Any) -> str:
    """Return a code block of Markdown, highlighted like all our code; focusable, since it scrolls."""
    language = tokens[at].info.split()[0] if tokens[at].info.strip() else "text"
    lines = "\n".join(highlighted_lines(tokens[at].content, language))
    return f'<pre class="hl" tabindex="0"><code>{lines}</code></pre>'


def _link_open(renderer: RendererHTML, tokens: Sequence[Token], at: int, options: Any, env: Any) -> str:
    """Return the start of a link that gives its target no credit and no way back to our page."""
    tokens[at].attrSet("rel", "nofollow noopener noreferrer")
    return renderer.renderToken(tokens, at, options, env)


def _heading(renderer: RendererHTML, tokens: Sequence[Token], at: int, options: Any, env: Any) -> str:
    """Return a heading two levels lower: the page keeps its own first and second level."""
    tokens[at].tag = f"h{min(6, int(tokens[at].tag[1]) + 2)}"
    return renderer.renderToken(tokens, at, options, env)


@cache
def _markdown() -> MarkdownIt:
    """Return CommonMark with tables, without HTML and without images (they could come from elsewhere)."""
    parser = MarkdownIt("commonmark", {"html": False, "breaks": True}).enable("table").disable("image")
    for kind, rule in {
        "fence": _code_block,
        "code_block": _code_block,
        "link_open": _link_open,
        "heading_open": _heading,
        "heading_close": _heading,
    }.items():
        parser.add_render_rule(kind, rule)
    return parser


@lru_cache(maxsize=64)
def markdown(text: str | None) -> SafeString:
    """Return Markdown as markup for a `.prose`: no HTML passes, hidden characters are named.

    Kept for the last 64 texts: one instruction is shown to many people, and a table of 3 kB may take seconds.
    """
    return mark_safe(str(_markdown().render(named(text or ""))))  # noqa: S308 - the parser passes no HTML
