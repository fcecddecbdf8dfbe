"""STUDY: the calculator: how many people and examples give which interval, and when an open study will be done."""

from __future__ import annotations

from typing import Any

from django.http import HttpResponse, QueryDict
from django.utils import timezone
from django.views.decorators.http import require_GET

from annotation.forms.calculator import START, CalculatorForm, filled_in
from annotation.models import Study
from annotation.planning import PEOPLE, Actual, actual, needed, table
from config.access import curator_required
from config.http import HttpRequest, render_page


@require_GET
@curator_required
def calculator(request: HttpRequest) -> HttpResponse:
    """Answer the question in the address; a study chosen with `fill` puts what it has shown in place of what was typed."""
    studies = Study.objects.visible_to(request.user).prefetch_related("protocols")
    found = _chosen(request)
    asked = {name: f"{value:g}" for name, value in START.items()}
    if found and (request.GET.get("do") == "fill" or "share" not in request.GET):
        asked |= {name: f"{value:g}" for name, value in filled_in(found).items()}
    else:
        asked |= {name: request.GET[name] for name in START if name in request.GET}
    sent = QueryDict(mutable=True)
    sent.update({**asked, "study": found.study.name if found else ""})
    form = CalculatorForm(sent, studies=studies)
    context: dict[str, Any] = {"form": form, "actual": found, "people": PEOPLE}
    if form.is_valid():
        wanted = form.wanted()
        context |= {"wanted": wanted, "needed": needed(wanted), "rows": table(wanted)}
    status = 200 if form.is_valid() else 422
    return render_page(request, "annotation/calculator.html", context, status=status)


def _chosen(request: HttpRequest) -> Actual | None:
    """Return what the chosen study has shown; None where none is chosen, or the name is nobody's."""
    study = Study.objects.visible_to(request.user).filter(name=request.GET.get("study", "")).first()
    return actual(study, now=timezone.now()) if study else None
