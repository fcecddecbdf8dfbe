"""API: studies and their results, for curators."""

from __future__ import annotations

from django.db.models import Count, Q, QuerySet
from drf_spectacular.utils import extend_schema
from rest_framework import viewsets
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from annotation.fairness.report import report
from annotation.fairness.serializers import FairnessSerializer
from annotation.models import Slot, Study
from annotation.results import study_results
from annotation.serializers import ResultsSerializer, StudySerializer
from config.pagination import ByCursor
from config.scopes import STUDIES, HasScope, person_of
from examples.models import audit


class StudyViewSet(viewsets.ReadOnlyModelViewSet[Study]):
    """Studies: the protocol of each, and what came of it."""

    scope = STUDIES
    permission_classes = [HasScope]
    queryset = Study.objects.none()
    serializer_class = StudySerializer
    pagination_class = ByCursor
    lookup_field = "name"

    def get_queryset(self) -> QuerySet[Study]:
        """Return the studies the person sees."""
        seen = Study.objects.visible_to(person_of(self.request)).prefetch_related("protocols")
        return seen.annotate(
            people_count=Count("people", distinct=True),
            version_count=Count(
                "slots__version", filter=Q(slots__kind=Slot.Kind.STUDY), distinct=True
            ),  # gold and warm-up are no part of what it finds out
        )

    @extend_schema(responses=ResultsSerializer)
    @action(detail=True, pagination_class=None)
    def results(self, _request: Request, **_place: str) -> Response:
        """Rates, times, agreement and tables as they stand; undefined is null with its reason."""
        return Response(ResultsSerializer(study_results(self.get_object())).data)

    @extend_schema(responses=FairnessSerializer)
    @action(detail=True, pagination_class=None)
    def fairness(self, request: Request, **_place: str) -> Response:
        """What is wrong with the study's versions, found from what was executed; undefined says why, with its n."""
        study = self.get_object()
        audit(person_of(request), "fairness seen", f"study:{study.pk}", by="api")
        return Response(FairnessSerializer(report(study)).data)
