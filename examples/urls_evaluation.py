"""The curator's pages over models' evaluations; config/urls.py includes them below evaluations/."""

from __future__ import annotations

from django.urls import path

from examples.views import evaluation, evaluation_new, evaluation_samples

urlpatterns = [
    path("", evaluation.evaluations, name="evaluations"),
    path("new/", evaluation_new.evaluation_new, name="evaluation_new"),
    path("grid/", evaluation_samples.evaluation_grid, name="evaluation_grid"),
    path("samples/<int:pk>/", evaluation_samples.model_sample, name="model_sample"),
    path("of/<slug:name>/", evaluation.evaluation, name="evaluation"),
    path("of/<slug:name>/score/", evaluation.evaluation_score, name="evaluation_score"),
    path("of/<slug:name>/samples/", evaluation_samples.evaluation_samples, name="evaluation_samples"),
]
