"""Results, releases, adjudication and tokens: who sees them, and what they say."""

from __future__ import annotations

import io
import json
import tarfile

import pytest
from django.test import Client
from django.urls import reverse

from annotation import evidence
from annotation.models import Adjudication, ApiToken, Verdict
from examples.models import AuditEntry, Release, Version
from examples.releasing.drafting import DraftPlan, SplitPlan, draft_release
from examples.releasing.freezing import freeze
from tests.factories import make_attempt, make_study, make_version


@pytest.fixture
def study(ann, ben):
    versions = [make_version(f"add{at}", repository=f"owner/r{at}") for at in range(4)]
    made = make_study(versions=versions, people=[ann, ben])
    for at, version in enumerate(versions):
        make_attempt(made, version, ann)
        make_attempt(made, version, ben, solved=at > 0, difficulty="very hard")
    return made


@pytest.fixture
def draft(study, curator) -> Release:
    splits = [SplitPlan("test", 0.5), SplitPlan("held-out", 0.5, held_out=True)]
    plan = DraftPlan(name="solved", number="1.0.0", seed=3, splits=splits)
    return draft_release(plan, versions=Version.objects.all(), by=curator)


@pytest.fixture
def frozen(draft, curator) -> Release:
    return freeze(draft, by=curator, people=evidence)


def signed_in(user) -> Client:
    client = Client()
    client.force_login(user, backend="django.contrib.auth.backends.ModelBackend")
    return client


def body(response) -> str:
    return b"".join(response.streaming_content).decode() if response.streaming else response.content.decode()


CURATORS_ONLY = [
    "/studies/s-01/results/",
    "/studies/s-01/results/codebook.md",
    "/studies/s-01/results/attempts.csv",
    "/releases/new/",
    "/datasets/demo/export/benchwright.jsonl",
    "/adjudication/",
]
READERS_TOO = [
    "/releases/",
    "/releases/solved/1.0.0/",
    "/releases/solved/1.0.0/all.tar",
    "/releases/solved/1.0.0/files/test.jsonl",
    "/releases/solved/1.0.0/files/manifest.json",
    "/releases/solved/1.0.0/files/SHA256SUMS",
    "/tokens/",
]


@pytest.mark.parametrize("address", CURATORS_ONLY + READERS_TOO)
def test_annotators_find_nothing_and_strangers_sign_in(address, frozen, ann):
    assert signed_in(ann).get(address).status_code == 404
    refused = Client().get(address)
    assert (refused.status_code, refused["Location"].split("?")[0]) == (302, reverse("account_login"))


@pytest.mark.parametrize("address", CURATORS_ONLY)
def test_curators_read_what_readers_do_not(address, frozen, curator, admin_user, reader):
    assert signed_in(curator).get(address).status_code == 200
    assert signed_in(admin_user).get(address).status_code == 200
    assert signed_in(reader).get(address).status_code == 404


@pytest.mark.parametrize("address", READERS_TOO)
def test_readers_and_curators_read_releases(address, frozen, curator, reader):
    assert signed_in(curator).get(address).status_code == 200
    assert signed_in(reader).get(address).status_code == 200


@pytest.mark.parametrize(
    "address",
    [
        "/releases/solved/1.0.0/freeze/",
        "/releases/solved/1.0.0/leave-out/",
        "/releases/solved/1.0.0/discard/",
        "/adjudication/1/",
        "/releases/new/",
    ],
)
def test_only_curators_change_releases_and_decide(address, draft, reader, ann):
    assert signed_in(reader).post(address).status_code == 404
    assert signed_in(ann).post(address).status_code == 404
    assert Client().post(address).status_code == 302
    assert Release.objects.get().state == "draft"


def test_a_reader_sees_neither_drafts_nor_held_out_files(draft, curator, reader):
    assert signed_in(reader).get("/releases/solved/1.0.0/").status_code == 404
    freeze(draft, by=curator, people=evidence)
    page = signed_in(reader)
    assert page.get("/releases/solved/1.0.0/files/held-out.jsonl").status_code == 404
    assert "held-out.jsonl" not in body(page.get("/releases/solved/1.0.0/files/SHA256SUMS"))
    assert "kept private" in body(page.get("/releases/solved/1.0.0/"))
    packed = b"".join(page.get("/releases/solved/1.0.0/all.tar").streaming_content)
    with tarfile.open(fileobj=io.BytesIO(packed)) as tar:
        assert not [name for name in tar.getnames() if "held-out" in name]
    assert signed_in(curator).get("/releases/solved/1.0.0/files/held-out.jsonl").status_code == 200


