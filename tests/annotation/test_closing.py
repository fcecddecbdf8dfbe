"""The closing form: its evidence and notes, what is kept while it is filled in, and a verdict that is given back."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.db import IntegrityError, transaction
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from annotation.answers import said_so_far
from annotation.attempts import Refused, close_attempt, give_up
from annotation.closing import STEPS, keep_answers, reopen
from annotation.forms.verdict import EVIDENCE
from annotation.limits import TooMany
from annotation.models import Attempt, Protocol, Slot, User, Verdict, VerdictStep
from annotation.results import rows_of
from examples.models import AuditEntry
from tests.annotation.factories import make_attempt

FORM = {
    "outcome": "gave_up",
    "difficulty": "trivial",
    "instruction_quality": "0",
    "test_quality": "0",
    "aids": "none",
}
WRONG_TESTS = {
    "outcome": "tests_wrong",
    "evidence_test": "hidden",
    "evidence_input": "with_tax(-1)",
    "evidence_expected": "-1.2",
    "evidence_got": "0.0, I believe",
    "evidence": "Nothing forbids a negative price.",
}


def browser(person: User) -> Client:
    client = Client()
    client.force_login(person, backend="django.contrib.auth.backends.ModelBackend")
    return client


def due(person: User, **fields: object) -> Attempt:
    """Return an attempt whose verdict is due."""
    attempt = make_attempt(person, **fields)
    give_up(attempt, reason="no idea", now=timezone.now())
    return attempt


def answered(attempt: Attempt, change: dict[str, str]) -> dict[str, list[str]]:
    """Send the closing form with a change, and return its errors; {} where it closed the attempt."""
    path = reverse("verdict", args=[attempt.pk])
    answer = browser(attempt.annotator).post(path, FORM | change)
    return dict(answer.context["form"].errors) if answer.status_code == 422 else {}


@pytest.mark.parametrize("outcome", EVIDENCE)
def test_an_outcome_that_blames_the_example_needs_all_of_its_evidence(outcome, ann):
    attempt = due(ann)
    assert set(answered(attempt, {"outcome": outcome})) == set(EVIDENCE[outcome])
    assert answered(attempt, WRONG_TESTS | {"outcome": outcome}) == {}
    attempt.refresh_from_db()
    assert attempt.verdict.evidence_input == "with_tax(-1)"
    assert "input: with_tax(-1)" in attempt.verdict.evidence_words


def test_evidence_names_a_visible_assertion_a_hidden_one_or_none(ann):
    attempt = due(ann)
    page = browser(ann).get(reverse("verdict", args=[attempt.pk])).content.decode()
    assert "with_tax(100) == 120.0</option>" in page
    assert "secret_value" not in page
    assert "evidence_test" in answered(attempt, WRONG_TESTS | {"evidence_test": "test_with_tax:2"})
    assert answered(attempt, WRONG_TESTS | {"evidence_test": "test_with_tax:1"}) == {}


def test_a_study_that_shows_no_tests_names_none(ann):
    attempt = due(ann, shows_visible_tests=False)
    page = browser(ann).get(reverse("verdict", args=[attempt.pk])).content.decode()
    assert "with_tax(100) == 120.0</option>" not in page


def test_the_protocol_says_words_scale_and_from_where_a_note_is_needed(ann):
    attempt = due(
        ann,
        difficulty_question="How long would it take you?",
        difficulty_levels=["minutes", "hours"],
        instruction_anchors=["one", "two", "three", "four"],
        note_from=1,
        asks_confidence=True,
    )
    Protocol.objects.update(asks_prior_exposure=True)  # of a study it is asked before the first example, too
    page = browser(ann).get(reverse("verdict", args=[attempt.pk])).content.decode()
    assert all(
        words in page
        for words in ("How long would it take you?", "minutes", "three", "Had you seen it before?")
    )
    errors = answered(attempt, {"difficulty": "hours", "instruction_quality": "1"})
    assert set(errors) == {"instruction_note", "confidence", "prior_exposure"}
    more = {"instruction_note": "Which rate?", "confidence": "2", "prior_exposure": "similar"}
    assert answered(attempt, {"difficulty": "hours", "instruction_quality": "1", **more}) == {}
    attempt.refresh_from_db()
    assert (attempt.verdict.confidence, attempt.verdict.prior_exposure) == (2, "similar")


def test_what_was_used_is_declared_where_a_study_compares_help_and_named_where_there_was_any(ann, ben):
    assert "aids" in answered(due(ann, arms=["none", "assistant"]), {"aids": ""})
    attempt = due(ben)
    assert set(answered(attempt, {"aids": "assistant"})) == {"aids_text"}
    assert answered(attempt, {"aids": ""}) == {}


def test_what_is_refused_is_kept_and_stands_on_the_page_again(ann):
    attempt = due(ann)
    path = reverse("verdict", args=[attempt.pk])
    answer = browser(ann).post(path, FORM | WRONG_TESTS | {"evidence_got": "", "text": "a\r\nb <i>"})
    assert answer.status_code == 422
    assert "a\nb &lt;i&gt;" in answer.content.decode()
    again = browser(ann).get(path)
    assert again.context["form"]["evidence_input"].value() == "with_tax(-1)"
    assert said_so_far(attempt)["text"] == "a\nb <i>"


def test_each_change_is_kept_in_its_order_and_the_last_value_holds(either_database, ann):
    attempt = due(ann)
    client, path = browser(ann), reverse("verdict_draft", args=[attempt.pk])
    for said in (
        {"test_quality": "1"},
        {"test_quality": "3", "text": "hm"},
        {"test_quality": "2"},
        {"text": "hm"},
    ):
        assert client.post(path, said).json()["saved_at"]
    assert [step.changed for step in attempt.verdict_steps.all()] == [
        {"test_quality": "1"},
        {"test_quality": "3", "text": "hm"},
        {"test_quality": "2"},
    ]
    assert said_so_far(attempt) == {"test_quality": "2", "text": "hm"}
    page = client.get(reverse("verdict", args=[attempt.pk]))
    assert page.context["form"]["test_quality"].value() == "2"
    attempt.refresh_from_db()
    assert attempt.state == "submitted", "a draft never closes anything"


def test_who_fills_in_the_form_keeps_the_place(ann):
    attempt = due(ann)
    soon = timezone.now() + timedelta(minutes=1)
    Slot.objects.filter(pk=attempt.slot_id).update(lease_end=soon)
    keep_answers(attempt, said={"text": "still here"}, now=timezone.now())
    assert Slot.objects.get(pk=attempt.slot_id).lease_end > soon + timedelta(hours=1)


def test_for_later_keeps_the_answers_and_closes_nothing(ann):
    attempt = due(ann)
    answer = browser(ann).post(reverse("verdict", args=[attempt.pk]), {"text": "half", "then": "later"})
    assert answer.url == reverse("work")
    assert said_so_far(attempt)["text"] == "half"
    attempt.refresh_from_db()
    assert attempt.state == "submitted"


def test_a_draft_is_refused_before_the_verdict_is_due_after_it_and_once_the_place_is_anothers(ann, ben):
    opened = make_attempt(ann)
    path = reverse("verdict_draft", args=[opened.pk])
    assert browser(ann).post(path, {"text": "x"}).status_code == 410
    attempt = due(ben)
    assert answered(attempt, {}) == {}
    assert browser(ben).post(reverse("verdict_draft", args=[attempt.pk]), {"text": "x"}).status_code == 410
    lost = due(ann)
    Slot.objects.filter(pk=lost.slot_id).update(annotator=ben)
    assert browser(ann).post(reverse("verdict_draft", args=[lost.pk]), {"text": "x"}).status_code == 410
    assert browser(ben).post(path, {"text": "x"}).status_code == 404
    assert Client().post(path, {"text": "x"}).status_code == 302


def test_a_draft_takes_neither_what_no_database_keeps_nor_more_than_a_form_needs(ann):
    attempt, now = due(ann), timezone.now()
    with pytest.raises(Refused, match="NUL"):
        keep_answers(attempt, said={"text": "a\0"}, now=now)
    with pytest.raises(Refused, match="longer"):
        keep_answers(attempt, said={"text": "a" * 10_001}, now=now)
    assert keep_answers(attempt, said={"solved": "True", "revision": "9"}, now=now) is None
    VerdictStep.objects.bulk_create(
        VerdictStep(attempt=attempt, number=at, kind="saved", changed={"text": str(at)}, by=ann)
        for at in range(STEPS)
    )
    with pytest.raises(TooMany):
        keep_answers(attempt, said={"text": "one more"}, now=now)


def closed(person: User) -> Attempt:
    attempt = due(person)
    answers = {"outcome": "gave_up", "difficulty": "trivial", "instruction_quality": 0, "test_quality": 3}
    close_attempt(attempt, answers=answers | {"test_note": "Too strict."}, now=timezone.now())
    return attempt


def test_a_verdict_given_back_is_given_again_as_its_next_revision_and_both_stay_on_record(
    either_database, ann, curator
):
    attempt = closed(ann)
    answer = browser(curator).post(reverse("verdict_reopen", args=[attempt.pk]), {"reason": "Which test?"})
    assert answer.url == reverse("replay", args=[attempt.pk])
    attempt.refresh_from_db()
    assert (attempt.state, attempt.slot.state, attempt.verdict.test_quality) == ("submitted", "closed", 3)
    (row,) = rows_of(Attempt.objects.all())
    assert not row.closed, "until it is given again it counts as open"
    page = browser(ann).get(reverse("verdict", args=[attempt.pk]))
    assert "Which test?" in page.content.decode()
    assert page.context["form"]["test_note"].value() == "Too strict."
    assert browser(ann).get(reverse("work")).content.decode().count(f"/attempts/{attempt.pk}/")
    assert answered(attempt, WRONG_TESTS) == {}
    verdict = Verdict.objects.get()
    assert (verdict.revision, verdict.outcome, verdict.test_quality) == (2, "tests_wrong", 0)
    assert [step.kind for step in attempt.verdict_steps.all()] == ["closed", "reopened", "closed"]
    assert attempt.verdict_steps.first().changed["test_quality"] == "3"
    attempt.refresh_from_db()
    assert (attempt.state, Slot.objects.get(pk=attempt.slot_id).state) == ("closed", "closed")
    assert AuditEntry.objects.get(action="verdict re-opened").detail == {"reason": "Which test?"}


def test_only_a_closed_verdict_is_given_back_with_a_reason_and_by_somebody_else(ann, curator):
    attempt, now = closed(ann), timezone.now()
    with pytest.raises(Refused, match="why"):
        reopen(attempt, reason=" ", by=curator, now=now)
    with pytest.raises(Refused, match="your own"):
        reopen(attempt, reason="x", by=ann, now=now)
    path = reverse("verdict_reopen", args=[attempt.pk])
    assert browser(curator).post(path, {"reason": ""}).status_code == 422
    assert browser(ann).post(path, {"reason": "x"}).status_code == 404
    reopen(attempt, reason="x", by=curator, now=now)
    with pytest.raises(Refused, match="closed"):
        reopen(attempt, reason="x", by=curator, now=now)
    assert browser(curator).post(path, {"reason": "x"}).status_code == 422


def test_no_step_without_its_number_and_no_giving_back_without_a_reason_reaches_the_database(ann, curator):
    attempt = closed(ann)
    step = {"attempt": attempt, "by": curator, "kind": "reopened"}
    for wrong in ({"number": 1, "reason": "x"}, {"number": 9, "reason": ""}):
        with pytest.raises(IntegrityError), transaction.atomic():
            VerdictStep.objects.create(**step, **wrong)
