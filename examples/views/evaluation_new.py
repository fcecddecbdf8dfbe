"""EVALUATE: send a file of a model's samples and read what came in, and what could not, with its remedy."""

from __future__ import annotations

from django.http import HttpResponse
from django.views.decorators.http import require_http_methods

from config.access import curator_required
from config.http import HttpRequest, render_page
from examples.evaluation.creating import EvaluationRefused
from examples.evaluation.forms import SamplesForm
from examples.evaluation.importing import import_file
from examples.models import Dataset, Release, Split

OFFERED, PROBLEMS_SHOWN = 200, 200


@require_http_methods(["GET", "POST"])
@curator_required
def evaluation_new(request: HttpRequest) -> HttpResponse:
    """Show the form; take a file, and show what came of each record. Where nothing can come in, nothing is made."""
    datasets = list(Dataset.objects.all()[:OFFERED])
    frozen = Split.objects.visible_to(request.user).filter(release__state=Release.State.FROZEN)
    splits = list(frozen.select_related("release")[:OFFERED])
    if request.method != "POST":
        return _page(request, SamplesForm(datasets=datasets, splits=splits))
    form = SamplesForm(request.POST, request.FILES, datasets=datasets, splits=splits)
    if not form.is_valid():
        return _page(request, form, status=422)
    file, dry_run = form.cleaned_data["file"], form.cleaned_data["dry_run"]
    try:
        name = form.evaluation_name()
        incoming = import_file(
            file.file,
            form.chosen(),
            name=name,
            model_name=form.cleaned_data["model_name"],
            rules=form.rules(),
            file_name=file.name,
            by=request.user,
            dry_run=dry_run,
        )
    except EvaluationRefused as refusal:
        form.add_error(None, str(refusal))
        return _page(request, form, status=422)
    context = {
        "incoming": incoming,
        "name": name,
        "file_name": file.name,
        "made": not dry_run and not incoming.refused,
        "dry_run": dry_run,
        "problems": incoming.problems[:PROBLEMS_SHOWN],
    }
    status = 422 if incoming.refused else 200
    return render_page(request, "examples/evaluation/imported.html", context, status=status)


def _page(request: HttpRequest, form: SamplesForm, *, status: int = 200) -> HttpResponse:
    return render_page(request, "examples/evaluation/new.html", {"form": form}, status=status)
