"""CURATE: datasets: what they hold, their licence, source and own CPU limit."""

from __future__ import annotations

from django.contrib import messages
from django.db.models import Count, Q
from django.http import HttpResponse, HttpResponseRedirect
from django.shortcuts import get_object_or_404
from django.urls import reverse
from django.views.decorators.http import require_GET, require_http_methods

from config.access import curator_required
from config.http import HttpRequest, render_page
from examples import curating
from examples.forms import DatasetForm
from examples.models import AuditEntry, Dataset, Example, Version

SHOWN = 200


@require_GET
@curator_required
def datasets(request: HttpRequest) -> HttpResponse:
    """Show all datasets with the number of their examples."""
    found = Dataset.objects.annotate(example_count=Count("examples"))[:SHOWN]
    return render_page(request, "examples/datasets.html", {"datasets": found})


@require_http_methods(["GET", "POST"])
@curator_required
def dataset(request: HttpRequest, name: str) -> HttpResponse:
    """Show a dataset, and take what may be edited of it."""
    found = get_object_or_404(Dataset.objects.select_related("created_by"), name=name)
    form = DatasetForm(
        request.POST or None, instance=Dataset(**_values(found)) if request.method == "POST" else found
    )
    if request.method == "POST" and form.is_valid():
        decided = curating.edit_dataset(found, by=request.user, **form.cleaned_data)
        words = " The licence check of its examples is decided anew." if decided else ""
        messages.success(request, f"Saved.{words}")
        return HttpResponseRedirect(reverse("dataset", args=[name]))
    counts = Example.objects.filter(dataset=found).aggregate(
        all=Count("pk"),
        usable=Count("pk", filter=Q(current__check_state=Version.CheckState.PASSED) & ~Q(status="retired")),
        failed=Count("pk", filter=Q(current__check_state=Version.CheckState.FAILED)),
        retired=Count("pk", filter=Q(status="retired")),
    )
    context = {
        "dataset": found,
        "form": form,
        "counts": counts,
        "imports": found.imports.select_related("started_by")[:10],
        "entries": AuditEntry.objects.filter(subject=f"dataset:{name}").select_related("person")[:10],
    }
    status = 422 if request.method == "POST" else 200
    return render_page(request, "examples/dataset.html", context, status=status)


def _values(found: Dataset) -> dict[str, object]:
    """Return what an unsaved copy of the dataset needs, so that a refused form leaves the shown one alone."""
    return {"pk": found.pk, "name": found.name}
