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


def test_an_account_shows_no_password(client, admin_user):
    client.force_login(admin_user, backend="django.contrib.auth.backends.ModelBackend")
    page = client.get(reverse("admin:annotation_user_change", args=[admin_user.pk])).content.decode()
    assert admin_user.username in page
    assert admin_user.password not in page


def test_annotators_and_curators_have_no_admin(client, ann, curator):
    for person in (ann, curator):
        client.force_login(person, backend="django.contrib.auth.backends.ModelBackend")
        assert client.get(reverse("admin:annotation_user_changelist")).status_code != 200
