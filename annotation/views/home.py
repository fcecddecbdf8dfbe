"""The first page: what this is, or where one's work is."""

from __future__ import annotations

from django.conf import settings
from django.http import HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_GET

from config.access import Role
from config.http import HttpRequest, render_page
from config.parts.navigation import address_of

STARTS = {
    Role.ANNOTATOR: ("work",),
    Role.READER: ("releases", "account"),
    Role.CURATOR: ("examples", "studies"),
    Role.ADMIN: ("examples", "studies"),
}


@require_GET
def home(request: HttpRequest) -> HttpResponse:
    """Say what this is to who is not signed in; lead everybody else to where their role works."""
    if not request.user.is_authenticated:
        return about(request)
    addresses = [address_of(name) for name in STARTS[Role(request.user.role)]]
    return redirect(next(address for address in addresses if address))


@require_GET
def about(request: HttpRequest) -> HttpResponse:
    """Say what this is."""
    return render_page(request, "annotation/home.html", {"open_sign_up": settings.SIGN_UP})
