"""ONBOARDING: the steps into a study, enforced where slots are taken; gold examples; and that none of it is in a figure."""

from __future__ import annotations

import json
from datetime import timedelta

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone
from django.utils.html import strip_tags

from annotation import evidence
from annotation.assignment import NothingToTake, Reason, take_slot
from annotation.attempts import close_attempt, give_up, settle
from annotation.beside_models import studies_on
from annotation.codebook import TABLES
from annotation.exporting import export
from annotation.leaving import decline, defer, report_broken
from annotation.models import (
    Acceptance,
    Admission,
    Attempt,
    Background,
    GoldItem,
    Protocol,
    Slot,
    Study,
    StudyPerson,
    User,
    Verdict,
)
from annotation.onboarding.gold import mark_gold, qualification_of, unmark_gold
from annotation.onboarding.steps import Step, accept, gold_ahead, next_step, standing_of
from annotation.onboarding.warm_up import warm_up_version
from annotation.results import rows_of_versions, study_results
from annotation.runs import submit
from annotation.studies import StudyRefused, choose
from annotation.withdrawing import withdraw
from annotation.workspace import shown_tests
from examples.models import AuditEntry, Example, Version
from runner.outcome import Outcome
from tests.annotation.factories import RIGHT, WRONG, finish, make_study

BACKGROUND = {"programming_years": "3 to 5", "language_years": "", "familiarity": "some"}


def browser(person: User) -> Client:
    client = Client()
    client.force_login(person, backend="django.contrib.auth.backends.ModelBackend")
    return client


def member_of(study: Study, person: User) -> StudyPerson:
    return StudyPerson.objects.select_related("study", "person").get(study=study, person=person)


def taken(study: Study, person: User) -> Attempt:
    attempt = take_slot(Study.objects.get(pk=study.pk), person, timezone.now())
    assert isinstance(attempt, Attempt), attempt
    return attempt


def solve(attempt: Attempt, *, right: bool = True) -> Attempt:
    now = timezone.now()
    run = submit(attempt, function=RIGHT if right else WRONG, module="", key=f"k{attempt.pk}", now=now)
    finish(run, Outcome.PASSED if right else Outcome.FAILED)
    settle(attempt, now=now)
    answers = {
        "outcome": "solved" if right else "gave_up",
        "difficulty": "trivial",
        "instruction_quality": 0,
        "test_quality": 3,
    }
    close_attempt(attempt, answers=answers, now=now)
    return attempt


def with_gold(people: list[User], *, qualification=2, retry=0, later=0, versions=2, **rules) -> Study:
    study = make_study(people=people, versions=versions + qualification + retry + later, solvers=1, **rules)
    by = User.objects.create(username="goldmaker", pseudonym="C-99", role="curator")
    chosen = list(study.slots.order_by("version").values_list("version", flat=True))[versions:]
    purposes = ["qualification"] * qualification + ["retry"] * retry + ["later"] * later
    for version, purpose in zip(chosen, purposes, strict=True):
        mark_gold(study, version, purpose=purpose, by=by)
    return study


def test_the_steps_come_in_order_and_the_server_holds_to_them(ann):
    study = make_study(
        people=[ann], consent_text="We keep what you do.", guidelines="Work alone.", asks_prior_exposure=True
    )
    client, start = browser(ann), reverse("onboarding", args=[study.name])

    def due() -> Step | None:
        found = take_slot(Study.objects.get(pk=study.pk), ann, timezone.now())
        return found.step if isinstance(found, NothingToTake) else None

    assert due() == Step.CONSENT
    client.post(start, {"do": "guidelines"})  # not yet
    client.post(start, {"do": "background", **BACKGROUND})
    assert due() == Step.CONSENT
    assert "We keep what you do." in client.get(start).content.decode()
    client.post(start, {"do": "consent"})
    assert due() == Step.BACKGROUND
    refused = client.post(start, {"do": "background", **BACKGROUND, "familiarity": "a lot"})
    assert refused.status_code == 422
    client.post(start, {"do": "background", **BACKGROUND, "prior_exposure": "none"})
    assert due() == Step.GUIDELINES
    assert client.post(reverse("next_example", args=[study.name])).url == start
    client.post(start, {"do": "guidelines"})
    assert due() is None
    said = Acceptance.objects.get(what="consent")
    assert (len(said.sha256), said.accepted, said.protocol) == (64, True, study.protocol)
    assert Background.objects.get().language_years == ""  # rather not say


