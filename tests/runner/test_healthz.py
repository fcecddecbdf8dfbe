"""What monitors read: database, broker, worker; without the Docker engine, for anybody."""

from __future__ import annotations

import pytest
from django.db import OperationalError

from runner import views
from runner.models import Worker

pytestmark = pytest.mark.django_db


def test_all_is_well_with_a_worker(client):
    Worker.objects.create(name="here-1", boot="a")
    answer = client.get("/healthz")
    assert answer.status_code == 200
    assert answer.json() == {"database": "ok", "broker": "ok", "worker": "ok"}
    assert "no-store" in answer["Cache-Control"]


def test_no_worker_is_said(client):
    answer = client.get("/healthz")
    assert answer.status_code == 503
    assert "No worker has answered" in answer.json()["worker"]


def test_no_database_is_said(client, monkeypatch):
    def fail(*, in_detail):
        raise OperationalError("no such table")

    monkeypatch.setattr(views, "engine_trouble", fail)
    answer = client.get("/healthz")
    assert answer.status_code == 503
    assert answer.json()["database"] == "does not answer, or is not migrated"


def test_it_is_only_read(client):
    assert client.post("/healthz").status_code == 405
