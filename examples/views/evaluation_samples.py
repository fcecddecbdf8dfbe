"""EVALUATE: the samples of an evaluation, one sample with its code and rows, and the grid of models and examples."""

from __future__ import annotations

from django.core.paginator import Paginator
from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404
from django.views.decorators.http import require_GET

from config.access import curator_required
from config.http import HttpRequest, render_page
from examples.evaluation.grid import EVERYBODY, NOBODY, grid
from examples.evaluation.leaderboard import NoSuchPlace, evaluations_at, places
from examples.models import Evaluation, ModelSample
from examples.views.evaluation import found_by
from runner.outcome import Outcome

PAGE, GRID_PAGE, ROWS_SHOWN = 50, 100, 1000
LEFT = "left"
WANTED = {NOBODY: "nobody solves", EVERYBODY: "everybody solves, with every sample"}


@require_GET
@curator_required
def evaluation_samples(request: HttpRequest, name: str) -> HttpResponse:
    """Show a page of the samples, of one version (`?version=17`) or with one outcome (`?outcome=FAILED`) where asked."""
    made = found_by(request, name)
    found = ModelSample.objects.visible_to(request.user).filter(item__evaluation=made)
    version, outcome = request.GET.get("version", ""), request.GET.get("outcome", "")
    if version.isdecimal() and len(version) < 10:
        found = found.filter(item__version=int(version))
    if outcome in Outcome.__members__:
        found = found.filter(execution__outcome=outcome)
    elif outcome == LEFT:
        found = found.exclude(execution__state="finished")
    found = found.select_related("item__version__example", "execution").order_by("item__position", "number")
    found = found.defer("item__version__context", "item__version__reference", "execution__job_data", "reply")
    page = Paginator(found, PAGE).get_page(request.GET.get("page"))
    context = {
        "evaluation": made,
        "page": page,
        "version": version,
        "outcome": outcome,
        "outcomes": [each.value for each in Outcome],
    }
    return render_page(request, "examples/evaluation/samples.html", context)


@require_GET
@curator_required
def model_sample(request: HttpRequest, pk: int) -> HttpResponse:
    """Show a sample: the reply as received, the program that was executed, its outcome and rows."""
    seen = ModelSample.objects.visible_to(request.user).select_related(
        "item__evaluation", "item__version__example", "execution__environment"
    )
    sample = get_object_or_404(seen, pk=pk)
    execution = sample.execution
    alike = ModelSample.objects.visible_to(request.user).filter(execution=execution).exclude(pk=pk)
    context = {
        "sample": sample,
        "evaluation": sample.item.evaluation,
        "version": sample.item.version,
        "execution": execution,
        "job": execution.job if execution else None,
        "rows": execution.rows.all()[:ROWS_SHOWN] if execution else [],
        "alike": alike.count() if execution else 0,
    }
    return render_page(request, "examples/evaluation/sample.html", context)


@require_GET
@curator_required
def evaluation_grid(request: HttpRequest) -> HttpResponse:
    """Show models beside examples over a place (`?over=dataset:demo`), the hardest first, or those `?show=nobody` solves."""
    seen = Evaluation.objects.visible_to(request.user)
    known = places(seen)
    over = request.GET.get("over", known[0].name if known else "")
    show = request.GET.get("show", "")
    try:
        chosen = evaluations_at(seen, over) if over else []
    except NoSuchPlace as missing:
        raise Http404 from missing
    rows = grid(chosen) if chosen else []
    counts = {wanted: sum(row.verdict == wanted for row in rows) for wanted in WANTED}
    shown = [row for row in rows if row.verdict == show] if show in WANTED else rows
    context = {
        "places": known,
        "over": over,
        "show": show if show in WANTED else "",
        "wanted": [(name, words, counts[name]) for name, words in WANTED.items()],
        "evaluations": chosen,
        "total": len(rows),
        "page": Paginator(shown, GRID_PAGE).get_page(request.GET.get("page")),
    }
    return render_page(request, "examples/evaluation/grid.html", context)
