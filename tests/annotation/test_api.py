"""The API: tokens with scopes, who reads what, one shape of errors, and a description without warnings."""

from __future__ import annotations

import json
from datetime import timedelta

import pytest
from django.core.management import call_command
from django.test import Client
from django.utils import timezone
from rest_framework.test import APIClient

from annotation import evidence
from annotation.models import ApiToken
from annotation.tokens import LIMIT, TokenRefused, make_token
from examples.models import Library, Version
from examples.releasing.drafting import DraftPlan, SplitPlan, draft_release
from examples.releasing.freezing import freeze
from tests.factories import make_attempt, make_study, make_version

EVERYTHING = ["releases:read", "examples:read", "studies:read"]
RELEASES = [
    "/api/v1/releases/",
    "/api/v1/releases/solved/",
    "/api/v1/releases/solved/1.0.0/",
    "/api/v1/releases/solved/1.0.0/manifest/",
    "/api/v1/releases/solved/1.0.0/sums/",
    "/api/v1/releases/solved/1.0.0/files/README.md/",
    "/api/v1/releases/solved/1.0.0/splits/",
    "/api/v1/releases/solved/1.0.0/splits/test/",
]
EXAMPLES = [
    "/api/v1/datasets/",
    "/api/v1/datasets/demo/",
    "/api/v1/datasets/demo/export/",
    "/api/v1/examples/",
]
STUDIES = ["/api/v1/studies/", "/api/v1/studies/s-01/", "/api/v1/studies/s-01/results/"]
ALL = [*RELEASES, *EXAMPLES, *STUDIES]


@pytest.fixture
def release(ann, ben, curator):
    versions = [make_version(f"add{at}", repository=f"owner/r{at}") for at in range(4)]
    study = make_study(versions=versions, people=[ann, ben])
    for version in versions:
        for person in (ann, ben):
            make_attempt(study, version, person)
    splits = [SplitPlan("test", 0.5), SplitPlan("held-out", 0.5, held_out=True)]
    plan = DraftPlan(name="solved", number="1.0.0", seed=3, splits=splits)
    draft = draft_release(plan, versions=Version.objects.all(), by=curator)
    return freeze(draft, by=curator, people=evidence)


def with_token(user, *scopes: str) -> APIClient:
    client = APIClient()
    token = make_token(user, name="test", scopes=scopes or ["releases:read"], days=7)
    client.credentials(HTTP_AUTHORIZATION=f"Token {token}")
    return client


def in_session(user) -> APIClient:
    client = APIClient()
    client.force_login(user, backend="django.contrib.auth.backends.ModelBackend")
    return client


@pytest.mark.parametrize("address", ALL)
def test_a_stranger_gets_401_and_an_annotator_404_as_if_nothing_were_there(address, release, ann):
    stranger = APIClient().get(address)
    assert (stranger.status_code, stranger["WWW-Authenticate"]) == (401, "Token")
    refused, absent = in_session(ann).get(address), in_session(ann).get("/api/v1/releases/no/9.9.9/")
    assert (refused.status_code, refused.json()) == (absent.status_code, absent.json())
    assert refused.status_code == 404


@pytest.mark.parametrize("address", ALL)
def test_a_curator_reads_everything_by_token_and_in_the_browser(address, release, curator):
    assert with_token(curator, *EVERYTHING).get(address).status_code == 200
    assert in_session(curator).get(address).status_code == 200


@pytest.mark.parametrize("address", ALL)
def test_a_reader_reads_releases_and_nothing_else(address, release, reader):
    expected = 200 if address in RELEASES else 404
    assert with_token(reader).get(address).status_code == expected


@pytest.mark.parametrize("address", [*EXAMPLES, *STUDIES])
def test_a_token_without_the_scope_is_refused_by_name(address, release, curator):
    answer = with_token(curator, "releases:read").get(address)
    assert answer.status_code == 403
    assert "lacks the scope" in answer.json()["errors"][0]["detail"]


