"""An example's page: who may see it, the evidence of its checks, its sections, its buttons, new versions."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from annotation.models import User
from examples.editing import edit_of
from examples.jobs import check_job, reference_program
from examples.models import AuditEntry, Example, Version
from examples.proposing import propose_version
from examples.showing import misses, shown_context, shown_tests
from runner.models import Execution, TestRow
from runner.outcome import Outcome
from tests.factories import make_attempt, make_checks, make_environment, make_study, make_version

State = Version.CheckState
SECTIONS = [
    "example",
    "example_content",
    "example_versions",
    "example_verdicts",
    "example_provenance",
    "propose_version",
]
BUTTONS = [
    "run_checks",
    "repeat_reference",
    "accept_example",
    "retire_example",
    "set_licence",
    "propose_version",
]
# Session, person, engine's state; example with dataset, version and environment; checks, numbers of versions,
# verdicts, duplicates, repeats asked for.
QUERIES = 9


@pytest.fixture
def desk(client: Client, curator: User) -> Client:
    """A browser with a curator signed in."""
    client.force_login(curator)
    return client


def execution_of(version: Version, *, seed: int = 1, **fields: Any) -> Execution:
    """Return a finished execution of the version's reference."""
    job = check_job(version, reference_program(version), seed=seed)
    values = {"outcome": Outcome.PASSED, "cpu_seconds": 0.02, "wall_seconds": 0.1, **fields}
    return Execution.objects.create(
        queue="bulk", environment=version.environment, job_data=job.as_json(), state="finished", **values
    )


def html_of(desk: Client, address: str, status: int = 200) -> str:
    """Return the page at an address, which answers with that status."""
    answer = desk.get(address)
    assert answer.status_code == status
    return answer.content.decode()


class TestAccess:
    @pytest.mark.parametrize("name", SECTIONS)
    def test_only_curators_see_it(
        self, name: str, client: Client, ann: User, reader: User, curator: User
    ) -> None:
        version = make_version()
        address = reverse(name, args=[version.example_id])
        assert client.get(address)["Location"].startswith("/accounts/login/")
        for person, status in ((ann, 404), (reader, 404), (curator, 200)):
            client.force_login(person)
            assert client.get(address).status_code == status

    @pytest.mark.parametrize("name", BUTTONS)
    def test_only_curators_change_it(self, name: str, client: Client, ann: User, reader: User) -> None:
        version = make_version()
        address = reverse(name, args=[version.example_id])
        assert client.post(address)["Location"].startswith("/accounts/login/")
        for person in (ann, reader):
            client.force_login(person)
            assert client.post(address).status_code == 404
        assert not AuditEntry.objects.exists()

    @pytest.mark.parametrize("name", [*SECTIONS, *BUTTONS])
    def test_one_that_is_not_there_is_not_found(self, name: str, desk: Client) -> None:
        method = desk.post if name in BUTTONS else desk.get
        assert method(reverse(name, args=[4711])).status_code == 404

    @pytest.mark.parametrize("number", ["9", "x", "-1", "9" * 30])
    def test_a_version_that_is_not_there_is_not_found(self, number: str, desk: Client) -> None:
        assert desk.get(f"/examples/{make_version().example_id}/?version={number}").status_code == 404

    def test_an_annotator_who_solves_it_sees_neither_page_nor_execution(
        self, client: Client, ann: User
    ) -> None:
        version = make_version()
        make_attempt(make_study(versions=[version], people=[ann]), version, ann)
        run = execution_of(version)
        version.checks.get(name="reference").executions.add(run)
        client.force_login(ann)
        assert client.get(f"/examples/{version.example_id}/").status_code == 404
        assert client.get(f"/examples/executions/{run.pk}/").status_code == 404