def test_the_study_page_shows_counts_intervals_and_what_is_undefined(study, curator):
    shown = body(signed_in(curator).get("/studies/s-01/results/"))
    assert "7 of 8 closed attempts" in shown
    assert "4 of 4 versions with at least one closed attempt" in shown
    assert "4 of 8 closed attempts with a rating" in shown
    assert "0 of 4" in shown  # nobody agreed on difficulty
    assert "over annotators undefined: every annotator has the same share" not in shown.split("Difficulty")[0]


def test_two_of_two_has_a_wilson_interval_and_no_interval_over_annotators(ann, ben, curator):
    version = make_version()
    study = make_study(versions=[version], people=[ann, ben])
    for person in (ann, ben):
        make_attempt(study, version, person)
    shown = body(signed_in(curator).get("/studies/s-01/results/"))
    assert "2 of 2 closed attempts" in shown
    assert "(34 to 100)" in shown
    assert "over annotators undefined: every annotator has the same share" in shown


def test_a_study_without_attempts_says_why_the_page_is_empty(ann, curator):
    make_study(versions=[make_version()], people=[ann])
    page = body(signed_in(curator).get("/studies/s-01/results/"))
    assert "No attempt yet" in page
    assert "data-print" not in page  # there is nothing on it to print, and no rows to go to
    assert "#s-rows" not in page


def test_a_study_with_attempts_can_be_printed(study, curator):
    page = body(signed_in(curator).get("/studies/s-01/results/"))
    assert "data-print" in page
    assert 'href="#s-rows"' in page


def test_the_study_page_takes_the_same_number_of_queries_for_any_number_of_attempts(
    study, curator, ann, django_assert_num_queries
):
    page = signed_in(curator)
    with django_assert_num_queries(11):
        page.get("/studies/s-01/results/")
    for at in range(5):
        version = make_version(f"more{at}")
        make_attempt(_with_slot(study, version), version, ann)
    with django_assert_num_queries(11):
        page.get("/studies/s-01/results/")


def _with_slot(study, version):
    from annotation.models import Slot

    Slot.objects.create(study=study, version=version, number=1)
    return study


def test_a_draft_is_made_in_the_browser_frozen_there_and_downloaded(study, curator):
    page = signed_in(curator)
    form = {
        "name": "bench", "number": "0.1.0", "source": f"study:{study.pk}", "seed": 5,
        "train": 0, "dev": 0, "test": 100, "held_out": 0,
    }  # fmt: skip
    made = page.post("/releases/new/", form)
    assert made["Location"] == "/releases/bench/0.1.0/"
    assert "Every condition holds for all 4 versions" in body(page.get("/releases/bench/0.1.0/"))
    page.post("/releases/bench/0.1.0/freeze/")
    lines = body(page.get("/releases/bench/0.1.0/files/test.jsonl")).splitlines()
    assert [json.loads(line)["key"] for line in lines] == ["add0", "add1", "add2", "add3"]
    assert AuditEntry.objects.filter(action="split downloaded", person=curator).count() == 1


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"number": "1.0"}, "no semantic version"),
        ({"test": 90}, "add up to 90 %"),
        ({"source": "study:99"}, "Select a valid choice"),
        ({"number": "1.0.0", "name": "solved"}, "does not grow"),
    ],
)
def test_a_wrong_draft_is_answered_with_its_reason(change, said, frozen, study, curator):
    form = {
        "name": "bench",
        "number": "1.0.0",
        "source": f"study:{study.pk}",
        "seed": 5,
        "train": 0,
        "dev": 0,
    }
    answer = signed_in(curator).post("/releases/new/", {**form, "test": 100, "held_out": 0, **change})
    assert answer.status_code == 422
    assert said in body(answer)


def test_a_blocked_draft_says_what_blocks_and_the_way_out(draft, curator):
    Verdict.objects.filter(attempt__slot__version__example__key="add0").update(test_quality=2)
    page = signed_in(curator)
    shown = body(page.get("/releases/solved/1.0.0/"))
    assert "Freezing is locked" in shown
    assert "rates the tests 2 of 3" in shown
    blocked = page.post("/releases/solved/1.0.0/freeze/")
    assert blocked.status_code == 409
    version = Version.objects.get(example__key="add0")
    page.post("/releases/solved/1.0.0/leave-out/", {"versions": str(version.pk)})
    page.post("/releases/solved/1.0.0/freeze/")
    assert Release.objects.get().state == "frozen"


