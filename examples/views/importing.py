"""CURATE: send a file, watch its import, read and download what could not come in."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import chain
from typing import Any

from django.conf import settings
from django.http import Http404, HttpResponse, HttpResponseRedirect, StreamingHttpResponse
from django.shortcuts import get_object_or_404
from django.urls import reverse
from django.views.decorators.csrf import csrf_exempt, csrf_protect
from django.views.decorators.http import require_GET, require_http_methods

from config.access import curator_required
from config.cells import csv_line
from config.http import HttpRequest, render_page
from config.streaming import CSV, NDJSON, stream
from examples.forms import ImportForm, too_large
from examples.importing.uploads import queue_import
from examples.models import Dataset, ImportReport

REPORTS, PROBLEMS, OFFERED = 50, 100, 200
FORM_BYTES = 64 << 10  # what the other fields of the form may take
COLUMNS = ("number", "line", "field", "message", "remedy")


@csrf_exempt  # only as far as the length: `_imports` is protected, and reads nothing before
@require_http_methods(["GET", "POST"])
@curator_required
def imports(request: HttpRequest) -> HttpResponse:
    """Show the form and the imports so far; take a file. One that is too long is refused before it is taken apart."""
    length = str(request.META.get("CONTENT_LENGTH") or "0")
    size = int(length) if length.isdecimal() else 0
    if request.method == "POST" and size > settings.IMPORT_MAX_BYTES + FORM_BYTES:
        form = ImportForm()
        return _page(request, form, refusal=too_large(size), status=413)
    return _imports(request)


@csrf_protect
def _imports(request: HttpRequest) -> HttpResponse:
    if request.method != "POST":
        return _page(request, ImportForm(initial={"dataset": request.GET.get("dataset", "")[:50]}))
    form = ImportForm(request.POST, request.FILES)
    if not form.is_valid():
        return _page(request, form, status=422)
    values = form.cleaned_data
    report = queue_import(
        values["file"],
        dataset=values["dataset"],
        licence=values["licence"],
        dry_run=values["dry_run"],
        by=request.user,
    )
    return HttpResponseRedirect(reverse("import_report", args=[report.pk]))


@require_GET
@curator_required
def import_report(request: HttpRequest, pk: int) -> HttpResponse:
    """Show how far an import is and what it found; asked again by its page while more is to come."""
    report = get_object_or_404(ImportReport.objects.select_related("dataset", "started_by"), pk=pk)
    moved = f"{report.state}-{report.read}"
    if request.htmx and request.GET.get("seen") == moved:
        return HttpResponse(status=204)
    context = {
        "report": report,
        "problems": report.problems.all()[:PROBLEMS],
        "moved": moved,
        "most": PROBLEMS,
    }
    return render_page(request, "examples/import_report.html", context, partial="examples/_report.html")


@require_GET
@curator_required
def import_problems(request: HttpRequest, pk: int, form: str) -> StreamingHttpResponse:
    """Give the problems of an import as a file, `csv` or `jsonl`."""
    report = get_object_or_404(ImportReport, pk=pk)
    if form not in ("csv", "jsonl"):
        raise Http404
    problems = report.problems.values_list(*COLUMNS).iterator(chunk_size=500)
    chunks, kind = (_csv(problems), CSV) if form == "csv" else (_jsonl(problems), NDJSON)
    return stream(request, chunks, content_type=kind, filename=f"import-{report.pk}-problems.{form}")


def _page(request: HttpRequest, form: ImportForm, *, refusal: str = "", status: int = 200) -> HttpResponse:
    context = {
        "form": form,
        "refusal": refusal,
        "reports": ImportReport.objects.select_related("dataset", "started_by")[:REPORTS],
        "datasets": Dataset.objects.values_list("name", flat=True)[:OFFERED],
        "most": settings.IMPORT_MAX_BYTES,
    }
    return render_page(request, "examples/imports.html", context, status=status)


def _csv(problems: Iterator[tuple[Any, ...]]) -> Iterator[bytes]:
    for cells in chain([COLUMNS], problems):
        yield csv_line(cells).encode()


def _jsonl(problems: Iterator[tuple[Any, ...]]) -> Iterator[bytes]:
    for problem in problems:
        yield json.dumps(dict(zip(COLUMNS, problem, strict=True)), ensure_ascii=False).encode() + b"\n"
