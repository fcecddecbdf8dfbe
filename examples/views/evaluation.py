"""EVALUATE: the list of evaluations, one of them with its figures as they stand, and the request to score it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from django.contrib import messages
from django.http import HttpResponse, HttpResponseRedirect
from django.shortcuts import get_object_or_404
from django.urls import reverse
from django.views.decorators.http import require_GET, require_POST

from config.access import curator_required
from config.http import HttpRequest, render_page
from examples.evaluation.creating import EvaluationRefused
from examples.evaluation.figures import (
    Group,
    PassAtK,
    by_context,
    by_length,
    by_library,
    gap,
    outcome_shares,
    pass_at_ks,
    usual_ks,
)
from examples.evaluation.leaderboard import place_of
from examples.evaluation.pass_at_k import Mean
from examples.evaluation.progress import progress, progress_of
from examples.evaluation.reporting import limit_text
from examples.evaluation.rows import Tally, tallies
from examples.evaluation.scoring import ask_to_score, refuse_unbuilt
from examples.models import Evaluation, ModelSample, audit
from examples.tasks import score
from examples.waking import wake_on_commit

SHOWN, LIBRARIES_SHOWN, EXAMPLES_SHOWN = 200, 20, 500


@dataclass(frozen=True)
class Row:
    """A line of a forest: positions 0 to 100, None where undefined, and the words beside it."""

    label: str
    n: str
    point: float | None
    low: float | None
    high: float | None
    more: str


@require_GET
@curator_required
def evaluations(request: HttpRequest) -> HttpResponse:
    """Show all evaluations and how far each is."""
    seen = Evaluation.objects.visible_to(request.user).select_related("dataset", "split__release")
    found = list(seen[:SHOWN])
    standing = progress_of(found)
    rows = [(each, standing[each.pk]) for each in found]
    return render_page(request, "examples/evaluation/evaluations.html", {"rows": rows})


@require_GET
@curator_required
def evaluation(request: HttpRequest, name: str) -> HttpResponse:
    """Show an evaluation; asked again while it runs, nothing where nothing has changed."""
    made = found_by(request, name)
    now = progress(made)
    seen = f"{now.samples}-{now.judged}-{now.unjudged}-{now.waiting}"
    if request.htmx and request.GET.get("seen") == seen:
        return HttpResponse(status=204)
    found = tallies(made)
    ks = usual_ks(found)
    apart = gap(found)
    context = {
        "evaluation": made,
        "place": place_of(made.over),
        "limit": limit_text(made),
        "progress": now,
        "seen": seen,
        "figures": [row_of(f"pass@{k}", value) for k, value in pass_at_ks(found, ks)],
        "shares": outcome_shares(found),
        "gap": [
            row_of("runs", apart.runs),
            row_of("right", apart.right),
            row_of("runs and is not right", apart.gap),
        ],
        "groups": _groups(found),
        "recorded": _recorded(made),
        "tallies": found[:EXAMPLES_SHOWN],
        "more": max(0, len(found) - EXAMPLES_SHOWN),
        "total": len(found),
    }
    return render_page(
        request, "examples/evaluation/evaluation.html", context, partial="examples/evaluation/_figures.html"
    )


@require_POST
@curator_required
def evaluation_score(request: HttpRequest, name: str) -> HttpResponse:
    """Let a worker ask for what has no execution yet, and again for what stayed unjudged."""
    made = found_by(request, name)
    try:
        refuse_unbuilt(made)
    except EvaluationRefused as refusal:
        messages.error(request, str(refusal))
        return HttpResponseRedirect(reverse("evaluation", args=[made.name]))
    audit(request.user, "evaluation scored", f"evaluation:{made.pk}")
    ask_to_score(made)
    wake_on_commit(score, made.pk)
    messages.success(request, "A worker prepares its samples now; figures move as they are judged.")
    return HttpResponseRedirect(reverse("evaluation", args=[made.name]))


def found_by(request: HttpRequest, name: str) -> Evaluation:
    """Return the evaluation of that name, where the person sees it. Raises Http404."""
    seen = Evaluation.objects.visible_to(request.user).select_related(
        "dataset", "split__release", "environment", "created_by"
    )
    return get_object_or_404(seen, name=name)


def row_of(label: str, value: Mean) -> Row:
    """Return the line of a mean over examples; why it or its interval is undefined stands with it."""
    over = f"{value.n:,}" if value.is_whole else f"{value.n:,} of {value.total:,}"
    over += " example" if value.total == 1 else " examples"
    low, high = (None if each is None else 100 * each for each in (value.low, value.high))
    return Row(label, over, None if value.value is None else 100 * value.value, low, high, value.reason)


def _groups(found: Sequence[Tally]) -> list[tuple[str, str, list[Row]]]:
    """Return title, explanation and lines of each way to part the examples, by pass@1."""
    ways = (
        ("By library", "an example counts for each module it imports", by_library(found, [1])),
        ("By length of the reference", "lines that are not blank", by_length(found, [1])),
        ("By length of the context", "lines that are not blank", by_context(found, [1])),
    )
    return [
        (title, words, [_row(group) for group in groups[:LIBRARIES_SHOWN]]) for title, words, groups in ways
    ]


def _row(group: Group) -> Row:
    first: PassAtK = group.figures[0]
    return row_of(group.name, first.mean)


def _recorded(made: Evaluation) -> dict[str, int] | None:
    """Return how many verdicts came with the samples, and how many of these are ours too; None where none did."""
    judged = ModelSample.objects.filter(item__evaluation=made, execution__state="finished").exclude(
        recorded=None
    )
    pairs = judged.values_list("recorded", "execution__outcome", "execution__tampered")
    same = [recorded is (outcome == "PASSED" and not tampered) for recorded, outcome, tampered in pairs]
    return {"total": len(same), "same": sum(same)} if same else None
