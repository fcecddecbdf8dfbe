"""FAIRNESS: the report on a study's versions, its rows as files, and asking for what was not executed yet."""

from __future__ import annotations

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import HttpResponse, HttpResponseBase
from django.shortcuts import get_object_or_404, redirect
from django.views.decorators.http import require_GET, require_POST

from annotation.exporting import pseudonyms
from annotation.fairness.decided import DECISIONS, decision_rows
from annotation.fairness.report import ROWS, Report, as_csv, as_jsonl, report
from annotation.forms.judging import RepeatsForm
from annotation.models import Study, User
from annotation.solutions import recorded
from annotation.trials import NotExecuted, ask_trials
from config.access import curator_required
from config.http import HttpRequest, render_page
from config.streaming import CSV, NDJSON, stream
from examples.models import Version, audit

VERSIONS_SHOWN = 50


@require_GET
@curator_required
def study_fairness(request: HttpRequest, name: str) -> HttpResponse:
    """Show what is wrong with the versions of a study, each finding with its evidence. Looking is written down."""
    study = _study(request, name)
    audit(request.user, "fairness seen", f"study:{study.pk}")
    return _show(request, study, RepeatsForm())


@require_POST
@curator_required
def fairness_execute(request: HttpRequest, name: str) -> HttpResponseBase:
    """Execute what was not executed yet of all solutions of the study's versions, as often as is asked for."""
    study = _study(request, name)
    form = RepeatsForm(request.POST)
    if not form.is_valid():
        return _show(request, study, form, status=422)
    asked, unbuilt = 0, list[str]()
    versions = Version.objects.filter(slots__study=study).distinct()
    for version in versions.select_related("example__dataset", "environment").order_by("pk"):
        solutions = recorded(version)
        try:
            asked += ask_trials(version, solutions, by=request.user, times=form.cleaned_data["times"])
        except NotExecuted as refusal:
            unbuilt.append(str(refusal))
    for said in dict.fromkeys(unbuilt):
        messages.error(request, said)
    messages.success(request, f"{asked} executions are asked for." if asked else "All of it is there.")
    return redirect("study_fairness", name=name)


@require_GET
@curator_required
def fairness_export(request: HttpRequest, name: str, table: str, style: str) -> HttpResponseBase:
    """Send findings, matrix or decisions as CSV or JSON Lines; people under the study's own pseudonyms."""
    study = _study(request, name)
    audit(request.user, "study exported", f"study:{study.pk}", table=f"fairness {table}", style=style)
    if table == "decisions":
        columns, rows = DECISIONS, iter(decision_rows(study))
    else:
        columns, rows_of = ROWS[table]
        rows = iter(rows_of(named(study)))
    chunks = as_csv(columns, rows) if style == "csv" else as_jsonl(rows)
    content_type = CSV if style == "csv" else NDJSON
    return stream(request, chunks, content_type=content_type, filename=f"{study.name}-{table}.{style}")


def named(study: Study) -> Report:
    """Return the report under the study's own pseudonyms, which say nothing about people elsewhere."""
    of_study = pseudonyms(study)
    known = User.objects.filter(pk__in=of_study).values_list("pk", "pseudonym")
    return report(study, names={pseudonym: of_study[pk] for pk, pseudonym in known})


def _study(request: HttpRequest, name: str) -> Study:
    return get_object_or_404(Study.objects.visible_to(request.user), name=name)


def _show(request: HttpRequest, study: Study, form: RepeatsForm, *, status: int = 200) -> HttpResponse:
    found = report(study)
    by_version = Paginator(found.versions, VERSIONS_SHOWN).get_page(request.GET.get("page"))
    context = {"study": study, "report": found, "page": by_version, "form": form}
    return render_page(request, "annotation/study_fairness.html", context, status=status)
