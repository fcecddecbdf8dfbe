"""The curator's pages over generation; config/urls.py includes them below generation/."""

from __future__ import annotations

from django.urls import path

from examples.views import generation, generation_fragment, generation_new, generation_wish

urlpatterns = [
    path("", generation.generation, name="generation"),
    path("new/", generation_new.generation_new, name="generation_new"),
    path("yield.json", generation.generation_yields, name="generation_yields"),
    path("wishes/<int:pk>/", generation_wish.package_wish, name="package_wish"),
    path("runs/<slug:name>/", generation.generation_run, name="generation_run"),
    path("runs/<slug:name>/fragments/", generation.generation_fragments, name="generation_fragments"),
    path("runs/<slug:name>/yield.<str:style>", generation.generation_yield, name="generation_yield"),
    path("runs/<slug:name>/state/", generation.generation_state, name="generation_state"),
    path("runs/<slug:name>/<int:number>/", generation_fragment.fragment, name="fragment"),
    path(
        "runs/<slug:name>/<int:number>/edit/<slug:subject>/",
        generation_fragment.fragment_edit,
        name="fragment_edit",
    ),
    path(
        "runs/<slug:name>/<int:number>/accept/", generation_fragment.fragment_accept, name="fragment_accept"
    ),
    path(
        "runs/<slug:name>/<int:number>/reject/", generation_fragment.fragment_reject, name="fragment_reject"
    ),
    path("runs/<slug:name>/<int:number>/again/", generation_fragment.fragment_again, name="fragment_again"),
]
