"""Django's admin: accounts and the records around them, to be read; what changes goes through pages that audit it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from allauth.account.models import EmailAddress
from allauth.mfa.models import Authenticator
from django.contrib import admin
from django.contrib.auth.models import Group
from django.db.models import Model

from annotation.models import Attempt, Invitation, Protocol, Run, Slot, Study, User, Verdict
from runner.admin import ReadOnly

if TYPE_CHECKING:  # generic for the type checker only
    Admin = admin.ModelAdmin[Model]
else:
    Admin = admin.ModelAdmin


# What libraries register can be written to without audit, and shows the secrets of people's second factors.
admin.site.unregister([Group, EmailAddress, Authenticator])


class ReadOnlyAdmin(ReadOnly, Admin):
    """Lists and shows rows; adds, changes and deletes none."""


@admin.register(User)
class UserAdmin(ReadOnlyAdmin):
    """Accounts; passwords, not even hashed, are on no page."""

    list_display = ["pseudonym", "username", "role", "is_active", "last_login"]
    list_filter = ["role", "is_active"]
    search_fields = ["pseudonym", "username"]
    exclude = ["password", "user_permissions", "groups"]


@admin.register(Invitation)
class InvitationAdmin(ReadOnlyAdmin):
    """Invitations, without the hash of their token."""

    list_display = ["id", "role", "study", "created_by", "expires_at", "accepted_by"]
    exclude = ["token_sha256"]


@admin.register(Study)
class StudyAdmin(ReadOnlyAdmin):
    """Studies."""

    list_display = ["name", "title", "state", "opened_at", "closed_at"]
    list_filter = ["state"]


@admin.register(Protocol)
class ProtocolAdmin(ReadOnlyAdmin):
    """Protocols: the rules of studies, by number."""

    list_display = ["study", "number", "solvers", "submissions", "frozen_at", "reason"]
    list_select_related = ["study"]


@admin.register(Slot)
class SlotAdmin(ReadOnlyAdmin):
    """Slots: who holds which, until when."""

    list_display = ["study", "version", "number", "state", "annotator", "lease_end"]
    list_filter = ["state", "study"]
    list_select_related = ["study", "version", "annotator"]


@admin.register(Attempt)
class AttemptAdmin(ReadOnlyAdmin):
    """Attempts."""

    list_display = ["id", "slot", "annotator", "state", "started_at", "ended_at"]
    list_filter = ["state"]
    list_select_related = ["slot__study", "slot__version", "annotator"]


@admin.register(Run)
class RunAdmin(ReadOnlyAdmin):
    """Runs and submissions."""

    list_display = ["id", "attempt", "kind", "number", "created_at", "execution"]
    list_filter = ["kind"]
    list_select_related = ["attempt", "execution"]


@admin.register(Verdict)
class VerdictAdmin(ReadOnlyAdmin):
    """Verdicts."""

    list_display = ["attempt", "outcome", "solved", "difficulty", "instruction_quality", "test_quality"]
    list_filter = ["outcome", "solved"]
