"""GENERATE: the runs, one of them with its fragments and its funnel, the yield as files, stop and resume."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.core.paginator import Paginator
from django.db.models import QuerySet
from django.http import Http404, HttpResponse, HttpResponseRedirect, JsonResponse
from django.shortcuts import get_object_or_404
from django.urls import reverse
from django.views.decorators.http import require_GET, require_POST

from config.access import curator_required
from config.http import HttpRequest, render_page
from examples.generation.runs import RunRefused, halt_run, resume_run
from examples.generation.tracing import with_counts
from examples.generation.yields import funnel_svg, yield_of, yields_by_prompts
from examples.models import Fragment, GenerationRun

RUNS, FRAGMENTS, STOPS = 100, 100, 12
LISTED = ("number", "path", "function", "repository", "state", "reason_code", "reason", "example")


@require_GET
@curator_required
def generation(request: HttpRequest) -> HttpResponse:
    """Show the runs, newest first, and what each model with each version of the prompts yields."""
    runs = list(with_counts(GenerationRun.objects.visible_to(request.user))[:RUNS])
    context = {"runs": runs, "yields": yields_by_prompts(runs), "most": RUNS}
    return render_page(request, "examples/generation/runs.html", context)


@require_GET
@curator_required
def generation_yields(request: HttpRequest) -> HttpResponse:
    """Give the yield of each model with each version of the prompts as JSON."""
    runs = GenerationRun.objects.visible_to(request.user)[:RUNS]
    return JsonResponse({"yields": [each.as_json() for each in yields_by_prompts(runs)]})


@require_GET
@curator_required
def generation_run(request: HttpRequest, name: str) -> HttpResponse:
    """Show a run: how far it is, its funnel, why fragments stop; asked again by its page while it runs."""
    run = run_of(request, name)
    report = yield_of([run])
    moved = f"{run.state}-{report.open}-{report.rounds}-{report.executions}-{report.accepted}"
    if request.htmx and request.GET.get("seen") == moved:
        return HttpResponse(status=204)
    context = {
        "run": run,
        "report": report,
        "moved": moved,
        "stops": report.stops[:STOPS],
        "latest": _listed(run).exclude(state=Fragment.State.LEFT_OUT)[:FRAGMENTS],
        "most": FRAGMENTS,
    }
    return render_page(
        request, "examples/generation/run.html", context, partial="examples/generation/_run.html"
    )


@require_GET
@curator_required
def generation_fragments(request: HttpRequest, name: str) -> HttpResponse:
    """Show all fragments of a run, those of one state or reason where asked: `?state=rejected`, `?reason=network`."""
    run = run_of(request, name)
    state, reason = request.GET.get("state", ""), request.GET.get("reason", "")
    found = _listed(run)
    if state in Fragment.State.values:
        found = found.filter(state=state)
    if reason:
        found = found.filter(reason_code=reason[:60])
    page = Paginator(found, FRAGMENTS).get_page(request.GET.get("page"))
    context = {"run": run, "page": page, "state": state, "reason": reason, "states": Fragment.State.choices}
    return render_page(request, "examples/generation/fragments.html", context)


@require_GET
@curator_required
def generation_yield(request: HttpRequest, name: str, style: str) -> HttpResponse:
    """Give a run's yield as a file, `json` or `svg`."""
    report = yield_of([run_of(request, name)])
    if style == "json":
        return JsonResponse(report.as_json())
    if style != "svg":
        raise Http404
    response = HttpResponse(funnel_svg(report), content_type="image/svg+xml")
    response["Content-Disposition"] = f'attachment; filename="yield-{name}.svg"'
    return response


@require_POST
@curator_required
def generation_state(request: HttpRequest, name: str) -> HttpResponse:
    """Stop a run, or let it go on: `action=stop`, `action=resume`."""
    run = run_of(request, name)
    try:
        if request.POST.get("action") == "stop":
            halt_run(run, by=request.user)
            messages.success(request, "Stopped. What is under way ends with its round.")
        else:
            waiting = resume_run(run, by=request.user)
            messages.success(request, f"It goes on: {waiting} fragments are open.")
    except RunRefused as refusal:
        messages.error(request, str(refusal))
    return HttpResponseRedirect(reverse("generation_run", args=[name]))


def run_of(request: HttpRequest, name: str) -> GenerationRun:
    """Return the run of a name with its counts. Raises Http404 where there is none for this person."""
    seen: Any = with_counts(GenerationRun.objects.visible_to(request.user))
    found: GenerationRun = get_object_or_404(seen, name=name)
    return found


def _listed(run: GenerationRun) -> QuerySet[Fragment]:
    """Return a run's fragments as a list shows them: without their texts."""
    return run.fragments.select_related("example").only(*LISTED, "run_id").order_by("number")
