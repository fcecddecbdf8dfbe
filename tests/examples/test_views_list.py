"""The list of examples: who may see it, what it says, its queries, its live progress, and acting on many."""

from __future__ import annotations

import re
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from annotation.models import User
from examples.models import AuditEntry, Check, Example, Version
from tests.factories import make_attempt, make_checks, make_study, make_version

State = Version.CheckState
# Session, person, the engine's state; tabs (3), ids, rows, checks, solvers, datasets, libraries.
QUERIES = 12


def waiting(key: str) -> Version:
    """Return the version of a candidate that waits for its checks."""
    version = make_version(key, checked=False)
    Example.objects.filter(pk=version.example_id).update(status=Example.Status.CANDIDATE)
    return version


def failing(key: str) -> Version:
    """Return a version whose reference fails."""
    version = waiting(key)
    make_checks(version, reference="The reference passes 0 of 5.")
    Version.objects.filter(pk=version.pk).update(check_state=State.FAILED, failed_checks="reference")
    return version


@pytest.fixture
def desk(client: Client, curator: User) -> Client:
    """A browser with a curator signed in."""
    client.force_login(curator)
    return client


PLACES = [
    ("get", "examples", ()),
    ("get", "examples_progress", ()),
    ("post", "examples_act", ()),
    ("get", "duplicates", ()),
    ("get", "datasets", ()),
    ("get", "dataset", ("demo",)),
    ("post", "dataset", ("demo",)),
]


class TestAccess:
    @pytest.mark.parametrize(("method", "name", "arguments"), PLACES)
    def test_annotators_and_readers_find_nothing(
        self, method: str, name: str, arguments: tuple[Any, ...], client: Client, ann: User, reader: User
    ) -> None:
        make_version()
        for person in (ann, reader):
            client.force_login(person)
            assert getattr(client, method)(reverse(name, args=arguments)).status_code == 404

    @pytest.mark.parametrize(("method", "name", "arguments"), PLACES)
    def test_the_anonymous_are_asked_to_sign_in(
        self, method: str, name: str, arguments: tuple[Any, ...], client: Client, db: None
    ) -> None:
        answer = getattr(client, method)(reverse(name, args=arguments))
        assert answer.status_code == 302
        assert answer["Location"].startswith("/accounts/login/")

    @pytest.mark.parametrize(
        ("method", "name", "arguments"), [place for place in PLACES if place[0] == "get"]
    )
    def test_curators_and_admins_see_it(
        self,
        method: str,
        name: str,
        arguments: tuple[Any, ...],
        client: Client,
        curator: User,
        admin_user: User,
    ) -> None:
        make_version()
        for person in (curator, admin_user):
            client.force_login(person)
            assert client.get(reverse(name, args=arguments)).status_code in (200, 204)


class TestList:
    def test_an_empty_site_says_what_to_do_first(self, desk: Client) -> None:
        html = desk.get("/examples/").content.decode()
        assert "Nothing has been imported" in html
        assert reverse("imports") in html

    def test_filters_that_match_nothing_offer_to_clear_them(self, desk: Client) -> None:
        make_version()
        html = desk.get("/examples/?q=nowhere&status=retired").content.decode()
        assert "No example matches" in html
        assert "Clear filters" in html

    def test_every_filter_can_be_taken_away_alone(self, desk: Client) -> None:
        make_version("alpha")
        html = desk.get("/examples/?q=alpha&checks=passed&dataset=demo").content.decode()
        for rest in (
            "checks=passed&amp;dataset=demo",
            "q=alpha&amp;dataset=demo",
            "q=alpha&amp;checks=passed",
        ):
            assert f'href="?{rest}"' in html, rest

    def test_the_signs_of_the_checks_are_said_in_words_too(self, desk: Client) -> None:
        failing("bad")
        html = desk.get("/examples/").content.decode()
        assert "6 of 7 checks passed; Reference passes: failed" in html

    def test_how_many_assertions_were_reached_is_shown_once_a_check_has_counted_them(
        self, desk: Client
    ) -> None:
        version = make_version()
        version.checks.filter(name="tests_ran").update(evidence={"assertions": 14, "silent": []})
        version.checks.filter(name="stable").update(evidence={"assertions": "not a number", "repeats": 5})
        html = desk.get("/examples/").content.decode()
        assert 'data-l="assertions">14</td>' in html

    def test_solvers_are_shown_by_what_execution_said(self, desk: Client, ann: User, ben: User) -> None:
        version = make_version()
        study = make_study(versions=[version], people=[ann, ben])
        make_attempt(study, version, ann)
        make_attempt(study, version, ben, solved=False)
        html = desk.get("/examples/").content.decode()
        assert 'class="vh">1 of 2 solved<' in html

    def test_the_number_of_queries_does_not_grow_with_the_rows(
        self, desk: Client, ann: User, django_assert_num_queries: Any
    ) -> None:
        versions = [make_version(f"k{number}") for number in range(35)]
        make_attempt(make_study(versions=versions[-3:], people=[ann], solvers=1), versions[-1], ann)
        with django_assert_num_queries(QUERIES):
            desk.get("/examples/")

    def test_pages_follow_one_another_without_gap(self, desk: Client) -> None:
        keys = [make_version(f"key-{number:02}").example.key for number in range(65)]
        seen: list[str] = []
        for number in (1, 2, 3):
            html = desk.get(f"/examples/?page={number}").content.decode()
            seen += re.findall(r"demo (key-\d\d)</small>", html)
        assert seen == keys[::-1]
        assert "61–65 of 65" in html

    @pytest.mark.parametrize("number", ["0", "-3", "x", "99999999999", "7"])
    def test_a_page_that_is_not_there_shows_one_that_is(self, number: str, desk: Client) -> None:
        make_version()
        assert "1–1 of 1" in desk.get(f"/examples/?page={number}").content.decode()

    def test_titles_are_escaped(self, desk: Client) -> None:
        version = make_version()
        Example.objects.filter(pk=version.example_id).update(title="<script>alert(1)</script>")
        html = desk.get("/examples/?q=<img>").content.decode()
        assert "<script>alert" not in desk.get("/examples/").content.decode()
        assert "<img>" not in html

    def test_a_full_page_stays_light(self, desk: Client) -> None:
        for number in range(30):
            make_version(f"a-long-enough-key-{number}", repository="somebody/some-repository")
        assert len(desk.get("/examples/").content) <= 40_000


