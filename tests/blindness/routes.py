"""Every way into the site: the URL resolver's routes, the operations of the API schema, the websocket routes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from django.urls import URLPattern, URLResolver, get_resolver


@dataclass(frozen=True)
class Route:
    """One route: its pattern from the site's root, and the name by which it is reversed ("" when it has none)."""

    pattern: str
    name: str


def http_routes() -> list[Route]:
    """Return every route of the URL resolver, in its order."""
    return list(_walk(get_resolver(), "", ()))


def _walk(resolver: URLResolver, before: str, spaces: tuple[str, ...]) -> Iterator[Route]:
    for entry in resolver.url_patterns:
        pattern = before + str(entry.pattern)
        if isinstance(entry, URLResolver):
            inner = (*spaces, entry.namespace) if entry.namespace else spaces
            yield from _walk(entry, pattern, inner)
        elif isinstance(entry, URLPattern):
            yield Route(pattern, ":".join((*spaces, entry.name)) if entry.name else "")


def api_operations() -> list[tuple[str, str]]:
    """Return (method, path with braces) of every operation in the OpenAPI schema; [] where there is no API."""
    from drf_spectacular.generators import SchemaGenerator

    schema: dict[str, Any] = SchemaGenerator().get_schema(request=None, public=True)
    return [(method, path) for path, methods in schema["paths"].items() for method in methods]


def socket_routes() -> list[str]:
    """Return the pattern of every websocket route."""
    return [str(entry.pattern) for entry in import_module("annotation.routing").websocket_urlpatterns]
