"""ACCOUNTS: who signed in with a one-time password chooses a new one before anything else."""

from __future__ import annotations

from collections.abc import Callable

from django.http import HttpResponse
from django.shortcuts import redirect
from django.urls import reverse

from config.http import HttpRequest


class FirstPasswordMiddleware:
    """Send such a person to the password page, wherever they go; signing out stays possible."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        """Return the page asked for, or the way to the password page."""
        if not getattr(request.user, "must_change_password", False):
            return self.get_response(request)
        change = reverse("account_change_password")
        if request.path in (change, reverse("account_logout"), reverse("account_reauthenticate")):
            return self.get_response(request)
        return redirect(change)
