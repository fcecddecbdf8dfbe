"""The whole REST surface on one router: /api/v1/, its description and its documentation."""

from __future__ import annotations

from csp.decorators import csp_update
from django.urls import include, path
from drf_spectacular.views import SpectacularSwaggerSplitView
from rest_framework.routers import DefaultRouter

from annotation.api import StudyViewSet
from config.schema import SchemaView
from examples.api import (
    NUMBER,
    DatasetViewSet,
    ExampleViewSet,
    NumberViewSet,
    ReleaseViewSet,
    SplitViewSet,
)
from examples.evaluation.api import EvaluationViewSet, LeaderboardViewSet
from runner.api import OperationsView

NAME = r"(?P<name>[-\w]+)"

router = DefaultRouter()
router.include_root_view = False
router.include_format_suffixes = False
router.register("datasets", DatasetViewSet, basename="dataset")
router.register("examples", ExampleViewSet, basename="example")
router.register("evaluations", EvaluationViewSet, basename="evaluation")
router.register("leaderboards", LeaderboardViewSet, basename="leaderboard")
router.register("studies", StudyViewSet, basename="study")
router.register("releases", ReleaseViewSet, basename="release")
router.register(f"releases/{NAME}", NumberViewSet, basename="release-number")
router.register(f"releases/{NAME}/(?P<number>{NUMBER})/splits", SplitViewSet, basename="split")

operations = path("operations/", OperationsView.as_view(), name="operations")

# Swagger UI's style sheet draws its arrows by `data:` images; nothing else of the policy is opened, and only here.
docs = csp_update({"img-src": ["data:"]})(SpectacularSwaggerSplitView.as_view(template_name="api/docs.html"))

urlpatterns = [
    path("v1/", include(([*router.urls, operations], "v1"), namespace="v1")),
    path("schema/", SchemaView.as_view(), name="schema"),
    path("docs/", docs, name="api_docs"),
]
