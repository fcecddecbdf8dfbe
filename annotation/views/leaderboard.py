"""Models on a leaderboard, a study's people beside them, and both as files."""

from __future__ import annotations

import json
from dataclasses import dataclass

from django.http import Http404, HttpResponse
from django.utils.http import content_disposition_header
from django.views.decorators.http import require_GET

from annotation.beside_models import PeopleBeside, as_json, people_beside, studies_on
from annotation.figures import Line as PeopleLine
from annotation.figures import line as line_of
from annotation.models import Study
from config.access import reader_required
from config.http import HttpRequest, render_page
from config.streaming import CSV
from examples.evaluation.leaderboard import (
    Board,
    NoSuchPlace,
    Place,
    evaluations_at,
    leaderboard,
    places,
)
from examples.evaluation.rows import tallies_of
from examples.evaluation.writing import board_as_csv, board_as_json
from examples.models import Evaluation
from examples.views.evaluation import Row, row_of

JSON = "application/json; charset=utf-8"


@dataclass(frozen=True)
class Asked:
    """What the query asks for: a place with evaluations, those chosen of them, and a study where one is there."""

    places: list[Place]
    over: str
    offered: list[Evaluation]
    chosen: list[Evaluation]
    studies: list[Study]
    study: Study | None

    @property
    def query(self) -> str:
        """The same query, for a download."""
        names = "".join(f"&e={each.name}" for each in self.chosen)
        return f"?over={self.over}{names}{f'&study={self.study.name}' if self.study else ''}"


@require_GET
@reader_required
def board(request: HttpRequest) -> HttpResponse:
    """Show the models of a place (`?over=dataset:demo`), all or some (`?e=name`), and to curators a study's people."""
    asked = _asked(request)
    found = leaderboard(asked.chosen)
    people = _people(asked, found)
    context = {
        "asked": asked,
        "names": {each.name for each in asked.chosen},
        "board": found,
        "lines": [(line, [row_of(f"pass@{k}", value) for k, value in line.figures]) for line in found.lines],
        "people": people,
        "people_lines": _people_lines(people) if people else [],
        "beside": _beside_lines(people) if people else [],
    }
    return render_page(request, "annotation/leaderboard.html", context)


@require_GET
@reader_required
def board_file(request: HttpRequest, style: str) -> HttpResponse:
    """Send the leaderboard as CSV (its models) or JSON (models, and to curators the people beside them)."""
    asked = _asked(request)
    if not asked.chosen:
        raise Http404
    found = leaderboard(asked.chosen)
    if style == "csv":
        response = HttpResponse(b"".join(board_as_csv(found)), content_type=CSV)
    else:
        whole = board_as_json(found, asked.over)
        people = _people(asked, found)
        whole["people"] = as_json(people) if people else None
        response = HttpResponse(json.dumps(whole, indent=1, ensure_ascii=False), content_type=JSON)
    name = f"leaderboard-{asked.over.replace(':', '-').replace('/', '-')}.{style}"
    response["Content-Disposition"] = content_disposition_header(True, name) or "attachment"
    return response


def _asked(request: HttpRequest) -> Asked:
    """Return what the query asks for. Raises Http404 for what the person does not see."""
    seen = Evaluation.objects.visible_to(request.user)
    known = places(seen)
    over = request.GET.get("over") or (known[0].name if known else "")
    try:
        offered = evaluations_at(seen, over) if over else []
    except NoSuchPlace as missing:
        raise Http404 from missing
    names = set(request.GET.getlist("e"))
    chosen = [each for each in offered if each.name in names] or offered
    studies = studies_on(Study.objects.visible_to(request.user), chosen) if request.user.curates else []
    wanted = request.GET.get("study")
    study = next((each for each in studies if each.name == wanted), studies[0] if studies else None)
    return Asked(known, over, offered, chosen, studies, None if wanted == "" else study)


def _people(asked: Asked, found: Board) -> PeopleBeside | None:
    if asked.study is None or not asked.chosen:
        return None
    ordered = [line.evaluation for line in found.lines]
    return people_beside(asked.study, ordered, tallies_of(ordered), ks=found.ks)


def _people_lines(found: PeopleBeside) -> list[PeopleLine]:
    """Return the lines of what people did."""
    people = found.people
    rates = [("at first submission", people.at_first)]
    rates += [(f"within {number} submissions", rate) for number, rate in people.within]
    return [line_of(f"solved {words}", rate, "closed attempts") for words, rate in rates]


def _beside_lines(found: PeopleBeside) -> list[tuple[str, list[Row], Row, list[Row], int]]:
    """Return for each model its pass@k there, the difference, pass@1 by level, and how many versions it lacks."""
    return [
        (
            each.evaluation.model_name,
            [row_of(f"pass@{k}", value) for k, value in each.figures.figures if value.value is not None],
            row_of("people less model", each.figures.people_less_model),
            [row_of(level, value) for level, value in zip(found.levels, each.by_level, strict=True)],
            each.otherwise,
        )
        for each in found.models
    ]
