"""TOKENS: made in the browser, shown once, hashed, scoped, expiring; and the authentication that knows them."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from typing import Any

from django.utils import timezone
from drf_spectacular.contrib.knox_auth_token import KnoxTokenScheme
from knox.auth import TokenAuthentication

from annotation.models import ApiToken, User
from config.scopes import scopes_of
from examples.models import audit

LIFETIMES = (7, 30, 90, 365)
LIMIT = 20
USE_NOTED_EVERY = timedelta(minutes=1)


class TokenRefused(ValueError):
    """No such token can be made; the message says why."""


class ScopedToken(TokenAuthentication):  # type: ignore[misc] # knox ships no types
    """Knox's tokens, which note when they were last used."""

    def validate_user(self, auth_token: ApiToken) -> Any:
        """Return (user, token) as knox does, the use noted at most once a minute."""
        found = super().validate_user(auth_token)
        now = timezone.now()
        if auth_token.last_used_at is None or now - auth_token.last_used_at > USE_NOTED_EVERY:
            ApiToken.objects.filter(pk=auth_token.pk).update(last_used_at=now)
        return found


class ScopedTokenScheme(KnoxTokenScheme):  # type: ignore[no-untyped-call] # drf-spectacular registers subclasses untyped
    """How the API's description names these tokens."""

    target_class = "annotation.tokens.ScopedToken"
    name = "token"


def make_token(user: User, *, name: str, scopes: Sequence[str], days: int) -> str:
    """Return a new token, the only time that it can be read. Raises TokenRefused.

    Its scopes are among those of the owner's role; a role that loses one takes it from the token as well.
    """
    allowed = scopes_of(user.role)
    if not scopes or set(scopes) - set(allowed):
        raise TokenRefused("Choose at least one of the scopes of your role.")
    if days not in LIFETIMES:
        raise TokenRefused("Choose one of the lifetimes.")
    if ApiToken.objects.filter(user=user, expiry__gt=timezone.now()).count() >= LIMIT:
        raise TokenRefused(f"You have {LIMIT} tokens. Revoke one you no longer use.")
    made, token = ApiToken.objects.create(
        user=user, expiry=timedelta(days=days), name=name, scopes=sorted(scopes)
    )
    audit(user, "token made", f"token:{made.token_key}", name=name, scopes=made.scopes, days=days)
    return str(token)


def revoke(user: User, *, key: str) -> bool:
    """Delete the user's own token with this public part, and return whether there was one."""
    deleted, _ = ApiToken.objects.filter(user=user, token_key=key).delete()
    if deleted:
        audit(user, "token revoked", f"token:{key}")
    return bool(deleted)
