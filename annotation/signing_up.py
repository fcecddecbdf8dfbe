"""ACCOUNTS: open sign-up, off by default: an account that cannot sign in until a curator has said yes."""

from __future__ import annotations

from datetime import datetime

from django.db import transaction
from django.db.models import QuerySet

from annotation.accounts import AccountRefused, create_account
from annotation.models import SignUp, Study, StudyPerson, User
from config.access import Role
from examples.models import audit

WAITING_AT_MOST = 200


def sign_up(*, username: str, password: str, note: str) -> SignUp:
    """Make an annotator's account that is not active yet, and return what waits for a curator.

    Raises AccountRefused while too many wait, and IntegrityError where the user name is taken.
    """
    if waiting().count() >= WAITING_AT_MOST:
        raise AccountRefused("Very many people wait for an answer just now. Please try again in a few days.")
    with transaction.atomic():
        user = create_account(username=username, role=Role.ANNOTATOR, password=password)
        user.is_active = False
        user.save(update_fields=["is_active"])
        row = SignUp.objects.create(user=user, note=note.strip())
        audit(None, "sign up", f"user:{user.pk}")
    return row


def waiting() -> QuerySet[SignUp]:
    """Return the sign-ups that nobody has answered, oldest first."""
    return SignUp.objects.filter(approved=None).select_related("user").order_by("pk")


def answer(row: SignUp, *, approved: bool, study: Study | None, by: User, now: datetime) -> None:
    """Let the person in, into a study where one is named, or turn them away; once. Raises AccountRefused."""
    with transaction.atomic():
        open_one = SignUp.objects.filter(pk=row.pk, approved=None)
        if not open_one.update(approved=approved, decided_by=by, decided_at=now):
            raise AccountRefused("Somebody has answered meanwhile.")
        if approved:
            User.objects.filter(pk=row.user_id).update(is_active=True)
            if study is not None:
                StudyPerson.objects.get_or_create(study=study, person=row.user)
        said = {"study": study.name if study else ""}
        audit(by, "approve sign-up" if approved else "refuse sign-up", f"user:{row.user_id}", **said)
