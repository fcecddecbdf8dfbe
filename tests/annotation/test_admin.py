"""Django's admin shows records of people and changes none: it would go round the audit."""

from __future__ import annotations

import pytest
from django.apps import apps
from django.contrib import admin
from django.urls import reverse

OURS = [model for model in apps.get_app_config("annotation").get_models() if admin.site.is_registered(model)]


@pytest.mark.parametrize("model", OURS, ids=lambda model: model.__name__)
def test_an_admin_may_look_and_nothing_else(model, client, admin_user):
    client.force_login(admin_user, backend="django.contrib.auth.backends.ModelBackend")
    name = f"admin:annotation_{model._meta.model_name}"
    assert client.get(reverse(f"{name}_changelist")).status_code == 200
    assert client.get(reverse(f"{name}_add")).status_code == 403


def test_nothing_can_be_written_whichever_library_registered_it(rf, admin_user):
    request = rf.get("/admin/")
    request.user = admin_user
    writable = [
        model._meta.label
        for model, page in admin.site._registry.items()
        if page.has_add_permission(request)
        or page.has_change_permission(request)
        or page.has_delete_permission(request)
    ]
    assert writable == []


def test_the_secrets_of_second_factors_are_on_no_page():
    assert not admin.site.is_registered(apps.get_model("mfa", "Authenticator"))


def test_an_account_shows_no_password(client, admin_user):
    client.force_login(admin_user, backend="django.contrib.auth.backends.ModelBackend")
    page = client.get(reverse("admin:annotation_user_change", args=[admin_user.pk])).content.decode()
    assert admin_user.username in page
    assert admin_user.password not in page


def test_annotators_and_curators_have_no_admin(client, ann, curator):
    for person in (ann, curator):
        client.force_login(person, backend="django.contrib.auth.backends.ModelBackend")
        assert client.get(reverse("admin:annotation_user_changelist")).status_code != 200