def test_who_declines_gets_nothing_and_can_change_their_mind(ann):
    study = make_study(people=[ann], consent_text="We keep what you do.")
    client, start = browser(ann), reverse("onboarding", args=[study.name])
    page = client.post(start, {"do": "decline"}, follow=True).content.decode()
    assert "You have declined" in page
    assert "nothing more is asked" in page
    assert standing_of(member_of(study, ann)).declined
    assert "consent declined" in client.get(reverse("work")).content.decode()
    assert isinstance(take_slot(study, ann, timezone.now()), NothingToTake)
    client.post(start, {"do": "consent"})
    assert next_step(member_of(study, ann)) == Step.BACKGROUND


def test_another_consent_text_is_asked_for_anew_and_the_same_one_is_not(ann):
    study = make_study(people=[ann], consent_text="One.")
    accept(member_of(study, ann), "consent", accepted=True, now=timezone.now())
    rules = {"study": study, "reason": "longer", "frozen_at": timezone.now()}
    Protocol.objects.create(number=2, consent_text="One.", **rules)
    assert next_step(member_of(study, ann)) == Step.BACKGROUND
    Protocol.objects.create(number=3, consent_text="Two.", **rules)
    assert next_step(member_of(study, ann)) == Step.CONSENT


def test_the_warm_up_is_an_example_of_ours_in_the_real_workspace_once_for_a_person(ann, ben):
    study = make_study(people=[ann, ben], warm_up=True)
    attempt = taken(study, ann)
    version = warm_up_version()
    assert (attempt.slot.kind, attempt.slot.version) == ("warm_up", version)
    assert shown_tests(version).part.count == 2
    assert "Letters on a badge" in browser(ann).get(reverse("workspace", args=[attempt.pk])).content.decode()
    assert taken(study, ann) == attempt
    defer(attempt, reason="", now=timezone.now())
    assert taken(study, ann) == attempt
    assert taken(study, ben).slot.version == version  # each has a place of their own
    solve(Attempt.objects.get(pk=attempt.pk))
    assert taken(study, ann).slot.kind == "study"
    assert next_step(member_of(make_study(people=[ann], warm_up=True), ann)) == Step.WORK
    version.check_state = Version.CheckState.PASSED
    version.save(update_fields=["check_state"])
    assert version.pk not in choose(Example.objects.all()).versions  # no study is made of it


def test_the_qualification_is_scored_by_execution_and_shows_what_was_expected_afterwards(ann):
    study = with_gold([ann], qualification=2, pass_mark=1.0)
    first = taken(study, ann)
    assert first.slot.kind == "qualification"
    feedback = reverse("feedback", args=[first.pk])
    client = browser(ann)
    assert client.get(feedback).status_code == 404
    solve(first)
    page = strip_tags(client.get(feedback).content.decode())
    assert "secret_value = 19.99" in page  # a hidden test
    assert "return round(net * (1 + RATE), 2)" in page  # the reference
    solve(taken(study, ann))
    score = qualification_of(member_of(study, ann))
    assert (score.solved, score.total, score.passed) == (2, 2, True)
    assert taken(study, ann).slot.kind == "study"


