"""A submission that could not be confirmed: neither solved nor failed, until a curator decides with a reason."""

from __future__ import annotations

import pytest
from django.test import Client
from django.utils import timezone

from annotation import evidence
from annotation.adjudication import DecisionRefused, flagged, rule
from annotation.attempts import close_attempt, progress_of, settle, suggested_outcome
from annotation.exporting import export
from annotation.models import Attempt, Ruling, Run, Verdict
from annotation.results import AWAITS_CURATOR, rows_of
from annotation.runs import submit
from examples.models import AuditEntry, Version
from runner.models import Execution
from tests.annotation.factories import RIGHT, finish
from tests.annotation.factories import make_attempt as open_attempt
from tests.factories import make_attempt, make_study, make_version

CANARY = {"test": "test_add", "assertion": 1, "line": 2, "kind": "eq", "outcome": "PASSED"}


@pytest.fixture
def attempt(ann, ben) -> Attempt:
    """A closed attempt whose submission PASSED, and a canary of it too."""
    version = make_version("add")
    study = make_study(versions=[version], people=[ann, ben])
    made = make_attempt(study, version, ann)
    Execution.objects.update(tampered=True, facts={"canary": CANARY})
    Verdict.objects.update(solved=False)
    return made


def run_of(attempt: Attempt) -> Run:
    return Run.objects.get(attempt=attempt, kind=Run.Kind.SUBMISSION)


def row(attempt: Attempt):
    (found,) = rows_of(Attempt.objects.filter(pk=attempt.pk))
    return found


def signed_in(user) -> Client:
    client = Client()
    client.force_login(user, backend="django.contrib.auth.backends.ModelBackend")
    return client


def test_until_somebody_decides_it_is_in_no_figure(attempt):
    assert (row(attempt).solved, row(attempt).excluded_reason) == (False, AWAITS_CURATOR)
    assert not evidence.unsolved_versions().exists()
    assert not evidence.independent_solves().exists()


@pytest.mark.parametrize("stands", [True, False])
def test_a_ruling_makes_it_solved_or_failed(attempt, curator, stands):
    rule(run_of(attempt), stands=stands, reason="I read the code.", by=curator)
    assert (row(attempt).solved, row(attempt).excluded_reason) == (stands, "")
    assert Verdict.objects.get().solved is stands
    assert evidence.independent_solves().exists() is stands
    assert flagged(curator) == []
    assert AuditEntry.objects.filter(action="submission ruled on").exists()


def test_a_ruling_is_made_once_and_only_where_one_is_due(attempt, curator):
    rule(run_of(attempt), stands=True, reason="I read the code.", by=curator)
    with pytest.raises(DecisionRefused, match="awaits no decision"):
        rule(run_of(attempt), stands=False, reason="On second thoughts.", by=curator)
    assert Ruling.objects.get().stands


def test_who_worked_on_it_or_gives_no_reason_decides_nothing(attempt, ann, curator):
    type(ann).objects.filter(pk=ann.pk).update(role="curator")
    ann.refresh_from_db()
    with pytest.raises(DecisionRefused, match="You worked on this example"):
        rule(run_of(attempt), stands=True, reason="Mine.", by=ann)
    with pytest.raises(DecisionRefused, match="reason"):
        rule(run_of(attempt), stands=True, reason=" ", by=curator)
    assert not Ruling.objects.exists()


def test_the_page_shows_where_the_canary_was_and_takes_the_decision(attempt, curator):
    page = signed_in(curator)
    shown = page.get("/adjudication/").content.decode()
    assert "line 2 of the tests" in shown
    assert "What was submitted" in shown
    address = f"/adjudication/submissions/{run_of(attempt).pk}/"
    page.post(address, {"stands": "maybe", "reason": "x"})
    page.post(address, {"stands": "no", "reason": " "})
    assert not Ruling.objects.exists()
    page.post(address, {"stands": "no", "reason": "It patches numpy.testing."})
    assert not Ruling.objects.get().stands
    assert "What was submitted" not in page.get("/adjudication/").content.decode()


@pytest.mark.parametrize("number", [1, 4])
def test_the_page_takes_the_same_number_of_queries_for_any_number(
    number, ann, curator, django_assert_num_queries
):
    versions = [make_version(f"add{at}") for at in range(number)]
    study = make_study(versions=versions, people=[ann])
    for version in versions:
        make_attempt(study, version, ann)
    Execution.objects.update(tampered=True)
    page = signed_in(curator)
    with django_assert_num_queries(10):
        page.get("/adjudication/")


def test_the_export_says_what_was_ruled(attempt, curator):
    def rulings() -> bytes:
        return b"".join(export(attempt.slot.study, "runs", "jsonl"))

    assert b'"flagged": true, "ruling": ""' in rulings()
    rule(run_of(attempt), stands=False, reason="It patches numpy.testing.", by=curator)
    assert b'"flagged": true, "ruling": "refused"' in rulings()


def test_the_annotator_may_say_solved_and_a_ruling_before_the_verdict_counts(ann, curator):
    attempt = open_attempt(ann)
    run = submit(attempt, function=RIGHT, module="", key="s", now=timezone.now())
    finish(run, tampered=True)
    assert settle(attempt, now=timezone.now())
    assert suggested_outcome(attempt, progress_of(attempt)) == "solved"
    rule(Run.objects.get(pk=run.pk), stands=True, reason="I read the code.", by=curator)
    answers = {"outcome": "solved", "difficulty": "easy", "instruction_quality": 0, "test_quality": 0}
    assert close_attempt(attempt, answers=answers, now=timezone.now()).solved
    page = signed_in(ann).get(f"/attempts/{attempt.pk}/execution/").content.decode()
    assert "ampered" not in page
    assert Version.objects.exists()
