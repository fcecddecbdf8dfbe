"""ACCOUNTS: who may have one, under which pseudonym, in which role, and how a password is set anew without e-mail."""

from __future__ import annotations

import secrets
from typing import Any

from allauth.account.adapter import DefaultAccountAdapter
from django.db import IntegrityError, transaction
from django.db.models import IntegerField, Max
from django.db.models.functions import Cast, Substr

from annotation.models import ApiToken, User
from annotation.sockets import close_sockets
from config.access import Role
from examples.models import audit

LETTER = {Role.ANNOTATOR: "A", Role.CURATOR: "C", Role.READER: "R", Role.ADMIN: "M"}


class InvitationOnlyAdapter(DefaultAccountAdapter):  # type: ignore[misc] # allauth ships no types
    """Nobody signs up by themselves: accounts are made by an admin or through an invitation's link."""

    def is_open_for_signup(self, request: Any) -> bool:  # noqa: ARG002 - allauth's signature
        """Return False: allauth's own sign-up page stays closed."""
        return False

    def set_password(self, user: User, password: str) -> None:
        """Store the password that the person chose; one given by an admin is over with that."""
        user.must_change_password = False
        super().set_password(user, password)

    def logout(self, request: Any) -> None:
        """Sign out, and close the sockets that the person's pages hold open."""
        person = request.user.pk
        super().logout(request)
        close_sockets(person)


class AccountRefused(Exception):
    """This change of an account is not possible; the message says why."""


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


def change_role(person: User, role: Role, *, by: User) -> None:
    """Give an account another role; its pseudonym stays. Raises AccountRefused for one's own and for the last admin."""
    with transaction.atomic():
        _lock_admins()
        _refuse_own_or_last(person, by, leaves_admin=role != Role.ADMIN)
        before = person.role
        person.role = role
        person.is_staff = person.is_superuser = role == Role.ADMIN
        person.save(update_fields=["role", "is_staff", "is_superuser"])
        audit(by, "change role", f"user:{person.pk}", before=before, after=str(role))


def set_active(person: User, *, active: bool, by: User) -> None:
    """Let an account in or keep it out; its work stays where it is. Raises AccountRefused like `change_role`."""
    with transaction.atomic():
        _lock_admins()
        _refuse_own_or_last(person, by, leaves_admin=not active)
        person.is_active = active
        person.save(update_fields=["is_active"])
        audit(by, "activate account" if active else "deactivate account", f"user:{person.pk}")
    if not active:
        close_sockets(person.pk)


def reset_password(person: User, *, by: User) -> str:
    """Return a one-time password, to be shown once: with it the person can do nothing but choose a new one.

    The person's tokens are over too: one made by whoever knew the old password would outlive it.
    """
    password = one_time_password()
    person.set_password(password)
    person.must_change_password = True
    person.save(update_fields=["password", "must_change_password"])
    revoked, _ = ApiToken.objects.filter(user=person).delete()
    audit(by, "reset password", f"user:{person.pk}", tokens_revoked=revoked)
    close_sockets(person.pk)
    return password


def one_time_password() -> str:
    """Return 16 letters and digits in groups of four, easy to read out: no 0, O, 1, l or I; 92 bits."""
    letters = "abcdefghijkmnpqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ23456789"
    return "-".join("".join(secrets.choice(letters) for _ in range(4)) for _ in range(4))


def _lock_admins() -> None:
    """Hold every admin's row until the transaction ends: two who demote each other at once go one after the other.

    SQLite, which locks no rows, has taken its one write lock with the transaction.
    """
    list(User.objects.select_for_update().filter(role=Role.ADMIN).order_by("pk").values_list("pk"))


def _refuse_own_or_last(person: User, by: User, *, leaves_admin: bool) -> None:
    if person.pk == by.pk:
        raise AccountRefused("You cannot change your own role or lock yourself out; another admin can.")
    others = User.objects.filter(role=Role.ADMIN, is_active=True).exclude(pk=person.pk)
    if leaves_admin and person.role == Role.ADMIN and not others.exists():
        raise AccountRefused("This is the last admin who can sign in; make another one first.")
