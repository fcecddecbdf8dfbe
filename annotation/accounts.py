"""ACCOUNTS: who may have one, and under which pseudonym."""

from __future__ import annotations

from typing import Any

from allauth.account.adapter import DefaultAccountAdapter
from django.db import IntegrityError, transaction
from django.db.models import IntegerField, Max
from django.db.models.functions import Cast, Substr

from annotation.models import User
from config.access import Role

LETTER = {Role.ANNOTATOR: "A", Role.CURATOR: "C", Role.READER: "R", Role.ADMIN: "M"}


class InvitationOnlyAdapter(DefaultAccountAdapter):  # type: ignore[misc] # allauth ships no types
    """Nobody signs up by themselves: accounts are made by an admin or through an invitation's link."""

    def is_open_for_signup(self, request: Any) -> bool:  # noqa: ARG002 - allauth's signature
        """Return False: allauth's own sign-up page stays closed."""
        return False


def create_account(*, username: str, role: Role, password: str | None, must_change: bool = False) -> User:
    """Return a new account with the next free pseudonym of its role, such as A-07.

    `password` None leaves the account without one (it cannot sign in until it gets one). Raises IntegrityError
    when the user name is taken. Two accounts made at once never share a pseudonym: the loser takes the next.
    """
    for _ in range(20):
        user = User(
            username=username, role=role, pseudonym=next_pseudonym(role), must_change_password=must_change
        )
        user.set_password(password)
        user.is_staff = user.is_superuser = role == Role.ADMIN
        try:
            with transaction.atomic():
                user.save(force_insert=True)
        except IntegrityError:
            if User.objects.filter(username=username).exists():
                raise
            continue
        return user
    raise RuntimeError("No free pseudonym was found in 20 tries.")


def next_pseudonym(role: Role) -> str:
    """Return the pseudonym after the highest one of the role: A-01, A-02, …"""
    letter = LETTER[role]
    highest = User.objects.filter(pseudonym__startswith=f"{letter}-").aggregate(
        highest=Max(Cast(Substr("pseudonym", 3), IntegerField()))
    )["highest"]
    return f"{letter}-{(highest or 0) + 1:02d}"
