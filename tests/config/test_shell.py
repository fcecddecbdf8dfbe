"""The shell: navigation by role, pages of refusal and failure, and templates that hold under a strict policy."""

from __future__ import annotations

import re
from pathlib import Path
from types import SimpleNamespace

import pytest
from django.conf import settings
from django.template.loader import render_to_string
from django.test import Client, RequestFactory
from django.urls import path

from annotation.models import User
from config.access import Role
from config.parts import navigation

TEMPLATES = sorted((settings.BASE_DIR / "templates").rglob("*.html"))


def nothing(request: object) -> None:
    """A view that is only reversed."""


urlpatterns = [
    path("", nothing, name="work"),
    path("examples/", nothing, name="examples"),
    path("releases/", nothing, name="releases"),
]


@pytest.mark.urls(__name__)
@pytest.mark.parametrize(
    ("role", "labels"),
    [
        (Role.ANNOTATOR, ["My work"]),
        (Role.READER, ["Releases"]),
        (Role.CURATOR, ["Examples", "Releases"]),
        (Role.ADMIN, ["Examples", "Releases"]),
        ("", []),
    ],
)
def test_links_differ_by_role_and_leave_out_pages_that_are_not_there(role: str, labels: list[str]) -> None:
    assert [link.label for link in navigation.links(role, "/x")] == labels


@pytest.mark.urls(__name__)
def test_the_page_below_a_link_is_current_and_the_start_page_only_itself() -> None:
    assert [link.current for link in navigation.links(Role.CURATOR, "/examples/12/")] == [True, False]
    assert [link.current for link in navigation.links(Role.ANNOTATOR, "/examples/12/")] == [False]
    assert [link.current for link in navigation.links(Role.ANNOTATOR, "/")] == [True]


def test_a_signed_in_page_shows_pseudonym_role_and_a_way_out_by_post(ann: User, client: Client) -> None:
    client.force_login(ann)
    html = client.get("/accounts/password/change/").content.decode()
    assert ann.pseudonym in html
    assert '<form method="post" action="/accounts/logout/">' in html
    assert f">{ann.username}<" not in html


def test_the_failure_page_needs_no_context_and_no_database() -> None:
    html = render_to_string("500.html")
    assert "Something of ours failed" in html
    assert "site.css" in html


def test_a_missing_page_answers_in_the_shell(client: Client, db: None) -> None:
    response = client.get("/nothing/here/")
    assert response.status_code == 404
    assert "Nothing here" in response.content.decode()


def test_a_form_with_an_old_token_answers_in_the_shell(db: None) -> None:
    response = Client(enforce_csrf_checks=True).post("/accounts/login/", {"login": "x", "password": "y"})
    assert response.status_code == 403
    assert "too old" in response.content.decode()


def test_a_wrong_password_keeps_the_name_and_says_so(ann: User, client: Client) -> None:
    html = client.post("/accounts/login/?kept=1", {"login": "ann", "password": "wrong"}).content.decode()
    assert 'value="ann"' in html
    assert 'role="alert"' in html
    assert "Your session ended" in html


def test_the_kit_is_for_those_who_curate(curator: User, ann: User, client: Client) -> None:
    assert client.get("/kit/").status_code == 302
    client.force_login(ann)
    assert client.get("/kit/").status_code == 404
    client.force_login(curator)
    assert client.get("/kit/").status_code == 200


def test_a_message_of_ours_is_shown_once_in_the_live_region() -> None:
    request = RequestFactory().get("/")
    html = render_to_string(
        "base.html", {"messages": [SimpleNamespace(tags="warning", __str__=lambda self: "x")]}, request=None
    )
    assert request.method == "GET"
    assert html.count('id="messages" aria-live="polite"') == 1
    assert 'class="note warn"' in html


@pytest.mark.parametrize("template", TEMPLATES, ids=lambda found: str(found.relative_to(settings.BASE_DIR)))
def test_no_template_holds_inline_script_style_or_handler(template: Path) -> None:
    source = re.sub(r"{% comment %}.*?{% endcomment %}|{#.*?#}", "", template.read_text(), flags=re.S)
    assert not re.search(r"<script(?![^>]*\bsrc=)", source)
    assert "<style" not in source
    assert not re.search(r"<[a-z][^>]*\s(?:style|on[a-z]+|hx-on[\w:-]*)=", source)
    assert "javascript:" not in source


@pytest.mark.parametrize("template", TEMPLATES, ids=lambda found: str(found.relative_to(settings.BASE_DIR)))
def test_every_template_compiles(template: Path) -> None:
    from django.template import engines

    engines["django"].from_string(template.read_text())
