"""The API's description is drawn up once, and is the same for everybody who asks for that form of it."""

from __future__ import annotations

import json

import pytest
from django.urls import reverse
from drf_spectacular.generators import SchemaGenerator

from config.schema import SchemaView

pytestmark = pytest.mark.django_db
JSON = {"Accept": "application/vnd.oai.openapi+json"}


@pytest.fixture
def drawn(monkeypatch) -> list[int]:
    """How many times it was drawn up since the test began."""
    monkeypatch.setattr(SchemaView, "kept", {})
    times, honest = [], SchemaGenerator.get_schema

    def count(*arguments, **named):
        times.append(1)
        return honest(*arguments, **named)

    monkeypatch.setattr(SchemaGenerator, "get_schema", count)
    return times


def test_it_is_drawn_up_once_for_each_form(drawn, client, curator):
    address = reverse("schema")
    first = client.get(address, headers=JSON)
    again = client.get(address, headers=JSON)
    client.force_login(curator)
    assert first.content == again.content == client.get(address, headers=JSON).content
    assert "/api/v1/releases/" in json.loads(first.content)["paths"]
    assert first["Content-Type"] == again["Content-Type"] == JSON["Accept"]
    assert len(drawn) == 1
    assert client.get(address).content.startswith(b"openapi:")
    assert len(drawn) == 2


def test_an_odd_form_is_refused_and_one_asked_for_by_name_given(drawn, client):
    assert client.get(reverse("schema"), {"format": "json"})["Content-Type"].endswith("json")
    assert client.get(reverse("schema"), {"format": "odd"}).status_code == 404
    assert client.post(reverse("schema")).status_code == 405


def test_caches_may_keep_what_an_anonymous_reader_gets_and_nothing_else(drawn, client, curator):
    assert client.get(reverse("schema"))["Cache-Control"] == "public, max-age=60"
    client.force_login(curator)
    assert client.get(reverse("schema"))["Cache-Control"] == "private, no-store"
