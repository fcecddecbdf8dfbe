"""Django's admin over examples: an admin may look, and nobody may change."""

from __future__ import annotations

import pytest
from django.contrib import admin
from django.test import Client

from annotation.models import User
from examples.admin import ReadOnly
from examples.models import AuditEntry, Check, Dataset, Example, ImportReport, Version, audit
from tests.factories import make_version

MODELS = [AuditEntry, Check, Dataset, Example, ImportReport, Version]


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.__name__)
def test_an_admin_looks_and_changes_nothing(model: type, client: Client, admin_user: User) -> None:
    make_version()
    audit(None, "something", "version:1")
    ImportReport.objects.create(dataset_name="demo", file_name="a.json")
    client.force_login(admin_user)
    place = f"/admin/examples/{model.__name__.lower()}/"
    row = model.objects.first()
    assert client.get(place).status_code == 200
    assert client.get(f"{place}{row.pk}/change/").status_code == 200
    assert client.get(f"{place}add/").status_code == 403
    assert client.post(f"{place}{row.pk}/change/", {}).status_code == 403
    assert client.post(f"{place}{row.pk}/delete/", {"post": "yes"}).status_code == 403
    assert model.objects.filter(pk=row.pk).exists()


def test_every_registration_of_this_app_is_read_only() -> None:
    ours = [made for model, made in admin.site._registry.items() if model._meta.app_label == "examples"]
    assert len(ours) == len(MODELS)
    assert all(isinstance(made, ReadOnly) for made in ours)
