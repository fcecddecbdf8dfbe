"""Accounts, the tokens of their scripts, and the invitations that lead to them."""

from __future__ import annotations

from django.contrib.auth.models import AbstractUser
from django.db import models
from django.db.models import CheckConstraint, Q
from django.db.models.functions import Now
from knox.models import AbstractAuthToken

from config.access import Role


class User(AbstractUser):
    """An account: one role, and the pseudonym under which others read of its work."""

    role = models.CharField(max_length=20, choices=Role, default=Role.ANNOTATOR)
    pseudonym = models.CharField(max_length=20, unique=True)
    must_change_password = models.BooleanField(default=False)

    class Meta(AbstractUser.Meta):
        constraints = [CheckConstraint(condition=~Q(pseudonym=""), name="user_has_pseudonym")]

    @property
    def curates(self) -> bool:
        """Whether the account may do what a curator may."""
        return self.role in (Role.CURATOR, Role.ADMIN)

    @property
    def administers(self) -> bool:
        """Whether the account manages accounts and settings."""
        return self.role == Role.ADMIN


class ApiToken(AbstractAuthToken):  # type: ignore[misc] # knox ships no types
    """A script's token: hashed, expiring, with the scopes its owner gave it."""

    name = models.CharField(max_length=100)
    scopes = models.JSONField(default=list)
    last_used_at = models.DateTimeField(null=True)

    def __str__(self) -> str:
        return self.name


class Invitation(models.Model):
    """A link, used once, by which a person makes an account of a given role."""

    token_sha256 = models.CharField(max_length=64, unique=True)
    role = models.CharField(max_length=20, choices=Role, default=Role.ANNOTATOR)
    note = models.CharField(max_length=200, blank=True)
    study = models.ForeignKey("Study", null=True, on_delete=models.CASCADE, related_name="invitations")
    created_by = models.ForeignKey(User, on_delete=models.PROTECT, related_name="invitations")
    created_at = models.DateTimeField(db_default=Now())
    expires_at = models.DateTimeField()
    accepted_by = models.OneToOneField(
        User, null=True, on_delete=models.PROTECT, related_name="accepted_invitation"
    )
    accepted_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ["-pk"]

    def __str__(self) -> str:
        return f"invitation {self.pk} ({self.role})"
