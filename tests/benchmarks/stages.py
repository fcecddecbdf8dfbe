"""Where the time of interactive runs goes, by the moments that the database keeps of each."""

from __future__ import annotations

from datetime import datetime

STAGES = {
    "asked to taken by the worker": ("created_at", "leased_at"),
    "taken to started in a box": ("leased_at", "started_at"),
    "started to first row": ("started_at", "first_row_at"),
    "first row to outcome saved": ("first_row_at", "finished_at"),
}


def stages(since: datetime | None = None) -> dict[str, list[float]]:
    """Return the milliseconds between the moments of each interactive run that passed, those asked for since then."""
    from runner.models import Execution

    passed = Execution.objects.filter(queue=Execution.Queue.INTERACTIVE, outcome="PASSED")
    done = list(passed.filter(created_at__gte=since) if since else passed)
    return {
        name: [(getattr(each, end) - getattr(each, start)).total_seconds() * 1000 for each in done]
        for name, (start, end) in STAGES.items()
    }