class TestChecks:
    def test_each_check_stands_with_its_finding_and_evidence_by_seed(self, desk: Client) -> None:
        version = make_version()
        run = execution_of(version, seed=3)
        check = version.checks.get(name="reference")
        check.evidence = {
            "runs": [
                {
                    "execution": run.pk,
                    "outcome": "FAILED",
                    "seed": 3,
                    "cpu_seconds": 0.02,
                    "wall_seconds": 0.1,
                    "failure": "test_add, line 2",
                }
            ]
        }
        check.save(update_fields=["evidence"])
        html = html_of(desk, f"/examples/{version.example_id}/")
        for name in ("reference", "empty_body", "tests_ran", "stable", "network", "environment", "licence"):
            assert f"{name} as it should be" in html
        assert f'href="/examples/executions/{run.pk}/"' in html
        assert "test_add, line 2" in html
        assert "20 ms" in html

    def test_of_many_repeats_those_that_failed_are_listed_and_the_rest_counted(self, desk: Client) -> None:
        version = make_version()
        runs = [
            {"execution": number, "outcome": "FAILED" if number in (77, 200) else "PASSED", "seed": number}
            for number in range(1, 206)
        ]
        version.checks.filter(name="reference").update(evidence={"runs": runs})
        html = html_of(desk, f"/examples/{version.example_id}/")
        assert re.findall(r"/executions/(\d+)/", html) == [
            "1",
            "2",
            "3",
            "4",
            "5",
            "6",
            "7",
            "8",
            "77",
            "200",
        ]
        assert "and 195 more that passed" in html

    @pytest.mark.parametrize(("label", "kind"), [("no canary", "warn"), ("canary", "ok")])
    def test_it_says_whether_a_canary_confirms(self, desk: Client, label: str, kind: str) -> None:
        version = make_version()
        version.checks.create(
            name="canary", state="passed", finding="Said <b>so</b>.", evidence={"label": label}
        )
        html = html_of(desk, reverse("example", args=[version.example_id]))
        assert f'class="chip {kind}"' in html
        assert label in html
        assert "<b>so</b>" not in html

    def test_the_number_of_queries_is_fixed(self, desk: Client, django_assert_num_queries: Any) -> None:
        version = make_version()
        with django_assert_num_queries(QUERIES):
            desk.get(f"/examples/{version.example_id}/")

    def test_it_asks_again_only_while_something_is_under_way(self, desk: Client) -> None:
        done, open_ = make_version("a"), make_version("b", checked=False)
        assert "every 2s" not in html_of(desk, f"/examples/{done.example_id}/")
        html = html_of(desk, f"/examples/{open_.example_id}/")
        assert "every 2s" in html
        assert "next one to be checked" in html

    def test_who_waits_is_told_how_many_are_before(self, desk: Client) -> None:
        make_version("a", checked=False)
        version = make_version("b", checked=False)
        assert "1 version is checked before this one" in html_of(desk, f"/examples/{version.example_id}/")

    def test_an_environment_that_is_not_built_is_named_as_what_it_waits_for(self, desk: Client) -> None:
        version = make_version(checked=False, environment=make_environment("science", digest=""))
        assert "Waits until environment science is built" in html_of(desk, f"/examples/{version.example_id}/")

    def test_the_page_gets_nothing_while_nothing_changed_and_then_its_parts(self, desk: Client) -> None:
        version = make_version(checked=False)
        address = f"/examples/{version.example_id}/"
        seen = re.search(r"seen=([\w-]+)", html_of(desk, address))
        assert seen
        ask = {"HX-Request": "true"}
        assert desk.get(address, {"seen": seen[1]}, headers=ask).status_code == 204
        make_checks(version)
        Version.objects.filter(pk=version.pk).update(check_state=State.PASSED)
        html = desk.get(address, {"seen": seen[1]}, headers=ask).content.decode()
        assert "<html" not in html
        for part in ("checks", "checks-summary", "decision", "repeats"):
            assert f'id="{part}"' in html
        assert "7 of 7 checks" in html
        assert "every 2s" not in html

    def test_what_a_program_said_is_inert(self, desk: Client) -> None:
        version = make_version()
        version.checks.filter(name="reference").update(finding="<b>\u202e\x1b[31mx</b>")
        html = html_of(desk, f"/examples/{version.example_id}/")
        assert "<b>\u202e" not in html
        assert "U+202E" in html

    def test_repeats_asked_for_are_shown_until_their_result_is_there(self, desk: Client) -> None:
        version = make_version()
        answer = desk.post(f"/examples/{version.example_id}/repeat/", {"times": "90"})
        assert answer.status_code == 302
        html = html_of(desk, f"/examples/{version.example_id}/")
        assert "90 more were asked for" in html
        assert "every 2s" in html
        again = desk.post(f"/examples/{version.example_id}/repeat/", {"times": "5"})
        assert again.status_code == 409
        assert "asked for already" in again.content.decode()
        version.repeats.update(done_at=timezone.now())
        assert "were asked for" not in html_of(desk, f"/examples/{version.example_id}/")

    @pytest.mark.parametrize("times", ["0", "501", "x", ""])
    def test_repeats_out_of_bounds_are_refused_on_the_page(self, times: str, desk: Client) -> None:
        version = make_version()
        answer = desk.post(f"/examples/{version.example_id}/repeat/", {"times": times})
        assert answer.status_code == 422
        assert "id_times_error" in answer.content.decode()

    def test_repeats_wait_until_the_checks_are_done(self, desk: Client) -> None:
        version = make_version(checked=False)
        address = f"/examples/{version.example_id}/"
        assert "Repeat the reference" not in html_of(desk, address)
        answer = desk.post(f"{address}repeat/", {"times": "90"})
        assert answer.status_code == 422
        assert "Wait until the checks are done" in answer.content.decode()
        assert not AuditEntry.objects.exists()

    def test_the_chance_to_miss_a_flake_is_that_of_the_formula(self) -> None:
        found = {miss.one_in: (miss.by_now, miss.by_more) for miss in misses(5, 90)}
        assert found[20] == ("77 in 100", "1 in 131")
        assert found[4] == ("24 in 100", "below 1 in a million")


