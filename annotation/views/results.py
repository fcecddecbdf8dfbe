"""Pages of a study's results, and its rows as files."""

from __future__ import annotations

from datetime import datetime

from django.http import Http404, HttpResponse, HttpResponseBase
from django.shortcuts import get_object_or_404
from django.utils.dateparse import parse_datetime
from django.views.decorators.http import require_GET

from annotation.codebook import TABLES, codebook
from annotation.curve import marks
from annotation.exporting import export
from annotation.figures import in_words, line, line_of
from annotation.models import Arm, Study
from annotation.protocols import in_words as in_words_of
from annotation.results import study_results
from config.access import curator_required
from config.http import HttpRequest, render_page
from config.streaming import CSV, NDJSON, stream
from examples.models import audit


class NoMoment(ValueError):
    """What was asked for as a moment is none; the message says how one is written."""


def as_of(request: HttpRequest) -> datetime | None:
    """Return the moment as of which figures are asked for: `?as_of=2026-11-30T12:00:00Z`; None for now. Raises NoMoment."""
    text = (
        request.GET.get("as_of", "").strip().replace(" ", "+")
    )  # a plus that was not escaped comes as a space
    if not text:
        return None
    try:
        moment = parse_datetime(text)
    except ValueError:
        moment = None
    if moment is None or moment.tzinfo is None:
        raise NoMoment("as_of: write a moment with its zone, such as 2026-11-30T12:00:00Z.")
    return moment


@require_GET
@curator_required
def results(request: HttpRequest, name: str) -> HttpResponse:
    """Show everything a study found, as it stands."""
    study = get_object_or_404(Study.objects.visible_to(request.user), name=name)
    try:
        moment = as_of(request)
    except NoMoment as wrong:
        return HttpResponse(str(wrong), status=422, content_type="text/plain; charset=utf-8")
    found = study_results(study, as_of=moment)
    rates = found.rates
    figures = [rates.solved, rates.solved_at_first, *rates.within] if rates.within else [rates.solved]
    by_name = {figure.name: figure for figure in rates.difficulty}
    context = {
        "study": study,
        "results": found,
        "as_of": moment,
        "people": len({row.annotator for row in found.rows}),
        "versions": len({row.version_id for row in found.rows}),
        "rates": [line_of(each) for each in (*figures, rates.versions_by_one, rates.versions_by_majority)],
        "difficulty": [line_of(by_name[level], brief=True) for level in study.protocol.difficulty_levels],
        "by_level": [line(level, rate, "attempts", brief=True) for level, rate in found.by_level],
        "by_arm": [line(Arm(arm).label, rate, "attempts", brief=True) for arm, rate in found.by_arm]
        if len(study.protocol.arms) > 1 or len(found.by_arm) > 1
        else [],
        "by_protocol": [
            line(f"protocol {number}", rate, "attempts", brief=True) for number, rate in found.by_protocol
        ]
        if len(found.by_protocol) > 1
        else [],
        "rules": in_words_of("exclusion_rules", study.protocol.exclusion_rules)
        if study.protocol.exclusion_rules
        else "",
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
    try:
        moment = as_of(request)
    except NoMoment as wrong:
        return HttpResponse(str(wrong), status=422, content_type="text/plain; charset=utf-8")
    audit(request.user, "study exported", f"study:{study.pk}", table=table, style=style)
    content_type = CSV if style == "csv" else NDJSON
    chunks = export(study, table, style, as_of=moment)
    return stream(request, chunks, content_type=content_type, filename=f"{study.name}-{table}.{style}")


@require_GET
@curator_required
def study_codebook(request: HttpRequest, name: str) -> HttpResponse:
    """Send the codebook of the study's tables."""
    study = get_object_or_404(Study.objects.visible_to(request.user), name=name)
    return HttpResponse(codebook(study), content_type="text/markdown; charset=utf-8")
