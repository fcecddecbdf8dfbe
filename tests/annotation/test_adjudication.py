"""ADJUDICATE: the queue, a case, second readers, solutions judged, and a fix that is tried: pages and rules."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from annotation import evidence
from annotation.accounts import create_account
from annotation.adjudication import DecisionRefused, ask_second_reader, assess, decide
from annotation.cases import Kind, queue
from annotation.casework import fix_page
from annotation.fairness.gathering import subjects
from annotation.fixing import accept_fix, discard_fix, draft_of, try_fix
from annotation.flips import Flip
from annotation.models import (
    Adjudication,
    Assessment,
    CarriedVerdict,
    Fix,
    Run,
    StudyPerson,
    Trial,
    Verdict,
)
from annotation.runs import fingerprint
from annotation.solutions import recorded
from annotation.trials import ask_trials
from annotation.withdrawing import withdraw
from config.access import Role
from examples.editing import edit_of
from examples.models import Alternative, AuditEntry, Version
from examples.proposing import NothingChanged, Overtaken
from runner.models import Execution
from tests.annotation.factories import SOURCE, make_version
from tests.annotation.judged import RIGHT, STRICT, UNFINISHED, attempt_by, finish_all, looser
from tests.annotation.test_other_languages import RECORDS, attempt_of
from tests.factories import make_checks, make_environment, make_study


@pytest.fixture
def version(db):
    make_environment("plain")
    return make_version(source=SOURCE)


@pytest.fixture
def other_curator(db):
    return create_account(username="cora", role=Role.CURATOR, password=None)


def signed_in(user) -> Client:
    client = Client()
    client.force_login(user, backend="django.contrib.auth.backends.ModelBackend")
    return client


def body(response) -> str:
    return b"".join(response.streaming_content).decode() if response.streaming else response.content.decode()


@pytest.fixture
def world(version, ann, ben):
    """Ann passes; Ben, who is right, does not and blames the tests."""
    attempt_by(ann, version, RIGHT)
    attempt = attempt_by(ben, version, STRICT, outcome="FAILED", test_quality=3)
    Verdict.objects.filter(attempt=attempt).update(outcome="tests_wrong", test_note="23.988 is right as well")
    return version


def test_a_case_is_in_the_queue_under_each_of_its_reasons(world, curator):
    page = signed_in(curator)
    assert queue(curator).cases[0].kinds == (Kind.PEOPLE, Kind.EXECUTION, Kind.TESTS)
    for kind, here in (("tests", True), ("people", True), ("instruction", False), ("unsolved", False)):
        assert ("Open the case" in body(page.get(f"/adjudication/?kind={kind}"))) is here
    assert "Open the case" in body(page.get("/adjudication/?kind=nonsense"))


def test_looking_at_a_case_changes_nothing_and_is_written_down(world, curator):
    before = (Execution.objects.count(), Verdict.objects.values().first(), Version.objects.values().first())
    shown = body(signed_in(curator).get(reverse("adjudicate", args=[world.pk])))
    assert "23.988 is right as well" in shown
    assert "RATE" in shown
    assert before == (
        Execution.objects.count(),
        Verdict.objects.values().first(),
        Version.objects.values().first(),
    )
    assert (
        AuditEntry.objects.filter(action="case seen", person=curator, subject=f"version:{world.pk}").count()
        == 1
    )


def test_two_solutions_stand_side_by_side_with_their_difference(world, curator):
    pair = {"a": fingerprint(RIGHT, "")[:8], "b": fingerprint(STRICT, "")[:8]}
    shown = body(signed_in(curator).get(reverse("adjudicate", args=[world.pk]), pair))
    assert "from {a} to {b}".format(**pair) in shown
    assert "removed: " in shown


def test_the_page_of_a_case_takes_as_many_queries_for_more_solutions(
    world, curator, django_assert_max_num_queries, django_assert_num_queries
):
    page, address = signed_in(curator), reverse("adjudicate", args=[world.pk])
    page.get(address)
    with django_assert_max_num_queries(45) as seen:
        page.get(address)
    for number in range(3):
        person = create_account(username=f"p{number}", role=Role.ANNOTATOR, password=None)
        attempt_by(person, world, f"{RIGHT}# {number}\n")
    with django_assert_num_queries(len(seen)):
        page.get(address)


def test_a_decision_needs_severity_and_reason(world, curator):
    page, address = signed_in(curator), reverse("adjudicate", args=[world.pk])
    assert page.post(address, {"decision": "repair", "reason": "x"}).status_code == 422
    refused = page.post(address, {"decision": "repair", "severity": "2", "reason": " "})
    assert (refused.status_code, Adjudication.objects.count()) == (422, 0)
    assert "Give a reason" in body(refused)
    page.post(address, {"decision": "repair", "severity": "2", "reason": "Cents are not asked for."})
    made = Adjudication.objects.get()
    assert (made.severity, made.decided_by) == (2, curator)
    with pytest.raises(DecisionRefused):
        decide(world, decision="repair", severity=4, reason="x", by=curator)


def test_a_second_reader_keeps_the_case_open_and_both_decisions(world, curator, other_curator):
    decide(world, decision="solvable", severity=0, reason="It is fine.", by=curator)
    assert queue(curator).total == 0
    page = signed_in(curator)
    address = reverse("second_reader", args=[world.pk])
    assert page.post(address, {"reason": ""}).status_code == 422
    page.post(address, {"reason": "I am not sure about cents."})
    assert queue(curator).cases[0].kinds == (Kind.SECOND,)
    told = evidence.evidence(Version.objects.filter(pk=world.pk))[world.pk]
    assert told.disputes == ("the case waits for a second reader",)
    assert not told.found_solvable
    decide(world, decision="repair", severity=2, reason="It is not.", by=other_curator)
    told = evidence.evidence(Version.objects.filter(pk=world.pk))[world.pk]
    assert told.disputes == ("two readers disagree",)
    decide(world, decision="repair", severity=2, reason="Agreed.", by=curator)
    assert queue(curator).total == 0
    assert evidence.evidence(Version.objects.filter(pk=world.pk))[world.pk].decision == "needs a new version"
    assert Adjudication.objects.count() == 3


def test_a_second_reader_for_what_nobody_met_waits_too(version, curator):
    ask_second_reader(version, reason="An odd one.", by=curator)
    assert queue(curator).cases[0].kinds == (Kind.SECOND,)
    assert "Open the case" in body(signed_in(curator).get("/adjudication/?kind=second"))


def test_a_solution_is_judged_and_kept_as_an_alternative(world, curator):
    page, address = signed_in(curator), reverse("assess_solution", args=[world.pk])
    sha256 = fingerprint(STRICT, "")
    both = {"sha256": sha256, "right": "wrong", "keep": "on", "reason": "x"}
    refused = page.post(address, both)
    assert (refused.status_code, "What is wrong is no accepted alternative" in body(refused)) == (422, True)
    assert page.post(address, {"sha256": "0" * 64, "right": "right", "reason": "x"}).status_code == 422
    assert not Assessment.objects.exists()
    page.post(address, {**both, "right": "right", "reason": "It says nothing of cents."})
    assert Assessment.objects.get().right
    kept = Alternative.objects.get()
    assert (kept.sha256, kept.function) == (sha256, STRICT)
    assert "accepted alternative" in body(page.get(reverse("adjudicate", args=[world.pk])))
    withdraw = reverse("alternative_withdraw", args=[world.pk, kept.pk])
    page.post(withdraw, {"reason": ""})
    assert Alternative.objects.standing().count() == 1
    page.post(withdraw, {"reason": "The instruction says more now."})
    assert Alternative.objects.standing().count() == 0


def test_who_solved_it_judges_no_solution_and_tries_no_fix(world, ann, curator):
    type(ann).objects.filter(pk=ann.pk).update(role=Role.CURATOR)
    ann.refresh_from_db()
    with pytest.raises(DecisionRefused):
        assess(world, fingerprint(STRICT, ""), right=True, reason="mine", by=ann)
    with pytest.raises(DecisionRefused):
        try_fix(world, looser(world), note="n", by=ann)
    fix = try_fix(world, looser(world), note="n", by=curator)
    with pytest.raises(DecisionRefused):
        discard_fix(fix, reason="mine", by=ann)
    with pytest.raises(DecisionRefused):
        accept_fix(fix, severity=1, reason="mine", by=ann)
    assert "You worked on this example" in body(signed_in(ann).get(reverse("adjudicate", args=[world.pk])))


def test_an_unsolved_attempt_is_recorded_by_its_last_run(version, ann, ben):
    attempt_by(ann, version, RIGHT)
    attempt_by(ben, version, UNFINISHED, outcome="FAILED", kind=Run.Kind.VISIBLE)
    found = {each.function: each for each in recorded(version)}
    assert found[RIGHT].origins == ["submission"]
    assert found[UNFINISHED].origins == ["last run, never submitted"]
    assert found[UNFINISHED].people == [ben.pseudonym]


def test_a_fix_asks_for_every_recorded_solution_once(world, curator):
    fix = try_fix(world, looser(world), note="Cents are not asked for.", by=curator)
    assert fix.trials.count() == 3
    assert Trial.objects.filter(version=world, fix=None).count() == 3
    assert try_fix(world, looser(world), note="again", by=curator) == fix
    assert Execution.objects.filter(trial__isnull=False).count() == 6
    job = fix.trials.get(program="reference").execution.job
    assert "in (23.99, 23.988)" in job.tests
    assert job.revealed
    assert Version.objects.count() == 1


def test_nothing_to_try_is_refused(world, curator):
    with pytest.raises(NothingChanged):
        try_fix(world, edit_of(world), note="n", by=curator)
    later = Version.objects.get(pk=world.pk)
    later.pk, later.number, later.content_hash = None, 2, "other"
    later.save(force_insert=True)
    later.example.current = later
    later.example.save(update_fields=["current"])
    with pytest.raises(Overtaken):
        try_fix(Version.objects.get(pk=world.pk), looser(world), note="n", by=curator)


def test_who_flips_is_shown_and_unjudged_is_no_flip(world, curator):
    fix = try_fix(world, looser(world), note="n", by=curator)
    assert {each.line.flip for each in fix_page(fix).lines} == {Flip.OPEN}
    Execution.objects.filter(trial__fix=None, trial__function=STRICT).update(
        state="finished", outcome="FAILED"
    )
    finish_all()
    page = fix_page(fix)
    assert page.ready
    assert {each.name: each.line.flip for each in page.lines} == {
        "reference": Flip.SAME,
        fingerprint(RIGHT, "")[:8]: Flip.SAME,
        fingerprint(STRICT, "")[:8]: Flip.PASSES,
    }
    Execution.objects.filter(trial__fix=fix, trial__function=STRICT).update(
        state="unjudged", outcome="", reason="no worker"
    )
    page = fix_page(fix)
    assert page.tally[Flip.UNJUDGED] == 1
    assert page.flips == 0
    shown = body(signed_in(curator).get(reverse("fix", args=[fix.pk])))
    assert "Execute what is missing" in shown
    signed_in(curator).post(reverse("fix_execute", args=[fix.pk]))
    assert Execution.objects.get(trial__fix=fix, trial__function=STRICT).state == "queued"


def test_an_accepted_fix_of_tests_carries_the_verdicts(either_database, world, ann, ben, curator):
    make_checks(world)
    fix = try_fix(world, looser(world), note="n", by=curator)
    with pytest.raises(DecisionRefused, match="Not everything"):
        accept_fix(fix, severity=2, reason="It is right.", by=curator)
    finish_all()
    made, carried = accept_fix(fix, severity=2, reason="It is right.", by=curator)
    assert (made.number, carried) == (2, 2)
    assert {(row.verdict.attempt.annotator, row.solved) for row in CarriedVerdict.objects.all()} == {
        (ann, True),
        (ben, True),
    }
    assert Verdict.objects.filter(carried=True, attempt__slot__version=world).count() == 2
    assert not Verdict.objects.get(attempt__annotator=ben).solved
    told = evidence.evidence(Version.objects.filter(pk=made.pk))[made.pk]
    assert (told.independent, told.studies[0].closed, told.studies[0].wanted, told.disputes) == (2, 2, 2, ())
    solved = evidence.figures(Version.objects.filter(pk=made.pk))[0]
    assert (solved.count, solved.total) == (2, 2)
    assert Adjudication.objects.get(version=world).decision == "repair"
    with pytest.raises(DecisionRefused):
        accept_fix(fix, severity=2, reason="Again.", by=curator)
    assert Version.objects.count() == 2
    rows = {each.sha256: each for each in subjects(Version.objects.filter(pk=made.pk))[0].solutions}
    assert rows[fingerprint(STRICT, "")].passed
    page = signed_in(curator)
    assert "carried to a later version" in body(page.get(reverse("adjudicate", args=[world.pk])))
    assert page.get("/studies/shop/fairness/").status_code == 200
    decided = [
        json.loads(line) for line in body(page.get("/studies/shop/fairness/decisions.jsonl")).splitlines()
    ]
    assert [(each["kind"], each["what"]) for each in decided] == [
        ("fix", "tried"),
        ("decision", "repair"),
        ("fix", "accepted as version 2"),
    ]


@pytest.mark.parametrize("key", ["javascript/roman", "cpp/top_words"])
def test_a_case_in_another_language_is_shown(key, ann, curator):
    version = attempt_of(ann, RECORDS[key]).slot.version
    assert "Side by side" in body(signed_in(curator).get(reverse("adjudicate", args=[version.pk])))


def test_a_fix_of_the_instruction_needs_new_solves(world, curator):
    edit = replace(edit_of(world), instruction="Complete `with_tax`: the price with tax, rounded to cents.")
    fix = try_fix(world, edit, note="n", by=curator)
    finish_all(strict="FAILED")
    _, carried = accept_fix(fix, severity=2, reason="It said nothing of cents.", by=curator)
    assert carried is None
    assert not CarriedVerdict.objects.exists()


def test_a_fix_whose_reference_fails_or_was_discarded_is_not_accepted(world, curator):
    fix = try_fix(world, looser(world), note="n", by=curator)
    finish_all(reference="FAILED")
    with pytest.raises(DecisionRefused, match="reference does not pass"):
        accept_fix(fix, severity=2, reason="x", by=curator)
    page = signed_in(curator)
    assert page.post(reverse("fix_discard", args=[fix.pk]), {"reason": ""}).status_code == 422
    page.post(reverse("fix_discard", args=[fix.pk]), {"reason": "It breaks the reference."})
    assert Fix.objects.get().state == "discarded"
    assert "It breaks the reference." in body(page.get(reverse("fix", args=[fix.pk])))
    finish_all()
    assert (
        page.post(reverse("fix_accept", args=[fix.pk]), {"severity": "1", "reason": "x"}).status_code == 422
    )


def test_a_verdict_of_which_nothing_can_be_said_is_not_carried(world, ann, curator):
    fix = try_fix(world, looser(world), note="n", by=curator)
    finish_all(strict="unjudged")
    _, carried = accept_fix(fix, severity=2, reason="x", by=curator)
    assert carried == 1
    assert CarriedVerdict.objects.get().verdict.attempt.annotator == ann


def test_the_form_of_a_fix_shows_the_change_and_keeps_what_was_wrong(world, curator):
    page, address = signed_in(curator), reverse("fix_new", args=[world.pk])
    assert "Execute all of it" in body(page.get(address))
    edit = looser(world)
    form = {
        name: getattr(edit, name)
        for name in ("instruction", "context", "reference", "tests", "block", "visible")
    }
    form |= {"environment": edit.environment.pk, "base": world.pk, "note": ""}
    shown = body(page.post(address, {**form, "action": "preview"}))
    assert "added: " in shown
    assert "verdicts will be carried" in shown
    assert not Fix.objects.exists()
    assert page.post(address, {**form, "action": "try"}).status_code == 422
    broken = page.post(address, {**form, "note": "n", "tests": "def test_x(:", "action": "try"})
    assert broken.status_code == 422
    assert "Mend it as Python." in body(broken)
    assert page.post(address, {**form, "note": "n", "action": "try"}).status_code == 302
    fix = Fix.objects.get()
    assert draft_of(fix).visible == world.visible
    again = page.get(
        reverse("fix", args=[fix.pk]) + f"?seen={fix_page(fix).seen}", headers={"HX-Request": "true"}
    )
    assert again.status_code == 204
    assert "in (23.99, 23.988)" in body(page.get(address + f"?from={fix.pk}"))


def test_executing_again_asks_only_for_what_is_missing(world, curator):
    page, address = signed_in(curator), reverse("execute_solutions", args=[world.pk])
    assert page.post(address, {"times": "0"}).status_code == 422
    page.post(address, {"times": "1"})
    assert Trial.objects.count() == 3
    page.post(address, {"times": "3"})
    assert Trial.objects.count() == 9
    assert ask_trials(world, recorded(world), by=curator, times=3) == 0
    seeds = Trial.objects.filter(program="reference").order_by("number")
    assert [each.execution.job.seed for each in seeds] == [0, 1, 2]


def test_the_report_names_findings_and_exports_them_under_the_names_of_the_study(world, ann, ben, curator):
    assess(world, fingerprint(STRICT, ""), right=True, reason="It says nothing of cents.", by=curator)
    page = signed_in(curator)
    shown = body(page.get("/studies/shop/fairness/"))
    assert "test_with_tax rejects 1 solution judged right" in shown
    assert "it takes solutions of two people" not in shown
    rows = [json.loads(line) for line in body(page.get("/studies/shop/fairness/findings.jsonl")).splitlines()]
    strict = next(row for row in rows if row["flaw"] == "over_strict")
    assert (strict["n"], strict["people"]) == (1, ["P02"])
    assert ben.pseudonym not in json.dumps(rows)
    matrix = body(page.get("/studies/shop/fairness/matrix.csv")).splitlines()
    assert matrix[0].startswith("version,example,solution,people,word")
    assert len(matrix) == 4
    told = page.get("/api/v1/studies/shop/fairness/").json()
    assert told["versions"][0]["answers"][0]["findings"][0]["flaw"] == "over_strict"
    page.post("/studies/shop/fairness/execute/", {"times": "2"})
    assert Trial.objects.count() == 6
    assert page.post("/studies/shop/fairness/execute/", {"times": "x"}).status_code == 422


def test_who_asked_to_be_left_out_of_the_study_is_named_nowhere_in_the_report(world, ben, curator):
    member = StudyPerson.objects.get(person=ben)
    withdraw(member, leave_out=True, by=curator, now=timezone.now())
    found = subjects(Version.objects.filter(pk=world.pk))[0]
    assert ben.pseudonym not in {person for each in found.solutions for person in each.people}
    assert ben.pseudonym not in {grade.pseudonym for grade in found.grades}
    assert len(recorded(world)) == 2


def test_a_study_without_versions_says_why_the_report_is_empty(curator):
    make_study("empty", versions=[], people=[])
    assert "No version yet" in body(signed_in(curator).get("/studies/empty/fairness/"))


def test_the_report_takes_the_same_number_of_queries_for_any_number_of_versions(
    ann, ben, curator, django_assert_max_num_queries, django_assert_num_queries
):
    make_environment("plain")
    page = signed_in(curator)
    attempt_by(ann, make_version(source=SOURCE), RIGHT)
    page.get("/studies/shop/fairness/")
    with django_assert_max_num_queries(30) as seen:
        page.get("/studies/shop/fairness/")
    for _ in range(3):
        version = make_version(source=SOURCE)
        attempt_by(ann, version, RIGHT)
        attempt_by(ben, version, STRICT, outcome="FAILED")
    with django_assert_num_queries(len(seen)):
        page.get("/studies/shop/fairness/")
