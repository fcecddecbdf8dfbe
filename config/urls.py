"""Site map: one include per app, accounts, the API."""

from __future__ import annotations

from allauth.account.decorators import secure_admin_login
from django.contrib import admin
from django.urls import include, path

from config.kit import kit

# Signing in to the admin goes by our own page, with its limits and second factor.
admin.site.login = secure_admin_login(admin.site.login)  # type: ignore[method-assign] # as allauth documents it

urlpatterns = [
    path("accounts/", include("allauth.urls")),
    path("admin/", admin.site.urls),
    path("api/", include("config.api")),
    path("kit/", kit, name="kit"),
    path("examples/", include("examples.urls")),
    path("generation/", include("examples.urls_generation")),
    path("evaluations/", include("examples.urls_evaluation")),
    path("", include("annotation.urls")),
    path("", include("annotation.urls_results")),
    path("", include("runner.urls")),
]