def test_what_writes_is_not_allowed(release, curator):
    client = with_token(curator, *EVERYTHING)
    for address in ALL:
        for method in (client.post, client.put, client.patch, client.delete):
            assert method(address).status_code == 405


def test_every_error_has_one_shape(release, curator, reader):
    curious = with_token(curator, *EVERYTHING)
    answers = [
        APIClient().get("/api/v1/releases/"),
        with_token(reader).get("/api/v1/examples/"),
        with_token(curator).get("/api/v1/examples/"),
        curious.get("/api/v1/examples/?status=odd"),
        curious.post("/api/v1/examples/"),
        curious.get("/api/v1/examples/?cursor=odd"),
    ]
    assert [answer.status_code for answer in answers] == [401, 404, 403, 400, 405, 404]
    for answer in answers:
        assert answer.json().keys() == {"type", "errors"}
        assert all(error.keys() == {"code", "detail", "attr"} for error in answer.json()["errors"])
    assert answers[3].json()["errors"][0]["attr"] == "status"


def test_a_split_is_streamed_byte_for_byte_what_its_hash_says(release, reader, tmp_path):
    import hashlib

    client = with_token(reader)
    listed = client.get("/api/v1/releases/solved/1.0.0/splits/").json()["results"]
    assert [(each["name"], each["examples"]) for each in listed] == [("test", 2)]
    answer = client.get("/api/v1/releases/solved/1.0.0/splits/test/")
    assert answer.streaming
    assert answer["Content-Type"] == "application/x-ndjson; charset=utf-8"
    sent = b"".join(answer.streaming_content)
    assert hashlib.sha256(sent).hexdigest() == listed[0]["sha256"] == answer["ETag"].strip('"')
    assert len(sent) == int(answer["Content-Length"]) == listed[0]["size_bytes"]
    assert [json.loads(line)["split"] for line in sent.splitlines()] == ["test", "test"]


def test_a_held_out_split_is_for_curators_only(release, reader, curator):
    for address in ("splits/held-out/", "files/held-out.jsonl/"):
        assert with_token(reader).get(f"/api/v1/releases/solved/1.0.0/{address}").status_code == 404
        assert with_token(curator).get(f"/api/v1/releases/solved/1.0.0/{address}").status_code == 200
    assert "held-out" not in with_token(reader).get("/api/v1/releases/solved/1.0.0/sums/").content.decode()


def test_a_draft_is_not_in_the_api_for_anybody(release, curator):
    plan = DraftPlan(name="solved", number="2.0.0", seed=3, splits=[SplitPlan("test", 1)])
    draft_release(plan, versions=Version.objects.all(), by=curator)
    client = with_token(curator)
    assert client.get("/api/v1/releases/solved/2.0.0/").status_code == 404
    assert client.get("/api/v1/releases/solved/2.0.0/splits/test/").status_code == 404
    assert [each["number"] for each in client.get("/api/v1/releases/solved/").json()["results"]] == ["1.0.0"]


def test_examples_are_filtered_and_come_page_by_page(release, curator, django_assert_max_num_queries):
    version = make_version("other", dataset="second", checked=False)
    version.example.libraries.add(Library.objects.create(name="numpy"))
    client = with_token(curator, *EVERYTHING)

    def found(query: str) -> list[str]:
        return [each["key"] for each in client.get(f"/api/v1/examples/?{query}").json()["results"]]

    assert found("dataset=second") == found("library=numpy") == found("check_state=pending") == ["other"]
    assert found("repository=owner/r1") == ["add1"]
    assert len(found("status=accepted")) == 5
    first = client.get("/api/v1/examples/?page_size=2").json()
    second = client.get(first["next"]).json()
    assert [each["key"] for each in first["results"] + second["results"]] == ["add0", "add1", "add2", "add3"]
    client.get("/api/v1/examples/")
    with django_assert_max_num_queries(4):  # token, the owner's other tokens, examples, libraries
        client.get("/api/v1/examples/")


