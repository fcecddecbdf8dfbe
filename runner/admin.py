"""Executions, environments and workers in Django's admin: read-only, since they are evidence."""

from __future__ import annotations

from django.contrib import admin
from django.http import HttpRequest

from runner.models import Environment, Execution, TestRow, Worker


class ReadOnly:
    """Nobody adds, changes or deletes here; who may look is decided as everywhere in the admin."""

    def has_add_permission(self, request: HttpRequest, obj: object = None) -> bool:  # noqa: ARG002 - Django's signature
        """Refuse."""
        return False

    def has_change_permission(self, request: HttpRequest, obj: object = None) -> bool:  # noqa: ARG002 - as above
        """Refuse."""
        return False

    def has_delete_permission(self, request: HttpRequest, obj: object = None) -> bool:  # noqa: ARG002 - as above
        """Refuse."""
        return False


class RowInline(ReadOnly, admin.TabularInline):  # type: ignore[type-arg] # generic in the stubs only
    """The rows of an execution."""

    model = TestRow
    fields = ("number", "test", "assertion", "outcome", "line", "message", "milliseconds")


@admin.register(Execution)
class ExecutionAdmin(ReadOnly, admin.ModelAdmin):  # type: ignore[type-arg] # as above
    """What was asked for, and what came of it."""

    list_display = ("pk", "queue", "environment", "state", "outcome", "tries", "created_at", "finished_at")
    list_filter = ("state", "outcome", "queue", "environment")
    list_select_related = ("environment",)
    show_full_result_count = False
    inlines = (RowInline,)


@admin.register(Environment)
class EnvironmentAdmin(ReadOnly, admin.ModelAdmin):  # type: ignore[type-arg] # as above
    """Images by digest."""

    list_display = ("name", "language", "language_version", "image_digest", "size_bytes", "built_at")


@admin.register(Worker)
class WorkerAdmin(ReadOnly, admin.ModelAdmin):  # type: ignore[type-arg] # as above
    """Workers, and when each was last seen."""

    list_display = ("name", "queues", "engine_error", "started_at", "seen_at")
