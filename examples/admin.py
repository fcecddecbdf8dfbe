"""Django's admin: what helps when somebody asks what happened; read-only, since it would bypass audit and visibility."""

from __future__ import annotations

from typing import Any

from django.contrib import admin
from django.http import HttpRequest

from examples.models import AuditEntry, Check, Dataset, Example, ImportReport, Version


class ReadOnly(admin.ModelAdmin):  # type: ignore[type-arg] # not subscriptable at run time
    """Shows rows and changes none."""

    show_full_result_count = False

    def has_add_permission(self, request: HttpRequest) -> bool:  # noqa: ARG002 - the signature is Django's
        """Return False: rows are made by the product alone."""
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:  # noqa: ARG002 - the signature is Django's
        """Return False, which leaves viewing."""
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:  # noqa: ARG002 - the signature is Django's
        """Return False."""
        return False


@admin.register(AuditEntry)
class AuditEntryAdmin(ReadOnly):
    """Who did what."""

    list_display = ["at", "person", "action", "subject"]
    list_select_related = ["person"]
    search_fields = ["subject", "action"]


@admin.register(Dataset)
class DatasetAdmin(ReadOnly):
    """Datasets with licence and own limit."""

    list_display = ["name", "title", "licence", "cpu_limit_seconds"]


@admin.register(Example)
class ExampleAdmin(ReadOnly):
    """Examples by key."""

    list_display = ["label", "dataset", "key", "status"]
    list_select_related = ["dataset"]
    search_fields = ["key", "title"]
    fields = ["dataset", "key", "title", "repository", "licence", "status", "status_reason", "created_at"]


@admin.register(Version)
class VersionAdmin(ReadOnly):
    """The state of versions' checks: claims and leases, which no page shows."""

    list_display = ["__str__", "check_state", "failed_checks", "checked_at"]
    list_filter = ["check_state"]
    fields = [
        "example",
        "number",
        "environment",
        "content_hash",
        "check_state",
        "check_claim",
        "check_lease_end",
        "checked_at",
        "failed_checks",
        "note",
        "author",
        "created_at",
    ]

    def get_queryset(self, request: HttpRequest) -> Any:
        """Return the versions without their texts."""
        return super().get_queryset(request).defer("context", "reference", "segments", "block", "instruction")


@admin.register(Check)
class CheckAdmin(ReadOnly):
    """Findings by version."""

    list_display = ["version", "name", "state", "finding"]
    list_select_related = ["version"]
    list_filter = ["name", "state"]
    fields = ["version", "name", "state", "finding", "evidence", "checked_at"]


@admin.register(ImportReport)
class ImportReportAdmin(ReadOnly):
    """Imports and where their files wait."""

    list_display = ["__str__", "dataset_name", "state", "read", "problem_count", "seen_at"]