class TestSections:
    @pytest.mark.parametrize(
        ("name", "label"),
        [
            ("example", "Checks"),
            ("example_content", "Content"),
            ("example_versions", "Versions"),
            ("example_verdicts", "Verdicts"),
            ("example_provenance", "Provenance"),
        ],
    )
    def test_the_section_that_is_shown_is_the_current_one(self, name: str, label: str, desk: Client) -> None:
        html = html_of(desk, reverse(name, args=[make_version().example_id]))
        assert re.findall(r'aria-current="page">(\w+)', html) == ["Examples", label]

    def test_the_content_shows_the_hole_and_the_border_between_visible_and_hidden(self, desk: Client) -> None:
        version = make_version(
            segments=[
                {
                    "offset": 22,
                    "text": "def test_add():\n    assert add(1, 2) == 3\n    assert add(0, 0) == 0\n",
                    "kind": "function",
                    "name": "test_add",
                }
            ]
        )
        html = html_of(desk, f"/examples/{version.example_id}/content/")
        assert 'class="l hole" data-n="2"' in html
        assert "1 of 2 assertions visible" in html
        assert re.search(r'class="l foc" data-n="2"', html)
        assert re.search(r'class="l" data-n="3"', html)

    def test_the_hole_of_a_function_on_one_line_comes_after_it(self, db: None) -> None:
        version = make_version(context="def add(a, b): \n", gap=15)
        shown = shown_context(version)
        assert (shown.text, shown.hole, shown.hole_lines) == ("def add(a, b): \n", 1, 1)

    def test_all_hidden_has_no_border(self, db: None) -> None:
        assert shown_tests(make_version(visible=0)).seen == ""

    def test_two_versions_are_compared_part_by_part(self, desk: Client, curator: User) -> None:
        first = make_version()
        edit = replace(edit_of(first), instruction="Add two integers.", visible=0)
        propose_version(first, edit, note="It said numbers.", by=curator)
        html = html_of(desk, f"/examples/{first.example_id}/versions/")
        assert "It said numbers." in html
        assert re.search(r'class="l del">.*Add two numbers', html)
        assert re.search(r'class="l add">.*Add two integers', html)
        assert "1 → <b>0</b>" in html
        back = html_of(desk, f"/examples/{first.example_id}/versions/?from=2&to=1")
        assert re.search(r'class="l add">.*Add two numbers', back)

    def test_an_older_version_says_so_and_keeps_its_own_checks(self, desk: Client, curator: User) -> None:
        first = make_version()
        propose_version(first, replace(edit_of(first), instruction="Other."), note="n", by=curator)
        html = html_of(desk, f"/examples/{first.example_id}/?version=1")
        assert "You are looking at version 1" in html
        assert "7 of 7 checks" in html
        assert "?version=1" in html

    def test_verdicts_are_shown_under_pseudonyms(self, desk: Client, ann: User) -> None:
        version = make_version()
        make_attempt(make_study(versions=[version], people=[ann]), version, ann, test_quality=2)
        html = html_of(desk, f"/examples/{version.example_id}/verdicts/")
        assert ann.pseudonym in html
        assert not re.search(rf"\b{ann.username}\b", html)
        assert "requires effort" in html

    def test_no_verdict_says_when_there_will_be_one(self, desk: Client) -> None:
        assert "Verdicts appear when" in html_of(desk, f"/examples/{make_version().example_id}/verdicts/")

    def test_provenance_names_hash_digest_and_what_was_done(self, desk: Client) -> None:
        version = make_version()
        desk.post(f"/examples/{version.example_id}/retire/", {"reason": "A copy of EX-0002."})
        html = html_of(desk, f"/examples/{version.example_id}/provenance/")
        assert version.content_hash in html
        assert version.environment.image_digest in html
        assert "Example retired" in html
        assert "A copy of EX-0002." in html

    def test_a_duplicate_elsewhere_is_shown(self, desk: Client) -> None:
        first, second = make_version("a"), make_version("b", dataset="other")
        Version.objects.update(content_hash="same")
        assert second.example.label in html_of(desk, f"/examples/{first.example_id}/")


