"""The component sheet: every part of every page once, with its states, for whoever writes a page."""

from __future__ import annotations

from datetime import UTC, datetime

from django.http import HttpResponse
from django.views.decorators.http import require_GET

from config.access import curator_required
from config.http import HttpRequest, render_page
from config.parts.signs import GLYPHS
from runner.outcome import Outcome

CONTEXT = '''"""Shares that add up."""


def round_shares(parts: list[float], total: int) -> list[int]:
    """Round so that the result sums to `total`."""


@cache
def widest(rows: list[str]) -> int:
    return max((len(row) for row in rows), default=0)
'''
BEFORE = "def f(levels):\n    high = 0\n    if levels[0] > high:\n        return levels\n    return []\n"
AFTER = "def f(levels):\n    high = 0\n    if levels[0] >= high:\n        return levels\n    return []\n"
OUTPUT = "\x1b[31mred in a terminal\x1b[0m, plain here; an override \u202e stays in its place\n"
GUIDELINES = "Write the **missing function**. Names in `code` are the example's own.\n\n1. Read.\n2. Run.\n\n```python\nassert f([]) == []\n```\n"


@require_GET
@curator_required
def kit(request: HttpRequest) -> HttpResponse:
    """Show the component sheet."""
    shown = {
        "outcomes": list(Outcome),
        "glyphs": list(GLYPHS),
        "context": CONTEXT,
        "before": BEFORE,
        "after": AFTER,
        "output": OUTPUT,
        "guidelines": GUIDELINES,
        "moment_shown": datetime(2026, 11, 29, 14, 3, 22, tzinfo=UTC),
        "parts": [("ok", 60), ("", 15), ("flag", 10), ("none", 15)],
        "flagged": {"tampered": True},
    }
    return render_page(request, "kit/kit.html", shown)