class TestProgress:
    def test_it_is_asked_for_only_while_something_is_under_way(self, desk: Client) -> None:
        make_version("done")
        assert "every 2s" not in desk.get("/examples/").content.decode()
        version = waiting("new")
        html = desk.get("/examples/").content.decode()
        assert "every 2s" in html
        assert f"seen={version.example_id}.pending" in html

    def test_it_brings_the_cells_that_changed_and_asks_on_for_the_rest(self, desk: Client) -> None:
        first, second = waiting("a"), waiting("b")
        seen = f"{first.example_id}.pending-{second.example_id}.pending"
        make_checks(first)
        Version.objects.filter(pk=first.pk).update(check_state=State.PASSED)
        html = desk.get(f"/examples/progress/?seen={seen}&waiting=2").content.decode()
        assert f'id="c{first.example_id}" hx-swap-oob="true"' in html
        assert f'id="c{second.example_id}"' not in html
        assert "all 7 checks passed" in html
        assert f"seen={second.example_id}.pending&amp;waiting=1" in html

    def test_it_brings_the_counts_of_the_tabs_under_the_filters_of_the_page(self, desk: Client) -> None:
        first, second = waiting("a"), waiting("b")
        other = make_version("c", dataset="other")
        page = desk.get("/examples/", {"dataset": "demo", "checks": "open"}).content.decode()
        assert re.search(r'hx-get="[^"]*&amp;checks=open&amp;dataset=demo"', page)
        assert page.count('id="tabs"') == 1
        Version.objects.filter(pk=first.pk).update(check_state=State.FAILED)
        seen = f"{first.example_id}.pending-{second.example_id}.pending"
        asked = {"seen": seen, "waiting": "2", "dataset": "demo", "checks": "open"}
        html = desk.get("/examples/progress/", asked).content.decode()
        assert 'id="tabs" aria-label="Status" hx-swap-oob="true"' in html
        told = dict(re.findall(r'>([\w ]+) <span class="count">([\d,]+)<', html))
        assert (told["All"], told["Being checked"], told["Failed a check"]) == ("2", "1", "1")
        assert re.search(r'hx-get="[^"]*&amp;checks=open&amp;dataset=demo"', html)
        assert other

    def test_it_ends_by_itself(self, desk: Client) -> None:
        version = waiting("a")
        Version.objects.filter(pk=version.pk).update(check_state=State.PASSED)
        html = desk.get(f"/examples/progress/?seen={version.example_id}.running&waiting=1").content.decode()
        assert "every 2s" not in html
        assert "are done" in html

    def test_nothing_is_sent_where_nothing_changed(self, desk: Client) -> None:
        version = waiting("a")
        answer = desk.get(f"/examples/progress/?seen={version.example_id}.pending&waiting=1")
        assert answer.status_code == 204

    @pytest.mark.parametrize("seen", ["", "x", "1.pending-", "9" * 30 + ".a", "-" * 300, "1.2.3"])
    def test_nonsense_is_taken_calmly(self, seen: str, desk: Client) -> None:
        assert desk.get("/examples/progress/", {"seen": seen}).status_code in (200, 204)


