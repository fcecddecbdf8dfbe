"""The runner's pages."""

from __future__ import annotations

from django.urls import path

from runner import views

urlpatterns = [
    path("healthz", views.healthz, name="healthz"),
    path("operations/", views.operations, name="operations"),
]
