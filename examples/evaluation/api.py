"""API: evaluations and leaderboards, for curators and for readers of frozen releases; figures only, never a sample."""

from __future__ import annotations

from typing import Any

from django.db.models import QuerySet
from django.http import Http404
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers, viewsets
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from config.pagination import ByCursor
from config.scopes import RELEASES, HasScope, person_of
from examples.evaluation.figures import gap, outcome_shares, pass_at_ks, usual_ks
from examples.evaluation.leaderboard import NoSuchPlace, evaluations_at, leaderboard, place_of, places
from examples.evaluation.progress import progress
from examples.evaluation.reporting import limit_text
from examples.evaluation.rows import tallies
from examples.evaluation.writing import board_as_json, mean_as_json
from examples.models import Evaluation

OVER = OpenApiParameter(
    "over", str, OpenApiParameter.QUERY, description="such as dataset:demo or split:solved@1.0.0/test"
)


class EvaluationSerializer(serializers.ModelSerializer[Evaluation]):
    """An evaluation: model, how it was asked, under which limit it is judged."""

    over = serializers.SerializerMethodField()
    limit = serializers.SerializerMethodField()

    class Meta:
        model = Evaluation
        fields = (
            "name",
            "model_name",
            "over",
            "origin",
            "sources",
            "samples_asked",
            "temperature",
            "top_p",
            "max_tokens",
            "parameters",
            "limit",
            "created_at",
        )

    def get_over(self, evaluation: Evaluation) -> str:
        """Return the place it is over."""
        return place_of(evaluation.over)

    def get_limit(self, evaluation: Evaluation) -> str:
        """Return the limit that stands beside every figure of it."""
        return limit_text(evaluation)


class EvaluationViewSet(viewsets.ReadOnlyModelViewSet[Evaluation]):
    """Evaluations of models: those over splits a reader may download; curators see all."""

    scope = RELEASES
    permission_classes = [HasScope]
    queryset = Evaluation.objects.none()
    serializer_class = EvaluationSerializer
    pagination_class = ByCursor
    lookup_field = "name"

    def get_queryset(self) -> QuerySet[Evaluation]:
        """Return the evaluations the person may see."""
        seen = Evaluation.objects.visible_to(person_of(self.request))
        return seen.select_related("dataset", "split__release").order_by("pk")

    @extend_schema(responses={(200, "application/json"): OpenApiTypes.OBJECT})
    @action(detail=True, pagination_class=None, filter_backends=[])
    def figures(self, request: Request, name: str) -> Response:  # noqa: ARG002 - the router's signature
        """pass@k with denominators and intervals, the shares of outcomes, what runs and what is right, how far it is."""
        evaluation = self.get_object()
        found = tallies(evaluation)
        now = progress(evaluation)
        apart = gap(found)
        return Response(
            {
                "evaluation": evaluation.name,
                "limit": limit_text(evaluation),
                "state": now.state,
                "samples": {
                    "all": now.samples,
                    "judged": now.judged,
                    "unjudged": now.unjudged,
                    "left": now.open + now.waiting,
                },
                "pass_at": {str(k): mean_as_json(value) for k, value in pass_at_ks(found, usual_ks(found))},
                "outcomes": {each.outcome: each.count for each in outcome_shares(found)},
                "runs": mean_as_json(apart.runs),
                "right": mean_as_json(apart.right),
                "runs_less_right": mean_as_json(apart.gap),
            }
        )


class LeaderboardViewSet(viewsets.ViewSet):
    """Several models on the versions that all of them were given."""

    scope = RELEASES
    permission_classes = [HasScope]

    @extend_schema(parameters=[OVER], responses={(200, "application/json"): OpenApiTypes.OBJECT})
    def list(self, request: Request) -> Response:
        """The leaderboard over a place, or, without one, the places there are."""
        seen = Evaluation.objects.visible_to(person_of(request))
        over = request.query_params.get("over", "")
        if not over:
            return Response({"places": [_place(each) for each in places(seen)]})
        try:
            chosen = evaluations_at(seen, over)
        except NoSuchPlace as missing:
            raise Http404 from missing
        return Response(board_as_json(leaderboard(chosen), over))


def _place(place: Any) -> dict[str, str]:
    return {"over": place.name, "title": place.title}
