"""Site map: one include per app, accounts, the API."""

from __future__ import annotations

from django.contrib import admin
from django.urls import include, path

from config.kit import kit

urlpatterns = [
    path("accounts/", include("allauth.urls")),
    path("admin/", admin.site.urls),
    path("api/", include("config.api")),
    path("kit/", kit, name="kit"),
    path("", include("annotation.urls")),
    path("", include("annotation.urls_results")),
    path("", include("runner.urls")),
]
