"""Who saw or changed what, when."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.db import models
from django.db.models.functions import Now


class AuditEntry(models.Model):
    """Who saw or changed what, when; rows are added and never changed."""

    at = models.DateTimeField(db_default=Now())
    person = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.PROTECT, related_name="+"
    )
    action = models.CharField(max_length=60)
    subject = models.CharField(max_length=100, help_text="what it was done to, such as version:17")
    detail = models.JSONField(default=dict)

    class Meta:
        ordering = ["-pk"]
        indexes = [models.Index(fields=["subject"], name="auditentry_subject")]
        verbose_name_plural = "audit entries"

    def __str__(self) -> str:
        return f"{self.action} {self.subject}"


def audit(person: Any, action: str, subject: str, **detail: Any) -> None:
    """Add a row to the audit table; `person` None is the system itself."""
    AuditEntry.objects.create(person=person, action=action, subject=subject, detail=detail)