def test_who_fails_has_one_retry_with_other_examples_and_a_curator_can_let_them_in(ann, curator):
    study = with_gold([ann], qualification=2, retry=1, pass_mark=0.6)
    solve(taken(study, ann))
    solve(taken(study, ann), right=False)
    again = qualification_of(member_of(study, ann))
    assert (again.retry, again.failed, again.needed) == (True, False, 1)
    decline(taken(study, ann), reason="no time", now=timezone.now())  # is not solved
    assert take_slot(study, ann, timezone.now()) == NothingToTake(Reason.NOT_QUALIFIED)
    assert "needs qualification" in browser(ann).get(reverse("work")).content.decode()
    Admission.objects.create(member=member_of(study, ann), reason="talked", admitted_by=curator)
    assert taken(study, ann).slot.kind == "study"


def test_a_gold_example_reported_broken_is_left_out_of_the_score_and_given_to_nobody(ann, ben):
    study = with_gold([ann, ben], qualification=2, pass_mark=1.0)
    solve(taken(study, ann))
    deferred = taken(study, ben)
    broken = taken(study, ann)
    defer(deferred, reason="", now=timezone.now())
    report_broken(broken, what="tests", evidence="wrong", now=timezone.now())
    assert qualification_of(member_of(study, ann)).passed
    solve(taken(study, ben))
    assert qualification_of(member_of(study, ben)).total == 1
    assert taken(study, ben).slot.kind == "study"


def test_without_chosen_gold_the_qualification_waits_for_the_curators(ann):
    study = make_study(people=[ann], pass_mark=0.5)
    assert take_slot(study, ann, timezone.now()) == NothingToTake(Reason.STEP_DUE, step=Step.QUALIFICATION)
    page = browser(ann).get(reverse("onboarding", args=[study.name])).content.decode()
    assert "not chosen yet" in page


def test_gold_comes_after_every_so_many_and_looks_like_any_other(ann):
    study = with_gold([ann], qualification=0, later=1, versions=3, gold_every=2)
    client, kinds, totals = browser(ann), [], []
    for _ in range(4):
        page = client.get(reverse("work")).content.decode()
        totals.append("of 4" in page)
        attempt = taken(study, ann)
        kinds.append(attempt.slot.kind)
        workspace = client.get(reverse("workspace", args=[attempt.pk])).content.decode()
        assert "gold" not in workspace.lower()
        assert "1001" not in workspace
        solve(attempt)
        assert client.get(reverse("feedback", args=[attempt.pk])).status_code == 404
    assert (kinds, totals) == (["study", "study", "gold", "study"], [True] * 4)
    pages = client.get(reverse("work")).content.decode() + client.get(reverse("own_page")).content.decode()
    assert "gold" not in pages.lower()
    assert gold_ahead(member_of(study, ann), 5) == 0


def test_only_what_nobody_has_begun_becomes_gold_and_only_then_an_example_again(ann, curator):
    study = make_study(people=[ann], versions=2, solvers=2)
    begun = taken(study, ann).slot.version_id
    free = study.slots.exclude(version=begun).first()
    with pytest.raises(StudyRefused, match="begun"):
        mark_gold(study, begun, purpose="later", by=curator)
    item = mark_gold(study, free.version_id, purpose="later", by=curator)
    assert study.slots.count() == 2
    unmark_gold(item, by=curator)
    assert study.slots.of_the_study().filter(version=free.version_id).count() == 2
    assert GoldItem.objects.count() == 0


@pytest.fixture
def mixed(ann, ben) -> Study:
    """A study with two closed attempts that count, and a warm-up, a qualification and a gold one that do not."""
    study = with_gold(
        [ann, ben], qualification=1, later=1, versions=2, warm_up=True, pass_mark=0.0, gold_every=1
    )
    kinds = [solve(taken(study, ann)).slot.kind for _ in range(5)]
    assert sorted(kinds) == ["gold", "qualification", "study", "study", "warm_up"]
    return study


