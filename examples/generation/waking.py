"""GENERATE: which fragments wait for a worker; the reconciler and every task that ends ask for them."""

from __future__ import annotations

from examples.models import Fragment, GenerationRun


def waiting_fragments(*, at_most: int, run: GenerationRun | None = None) -> list[int]:
    """Return fragments of running runs (or of one) that wait, or whose worker is gone, oldest first."""
    due = Fragment.objects.due().filter(run__in=GenerationRun.objects.running())
    due = due if run is None else due.filter(run=run)
    return list(due.order_by("pk").values_list("pk", flat=True)[:at_most])