def test_a_decision_with_a_reason_opens_the_gate(draft, curator):
    version = Version.objects.get(example__key="add0")
    Verdict.objects.filter(attempt__slot__version=version).update(test_quality=3, text="<b>wrong</b>")
    page = signed_in(curator)
    shown = body(page.get("/adjudication/"))
    assert "tests 3 of 3" in shown
    assert "<b>wrong</b>" not in shown
    page.post(f"/adjudication/{version.pk}/", {"decision": "solvable", "severity": "1", "reason": "  "})
    assert not Adjudication.objects.exists()
    page.post(
        f"/adjudication/{version.pk}/",
        {"decision": "solvable", "severity": "0", "reason": "I solved it myself."},
    )
    assert "Nothing is in dispute" in body(page.get("/adjudication/"))
    assert "Every condition holds" in body(page.get("/releases/solved/1.0.0/"))


def test_what_nobody_solved_waits_for_a_decision_once_nobody_can_try_it_any_more(study, ann, ben, curator):
    version = make_version("hard")
    for number in (1, 2):
        study.slots.create(version=version, number=number)
    page = signed_in(curator)
    make_attempt(study, version, ann, solved=False)
    assert "Nothing is in dispute" in body(page.get("/adjudication/"))
    make_attempt(study, version, ben, outcome="knew_it")
    assert "nobody solved it" in body(page.get("/adjudication/"))
    page.post(
        f"/adjudication/{version.pk}/",
        {"decision": "solvable", "severity": "0", "reason": "I solved it myself."},
    )
    assert "Nothing is in dispute" in body(page.get("/adjudication/"))
    assert evidence.evidence(Version.objects.filter(pk=version.pk))[version.pk].found_solvable


def test_the_page_of_disputes_takes_the_same_number_of_queries_for_any_number(
    study, curator, django_assert_num_queries
):
    page = signed_in(curator)
    for number in (1, 8):
        chosen = Verdict.objects.order_by("pk").values_list("pk", flat=True)[:number]
        Verdict.objects.filter(pk__in=list(chosen)).update(test_quality=2)
        with django_assert_num_queries(10):
            page.get("/adjudication/")


def test_who_solved_or_wrote_an_example_does_not_decide_on_it(draft, ann, curator):
    version = Version.objects.get(example__key="add0")
    Verdict.objects.filter(attempt__slot__version=version).update(test_quality=3)
    type(ann).objects.filter(pk=ann.pk).update(role="curator")
    assert "You worked on this example" in body(signed_in(ann).get("/adjudication/"))
    signed_in(ann).post(
        f"/adjudication/{version.pk}/", {"decision": "solvable", "severity": "0", "reason": "mine"}
    )
    Version.objects.filter(pk=version.pk).update(author=curator)
    signed_in(curator).post(
        f"/adjudication/{version.pk}/", {"decision": "solvable", "severity": "0", "reason": "mine"}
    )
    assert not Adjudication.objects.exists()


def test_a_token_is_shown_once_kept_hashed_and_revoked(reader):
    page = signed_in(reader)
    made = page.post("/tokens/", {"name": "laptop", "scopes": ["releases:read"], "days": 30})
    token = ApiToken.objects.get()
    assert "not shown again" in body(made)
    assert "no-store" in made["Cache-Control"]
    secret = body(made).split('id="token">')[1].split("<")[0]
    assert len(secret) == 64
    assert secret not in body(page.get("/tokens/"))
    assert secret not in token.digest
    page.post(f"/tokens/{token.token_key}/revoke/")
    assert not ApiToken.objects.exists()


def test_a_reader_cannot_make_a_token_for_examples_or_revoke_anothers(reader, curator):
    answer = signed_in(reader).post("/tokens/", {"name": "x", "scopes": ["examples:read"], "days": 30})
    assert answer.status_code == 422
    signed_in(curator).post("/tokens/", {"name": "mine", "scopes": ["examples:read"], "days": 7})
    signed_in(reader).post(f"/tokens/{ApiToken.objects.get().token_key}/revoke/")
    assert ApiToken.objects.count() == 1
