"""Pages of a study's results, and its rows as files."""

from __future__ import annotations

from django.http import Http404, HttpResponse, HttpResponseBase
from django.shortcuts import get_object_or_404
from django.views.decorators.http import require_GET

from annotation.codebook import TABLES, codebook
from annotation.curve import marks
from annotation.exporting import export
from annotation.figures import in_words, line, line_of
from annotation.models import Study
from annotation.results import study_results
from config.access import curator_required
from config.http import HttpRequest, render_page
from config.streaming import CSV, NDJSON, stream
from examples.models import audit


@require_GET
@curator_required
def results(request: HttpRequest, name: str) -> HttpResponse:
    """Show everything a study found, as it stands."""
    study = get_object_or_404(Study.objects.visible_to(request.user), name=name)
    found = study_results(study)
    rates = found.rates
    figures = [rates.solved, rates.solved_at_first, *rates.within] if rates.within else [rates.solved]
    by_name = {figure.name: figure for figure in rates.difficulty}
    context = {
        "study": study,
        "results": found,
        "people": len({row.annotator for row in found.rows}),
        "versions": len({row.version_id for row in found.rows}),
        "rates": [line_of(each) for each in (*figures, rates.versions_by_one, rates.versions_by_majority)],
        "difficulty": [line_of(by_name[level], brief=True) for level in study.protocol.difficulty_levels],
        "by_level": [line(level, rate, "attempts", brief=True) for level, rate in found.by_level],
        "marks": marks(found.times),
        "reported": line("as reported", rates.solved.rate, "attempts", brief=True),
        "unfiltered": line("nothing left out", found.nothing_left_out, "attempts", brief=True),
        "left_out": rates.solved.exclusions,
        "tables": list(TABLES),
        "time_left_out": in_words(found.times.exclusions),
    }
    return render_page(request, "annotation/study_results.html", context)


@require_GET
@curator_required
def export_rows(request: HttpRequest, name: str, table: str, style: str) -> HttpResponseBase:
    """Send a table of the study as CSV or JSON Lines, under the study's own pseudonyms."""
    study = get_object_or_404(Study.objects.visible_to(request.user), name=name)
    if table not in TABLES:
        raise Http404
    audit(request.user, "study exported", f"study:{study.pk}", table=table, style=style)
    content_type = CSV if style == "csv" else NDJSON
    chunks = export(study, table, style)
    return stream(request, chunks, content_type=content_type, filename=f"{study.name}-{table}.{style}")


@require_GET
@curator_required
def study_codebook(request: HttpRequest, name: str) -> HttpResponse:
    """Send the codebook of the study's tables."""
    study = get_object_or_404(Study.objects.visible_to(request.user), name=name)
    return HttpResponse(codebook(study), content_type="text/markdown; charset=utf-8")
