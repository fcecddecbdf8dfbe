"""A dataset as a file, for curators."""

from __future__ import annotations

from django.http import Http404, HttpResponseBase
from django.shortcuts import get_object_or_404
from django.views.decorators.http import require_GET

from config.access import curator_required
from config.http import HttpRequest
from config.streaming import NDJSON, stream
from examples.exporting import FORMATS, export
from examples.models import Dataset, audit


@require_GET
@curator_required
def dataset_export(request: HttpRequest, name: str, style: str) -> HttpResponseBase:
    """Send the current versions of a dataset's examples, retired ones left out, in one of the formats."""
    dataset = get_object_or_404(Dataset, name=name)
    if style not in FORMATS:
        raise Http404
    audit(request.user, "dataset exported", f"dataset:{dataset.pk}", style=style)
    chunks = export(dataset.examples.all(), style)
    return stream(request, chunks, content_type=NDJSON, filename=f"{name}.{style}.jsonl")
