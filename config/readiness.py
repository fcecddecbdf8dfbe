"""What a web process does before its first request, which would take seconds otherwise; imports no app by itself."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

from django.conf import settings
from django.template.loader import get_template


def get_ready() -> None:
    """Import all views, and compile our templates: what two threads compile at once both wait for."""
    import_module(settings.ROOT_URLCONF)
    for directory in settings.TEMPLATES[0]["DIRS"]:
        for path in sorted(Path(directory).rglob("*.html")):
            get_template(str(path.relative_to(directory)))