class TestButtons:
    def test_accept_retire_and_licence_do_what_they_say(self, desk: Client) -> None:
        version = make_version()
        Example.objects.update(status="candidate")
        desk.post(f"/examples/{version.example_id}/accept/")
        assert Example.objects.get().status == "accepted"
        desk.post(f"/examples/{version.example_id}/retire/", {"reason": "Wrong."})
        assert Example.objects.get().status_reason == "Wrong."
        desk.post(f"/examples/{version.example_id}/licence/", {"licence": "ISC"})
        assert Example.objects.get().licence == "ISC"
        assert version.checks.get(name="licence").finding == "ISC, of the example."

    def test_accepting_what_failed_answers_422_and_names_the_check(self, desk: Client) -> None:
        version = make_version()
        Example.objects.update(status="candidate")
        Version.objects.update(check_state=State.FAILED, failed_checks="network")
        answer = desk.post(f"/examples/{version.example_id}/accept/")
        assert answer.status_code == 422
        assert "No network needed" in answer.content.decode()

    def test_retiring_without_a_reason_answers_422_at_the_field(self, desk: Client) -> None:
        answer = desk.post(f"/examples/{make_version().example_id}/retire/", {"reason": ""})
        assert answer.status_code == 422
        assert "Say why" in answer.content.decode()

    def test_checks_under_way_are_left_alone_and_that_is_said(self, desk: Client) -> None:
        version = make_version()
        Version.objects.update(check_state=State.RUNNING, check_claim="x")
        html = desk.post(f"/examples/{version.example_id}/check/", follow=True).content.decode()
        assert "running already" in html


class TestExecution:
    def test_rows_output_and_facts_are_shown_inert(self, desk: Client) -> None:
        version = make_version()
        run = execution_of(
            version, seed=4, outcome=Outcome.FAILED, stdout="<script>\x1b[31mred", facts={"kernel": "6.12"}
        )
        TestRow.objects.create(
            execution=run,
            number=1,
            test="test_add",
            assertion=1,
            line=2,
            outcome="FAILED",
            values=["4", "3"],
            message="no",
        )
        version.checks.get(name="stable").executions.add(run)
        html = html_of(desk, f"/examples/executions/{run.pk}/")
        assert "<script>\x1b" not in html
        assert "&lt;script&gt;red" in html
        for said in ("seed 4", "6.12", "assertion 1, line 2 of the tests", "same every time"):
            assert said in html

    def test_an_execution_that_no_check_rests_on_is_not_found(self, desk: Client) -> None:
        assert desk.get(f"/examples/executions/{execution_of(make_version()).pk}/").status_code == 404


