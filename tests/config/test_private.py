"""Pages are no cache's to keep, static files are; every route is tried in tests/test_blindness.py."""

from __future__ import annotations

import pytest
from django.urls import reverse

from config.streaming import stream


@pytest.mark.parametrize("name", ["home", "account", "studies", "api_docs", "v1:dataset-list", "about"])
def test_no_page_of_somebody_signed_in_is_kept(name, client, curator):
    client.force_login(curator)
    answer = client.get(reverse(name))
    assert answer.status_code in (200, 302)
    assert answer["Cache-Control"] == "private, no-store"


def test_not_even_the_page_that_there_is_none(client, curator):
    client.force_login(curator)
    answer = client.get("/no/such/page/")
    assert (answer.status_code, answer["Cache-Control"]) == (404, "private, no-store")


def test_a_view_that_decides_for_itself_is_left_alone(client, rf, db):
    assert "must-revalidate" in client.get(reverse("account_login"))["Cache-Control"]
    assert (
        stream(rf.get("/"), iter([b"x"]), content_type="text/plain")["Cache-Control"] == "private, no-store"
    )


def test_static_files_are_everybodys_and_may_be_kept(client, settings):
    settings.STATIC_ROOT.mkdir(exist_ok=True)
    (settings.STATIC_ROOT / "everybodys.css").write_text("a { color: red }")
    answer = client.get("/static/everybodys.css")
    assert (answer.status_code, "public" in answer["Cache-Control"]) == (200, True)