def test_warm_up_and_gold_are_in_no_figure_export_or_release(mixed, ann):
    results = study_results(mixed)
    assert (len(results.rows), results.closed, results.nothing_left_out.total) == (2, 2, 2)
    measured = Version.objects.exclude(pk__in=Slot.objects.of_the_study().values("version"))
    assert measured.count() == 3
    assert rows_of_versions(measured) == []
    assert not evidence.evidence(measured)
    assert all(figure.total == 0 for figure in evidence.figures(measured))
    assert not evidence.open_disputes().filter(attempt__slot__version__in=measured).exists()
    assert not evidence.unsolved_versions().filter(pk__in=measured).exists()
    assert evidence.open_disputes().count() == 2
    counted = set(Attempt.objects.counted().values_list("pk", flat=True))
    for table in TABLES:
        lines = [json.loads(line) for line in b"".join(export(mixed, table, "jsonl")).splitlines()]
        assert {line["attempt"] for line in lines if "attempt" in line} <= counted, table
    assert studies_on(Study.objects.all(), []) == []


def test_withdrawing_keeps_the_rows_and_at_wish_leaves_them_out_of_figures(mixed, ann, ben):
    before = timezone.now()
    member = member_of(mixed, ann)
    withdraw(member, leave_out=False, by=ann, now=before + timedelta(seconds=1))
    assert study_results(mixed).closed == 2
    assert take_slot(mixed, ann, timezone.now()) == NothingToTake(Reason.NOT_TAKING_PART)
    earlier = b"".join(export(mixed, "attempts", "csv"))
    moment = before + timedelta(seconds=2)
    withdraw(member, leave_out=True, by=ann, now=before + timedelta(seconds=3))
    results = study_results(mixed)
    assert (results.closed, results.nothing_left_out.total) == (0, 0)
    assert (results.withdrawn.people, results.withdrawn.left_out) == (1, 1)
    assert results.rates.solved.exclusions["withdrew and asked to be left out"] == 2
    assert study_results(mixed, as_of=moment).closed == 2
    assert b"".join(export(mixed, "attempts", "csv", as_of=moment)) == earlier
    assert b"".join(export(mixed, "attempts", "csv")) != earlier
    assert Verdict.objects.count() == 5  # nothing is deleted
    logged = AuditEntry.objects.filter(action="withdraw from study").order_by("pk").last()
    assert logged is not None
    assert logged.detail["closed_attempts_counted_before"] == 2
    assert logged.detail["closed_attempts_counted_after"] == 0


def test_withdrawing_gives_back_what_is_open(ann, ben):
    study = make_study(people=[ann, ben], versions=2, solvers=1)
    first = taken(study, ann)
    defer(first, reason="", now=timezone.now())
    second = taken(study, ann)
    browser(ann).post(reverse("leave_study", args=[study.name]), {"words": "no time"})
    assert set(study.slots.values_list("state", flat=True)) == {"free"}
    assert set(Attempt.objects.values_list("state", flat=True)) == {"released"}
    assert second.pk
    assert "no time" in str(member_of(study, ann).withdrawals.get().words)
    page = browser(ann).get(reverse("own_page")).content.decode()
    assert "you left it" in page


def test_exports_hold_experience_in_bands(ann):
    study = make_study(people=[ann], consent_text="Yes?")
    Background.objects.create(member=member_of(study, ann), **BACKGROUND)
    (row,) = [json.loads(line) for line in b"".join(export(study, "people", "jsonl")).splitlines()]
    assert row["programming_years"] == "3 to 5"
    assert row["language_years"] == ""
    assert "ann" not in json.dumps(row)


def test_time_and_history_stand_on_ones_own_page_and_nobody_elses(ann, ben, mixed):
    give_up(taken(mixed, ben), reason="enough", now=timezone.now())
    page = browser(ben).get(reverse("own_page")).content.decode()
    assert "Letters on a badge" in page
    assert "warm-up" in page
    assert page.count("Price number") == 0