class TestAct:
    def test_the_chosen_are_accepted_and_the_message_says_what_was_not(self, desk: Client) -> None:
        good, bad = make_version("good"), failing("bad")
        Example.objects.update(status=Example.Status.CANDIDATE)
        answer = desk.post(
            "/examples/act/", {"action": "accept", "ids": [good.example_id, bad.example_id]}, follow=True
        )
        html = answer.content.decode()
        assert "1 example is accepted; 1 not, since its checks failed (Reference passes)." in html
        assert list(Example.objects.order_by("pk").values_list("status", flat=True)) == [
            "accepted",
            "candidate",
        ]

    def test_all_that_match_the_filter_are_meant_not_only_those_on_the_page(self, desk: Client) -> None:
        for number in range(40):
            make_version(f"n{number}")
        make_version("other", dataset="else")
        desk.post(
            "/examples/act/",
            {
                "action": "retire",
                "everything": "1",
                "query": "?dataset=demo",
                "reason": "A copy.",
                "ids": ["1"],
            },
        )
        assert Example.objects.filter(status="retired", dataset__name="demo").count() == 40
        assert not Example.objects.filter(status="retired", dataset__name="else").exists()
        assert AuditEntry.objects.filter(action="example retired").count() == 40

    def test_retiring_without_a_reason_is_refused_and_the_choice_is_kept(self, desk: Client) -> None:
        version = make_version()
        answer = desk.post("/examples/act/", {"action": "retire", "ids": [version.example_id], "reason": " "})
        html = answer.content.decode()
        assert answer.status_code == 422
        assert "Say why" in html
        assert re.search(rf'value="{version.example_id}"[^>]* checked', html)
        assert not Example.objects.filter(status="retired").exists()

    def test_choosing_nothing_is_refused_with_what_to_do(self, desk: Client) -> None:
        make_version()
        answer = desk.post("/examples/act/", {"action": "accept"})
        assert answer.status_code == 422
        assert "Choose examples first" in answer.content.decode()

    def test_checks_are_asked_for_and_the_way_leads_back_to_the_same_filters(self, desk: Client) -> None:
        version = make_version()
        answer = desk.post(
            "/examples/act/",
            {"action": "check", "ids": [version.example_id], "query": "?dataset=demo", "page": "2"},
        )
        version.refresh_from_db()
        assert version.check_state == State.PENDING
        assert answer["Location"] == "/examples/?dataset=demo&page=2"

    def test_an_action_nobody_knows_is_refused(self, desk: Client) -> None:
        assert desk.post("/examples/act/", {"action": "delete", "ids": ["1"]}).status_code == 400


class TestDuplicates:
    def test_groups_are_listed_with_what_they_are(self, desk: Client) -> None:
        first, second, third = make_version("a"), make_version("b", dataset="other"), make_version("c")
        Version.objects.filter(pk__in=[first.pk, second.pk]).update(content_hash="same")
        html = desk.get("/examples/duplicates/").content.decode()
        assert first.example.label in html
        assert second.example.label in html
        assert third.example.label not in html

    def test_none_is_said(self, desk: Client) -> None:
        make_version()
        assert "No duplicates" in desk.get("/examples/duplicates/").content.decode()


class TestDataset:
    def test_a_new_licence_decides_the_check_of_its_examples(self, desk: Client) -> None:
        version = make_version(licence="")
        make_check = version.checks.get(name="licence")
        make_check.state = Check.State.FAILED
        make_check.save(update_fields=["state"])
        Version.objects.filter(pk=version.pk).update(check_state=State.FAILED, failed_checks="licence")
        answer = desk.post(
            "/examples/datasets/demo/",
            {"title": "Demo", "licence": "MIT", "source": "", "cpu_limit_seconds": ""},
        )
        version.refresh_from_db()
        assert answer.status_code == 302
        assert version.check_state == State.PASSED

    @pytest.mark.parametrize(
        ("seconds", "said"),
        [("0", "greater than or equal to 0.1"), ("9e9", "less than or equal to 600"), ("x", "number")],
    )
    def test_a_limit_no_execution_could_keep_is_refused(self, seconds: str, said: str, desk: Client) -> None:
        make_version()
        answer = desk.post(
            "/examples/datasets/demo/", {"title": "", "licence": "MIT", "cpu_limit_seconds": seconds}
        )
        assert answer.status_code == 422
        assert said in answer.content.decode()

    def test_one_that_is_not_there_is_not_found(self, desk: Client) -> None:
        assert desk.get("/examples/datasets/nowhere/").status_code == 404
