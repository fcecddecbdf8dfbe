"""The API's description, the same for everybody: drawn up once in a process, then handed out as bytes; imports no app."""

from __future__ import annotations

from threading import Lock
from typing import Any, NamedTuple

from django.http import HttpResponse
from django.http.response import HttpResponseBase
from drf_spectacular.utils import extend_schema
from drf_spectacular.views import SpectacularAPIView
from rest_framework.request import Request

# It changes with the site's code only; a minute is short enough not to ask anybody to wait for a new one.
EVERYBODYS = "public, max-age=60"


class Kept(NamedTuple):
    """The bytes of a description, and the headers they go with."""

    content: bytes
    headers: dict[str, str]


class SchemaView(SpectacularAPIView):
    """The same as drf-spectacular's view, which draws it up anew each time: 0.4 s of processor time for one request."""

    kept: dict[str, Kept] = {}
    drawing = Lock()

    @extend_schema(exclude=True)
    def get(self, request: Request, *args: Any, **kwargs: Any) -> HttpResponseBase:
        """Return the description in the form asked for; where nobody is signed in, caches may keep it for a minute."""
        form = request.accepted_renderer.media_type
        with self.drawing:  # many who ask at once wait for one to draw it
            if form not in self.kept:
                drawn: Any = super().get(request, *args, **kwargs)  # type: ignore[no-untyped-call] # not ours
                drawn = self.finalize_response(request, drawn).render()
                self.kept[form] = Kept(drawn.content, dict(drawn.headers))
        response = HttpResponse(self.kept[form].content, headers=self.kept[form].headers)
        if not request.user.is_authenticated:
            response["Cache-Control"] = EVERYBODYS
        return response