class TestPropose:
    def sent(self, version: Version, **changed: Any) -> dict[str, Any]:
        """Return what the form sends, as a browser does, with CR LF."""
        edit = edit_of(version)
        values: dict[str, Any] = {
            name: getattr(edit, name).replace("\n", "\r\n")
            for name in ("instruction", "context", "tests", "block", "reference")
        }
        return {
            **values,
            "visible": edit.visible,
            "environment": edit.environment.pk,
            "note": "Because.",
            "base": version.pk,
            **changed,
        }

    def test_saving_makes_the_next_version(self, desk: Client) -> None:
        version = make_version()
        answer = desk.post(
            f"/examples/{version.example_id}/versions/new/",
            self.sent(version, instruction="Add two integers."),
        )
        assert answer.status_code == 302
        new = Version.objects.get(number=2)
        assert (new.instruction, new.segments, new.note) == (
            "Add two integers.",
            version.segments,
            "Because.",
        )
        assert Example.objects.get().current == new

    def test_an_edited_context_is_shown_as_a_difference_and_saved(self, desk: Client) -> None:
        version = make_version()
        context = edit_of(version).context.replace("def add", "RATE = 1\n\n\ndef add")
        address = f"/examples/{version.example_id}/versions/new/"
        html = desk.post(
            address, self.sent(version, context=context, action="preview", note="")
        ).content.decode()
        assert re.search(r'class="l add">.*RATE', html)
        assert desk.post(address, self.sent(version, context=context)).status_code == 302
        assert Version.objects.get(number=2).context == version.context.replace("def", "RATE = 1\n\n\ndef")

    def test_a_context_that_lost_its_function_is_refused_at_its_field(self, desk: Client) -> None:
        version = make_version()
        context = edit_of(version).context.replace("def add", "def plus")
        answer = desk.post(
            f"/examples/{version.example_id}/versions/new/", self.sent(version, context=context)
        )
        html = answer.content.decode()
        assert answer.status_code == 422
        assert "The function that is open must stay, under its name." in html
        assert "def plus" in html
        assert Version.objects.count() == 1

    def test_the_preview_saves_nothing_and_shows_the_change_and_what_becomes_visible(
        self, desk: Client
    ) -> None:
        version = make_version()
        tests = edit_of(version).tests + "    assert add(0, 0) == 0\n"
        values = self.sent(version, tests=tests, visible=2, action="preview", note="")
        html = desk.post(f"/examples/{version.example_id}/versions/new/", values).content.decode()
        assert re.search(r'class="l add">.*assert.*add', html)
        assert "2 of 2" in html
        assert Version.objects.count() == 1

    def test_a_mistake_is_named_by_its_line_and_nothing_is_lost(self, desk: Client) -> None:
        version = make_version()
        values = self.sent(
            version, tests="def test_add():\r\n    assert add(1, 2 == 3", instruction="My own <text>"
        )
        answer = desk.post(f"/examples/{version.example_id}/versions/new/", values)
        html = answer.content.decode()
        assert answer.status_code == 422
        assert "Line 2:" in html
        assert "My own &lt;text&gt;" in html
        assert "Because." in html
        assert Version.objects.count() == 1

    def test_nothing_different_is_refused(self, desk: Client) -> None:
        version = make_version()
        answer = desk.post(f"/examples/{version.example_id}/versions/new/", self.sent(version))
        assert answer.status_code == 422
        assert "nothing to save" in answer.content.decode()

    def test_why_is_required(self, desk: Client) -> None:
        version = make_version()
        values = self.sent(version, instruction="Other.", note=" ")
        answer = desk.post(f"/examples/{version.example_id}/versions/new/", values)
        assert answer.status_code == 422
        assert "Say why this version is made." in answer.content.decode()

    def test_who_comes_too_late_keeps_the_text_and_may_save_it_after_comparing(
        self, desk: Client, curator: User
    ) -> None:
        version = make_version()
        propose_version(version, replace(edit_of(version), instruction="Theirs."), note="a", by=curator)
        address = f"/examples/{version.example_id}/versions/new/"
        answer = desk.post(address, self.sent(version, instruction="Mine."))
        html = answer.content.decode()
        assert answer.status_code == 422
        assert "Version 2 was made while you edited version 1" in html
        assert re.search(r'class="l add">.*Mine', html)
        base = re.search(r'name="base" value="(\d+)"', html)
        assert base
        assert desk.post(address, self.sent(version, instruction="Mine.", base=base[1])).status_code == 302
        assert Version.objects.get(number=3).instruction == "Mine."

    def test_the_form_gives_back_every_byte_it_shows(self, desk: Client) -> None:
        version = make_version(
            segments=[
                {
                    "offset": 22,
                    "text": "\ndef test_add():\n\tassert add(1, 2) == 3\n\n",
                    "kind": "function",
                    "name": "test_add",
                }
            ]
        )
        html = html_of(desk, f"/examples/{version.example_id}/versions/new/")
        shown = re.search(r'<textarea name="tests"[^>]*>\n(.*?)</textarea>', html, re.DOTALL)
        assert shown
        assert shown[1] == edit_of(version).tests
