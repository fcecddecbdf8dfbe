"""ACCOUNTS: a link, used once, by which a person makes an account of a given role."""

from __future__ import annotations

import hashlib
import secrets
from datetime import datetime, timedelta
from typing import NamedTuple

from django.db import transaction
from django.utils import timezone

from annotation.accounts import create_account
from annotation.models import Invitation, Study, StudyPerson, User
from config.access import Role
from examples.models import audit

LIFETIME = timedelta(days=7)


class InvitationOver(Exception):
    """There is no such invitation, it was used, or its time is over: one answer for all three."""


class NewInvitation(NamedTuple):
    """An invitation and its token, which is shown once and not stored."""

    invitation: Invitation
    token: str


def invite(
    *, role: Role, by: User, study: Study | None = None, note: str = "", lifetime: timedelta = LIFETIME
) -> NewInvitation:
    """Return a new invitation with its token. Raises ValueError where a curator invites beyond annotators and readers."""
    if role not in roles_to_invite(by):
        raise ValueError(f"A {by.role} cannot invite a {role}.")
    token = secrets.token_urlsafe(24)
    invitation = Invitation.objects.create(
        token_sha256=hashed(token),
        role=role,
        study=study,
        note=note,
        created_by=by,
        expires_at=timezone.now() + lifetime,
    )
    audit(by, "invite", f"invitation:{invitation.pk}", role=str(role), study=study.name if study else "")
    return NewInvitation(invitation, token)


def roles_to_invite(by: User) -> list[Role]:
    """Return the roles that somebody may give away: a curator never more than a reader's or annotator's, others none."""
    if by.administers:
        return list(Role)
    return [Role.ANNOTATOR, Role.READER] if by.curates else []


def find_invitation(token: str, *, now: datetime) -> Invitation:
    """Return the open invitation of a token. Raises InvitationOver.

    It is over, too, when who made it was deactivated or may no longer give that role: else an admin who lost the role
    could come back by a link kept for the day.
    """
    invitation = (
        Invitation.objects.filter(token_sha256=hashed(token), accepted_at=None, expires_at__gt=now)
        .select_related("created_by")
        .first()
    )
    if invitation is None:
        raise InvitationOver
    maker = invitation.created_by
    if not maker.is_active or invitation.role not in roles_to_invite(maker):
        raise InvitationOver
    return invitation


def accept_invitation(token: str, *, username: str, password: str, now: datetime) -> User:
    """Make the account and use the invitation up, both or neither; return the account.

    Raises InvitationOver, also for the second of two who use one link at once, and IntegrityError where the user name
    is taken.
    """
    invitation = find_invitation(token, now=now)
    with transaction.atomic():
        user = create_account(username=username, role=Role(invitation.role), password=password)
        used = Invitation.objects.filter(pk=invitation.pk, accepted_at=None).update(
            accepted_at=now, accepted_by=user
        )
        if not used:
            raise InvitationOver
        if invitation.study and user.role == Role.ANNOTATOR:
            StudyPerson.objects.create(study=invitation.study, person=user)
    audit(user, "accept invitation", f"invitation:{invitation.pk}")
    return user


def withdraw(invitation: Invitation, *, by: User, now: datetime) -> None:
    """End an invitation that nobody has used; a used one stays as it is."""
    if Invitation.objects.filter(pk=invitation.pk, accepted_at=None).update(expires_at=now):
        audit(by, "withdraw invitation", f"invitation:{invitation.pk}")


def hashed(token: str) -> str:
    """Return what is stored of a token."""
    return hashlib.sha256(token.encode()).hexdigest()