def test_an_example_alone_comes_with_reference_tests_and_checks(release, curator):
    version = Version.objects.get(example__key="add1")
    shown = with_token(curator, "examples:read").get(f"/api/v1/examples/{version.example_id}/").json()
    assert shown["current"]["reference"] == "return a + b"
    assert {check["name"] for check in shown["current"]["checks"]} >= {"reference", "licence"}
    assert (
        "reference"
        not in with_token(curator, "examples:read").get("/api/v1/examples/").json()["results"][0]["current"]
    )


def test_results_say_n_intervals_and_what_is_undefined(release, curator):
    shown = with_token(curator, "studies:read").get("/api/v1/studies/s-01/results/").json()
    solved = shown["rates"]["solved"]["rate"]
    assert (solved["count"], solved["total"]) == (8, 8)
    assert solved["wilson"]["low"] == pytest.approx(0.676, abs=0.001)
    assert solved["cluster"] is None
    assert "same share" in solved["cluster_reason"]
    assert [line["pseudonym"] for line in shown["annotators"]] == ["A-01", "A-02"]


def test_an_expired_or_revoked_token_or_a_closed_account_gets_401(release, reader):
    client = with_token(reader)
    assert client.get("/api/v1/releases/").status_code == 200
    assert ApiToken.objects.get().last_used_at is not None
    ApiToken.objects.update(expiry=timezone.now() - timedelta(seconds=1))
    assert client.get("/api/v1/releases/").status_code == 401
    client = with_token(reader)
    type(reader).objects.filter(pk=reader.pk).update(is_active=False)
    assert client.get("/api/v1/releases/").status_code == 401


def test_who_loses_a_role_loses_what_the_token_could_read(release, curator):
    client = with_token(curator, *EVERYTHING)
    type(curator).objects.filter(pk=curator.pk).update(role="reader")
    assert client.get("/api/v1/examples/").status_code == 404
    assert client.get("/api/v1/releases/solved/1.0.0/splits/held-out/").status_code == 404
    type(curator).objects.filter(pk=curator.pk).update(role="annotator")
    assert client.get("/api/v1/releases/").status_code == 404


def test_tokens_of_a_foreign_scope_or_lifetime_or_beyond_the_limit_are_refused(reader, ann):
    for scopes, days in (([], 7), (["examples:read"], 7), (["releases:read"], 10_000)):
        with pytest.raises(TokenRefused):
            make_token(reader, name="x", scopes=scopes, days=days)
    with pytest.raises(TokenRefused):
        make_token(ann, name="x", scopes=["releases:read"], days=7)
    for _ in range(LIMIT):
        make_token(reader, name="x", scopes=["releases:read"], days=7)
    with pytest.raises(TokenRefused, match="Revoke one"):
        make_token(reader, name="x", scopes=["releases:read"], days=7)


def test_the_description_is_made_without_a_warning_and_names_every_address(tmp_path):
    call_command("spectacular", "--fail-on-warn", "--file", str(tmp_path / "schema.yml"))
    assert "/api/v1/releases/{name}/{number}/splits/{split}/" in (tmp_path / "schema.yml").read_text()


def test_description_and_documentation_are_served_from_our_origin(db):
    client = Client()
    assert client.get("/api/schema/").status_code == 200
    page = client.get("/api/docs/").content.decode()
    assert "<style" not in page
    assert "http://" not in page.replace("http://testserver", "")
    assert client.get("/api/docs/?script=").status_code == 200
    assert "img-src 'self' data:" in client.get("/api/docs/")["Content-Security-Policy"]
    assert "unsafe" not in client.get("/api/docs/")["Content-Security-Policy"]
    assert "data:" not in client.get("/accounts/login/")["Content-Security-Policy"]
