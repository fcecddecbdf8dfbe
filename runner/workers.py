"""What workers say of themselves, and what pages tell people when none can execute."""

from __future__ import annotations

from datetime import timedelta

from django.http import HttpRequest
from django.utils import timezone
from django.utils.functional import SimpleLazyObject

from runner.models import Worker

SILENT_AFTER = timedelta(seconds=30)


def engine_trouble() -> str:
    """Return why nothing can be executed now, in plain words; "" when a worker with an engine has answered lately."""
    lately = list(Worker.objects.filter(seen_at__gte=timezone.now() - SILENT_AFTER))
    if not lately:
        return "No worker has answered for 30 s, so nothing can be executed. Runs wait in the queue and nothing is lost."
    errors = [worker.engine_error for worker in lately]
    return "" if not all(errors) else errors[0]


def engine_banner(request: HttpRequest) -> dict[str, object]:  # noqa: ARG001 - the signature of a context processor
    """Give every page `engine_banner`, read only where a page shows it."""
    return {"engine_banner": SimpleLazyObject(engine_trouble)}
