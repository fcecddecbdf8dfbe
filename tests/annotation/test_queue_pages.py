"""STUDY and ACCOUNTS: the curator's page of a queue, leaving an example by its forms, and asking for an account."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from annotation.accounts import create_account
from annotation.assignment import take_slot
from annotation.leaving import defer, report_broken
from annotation.models import Attempt, BrokenReport, SignUp, Slot, Study, StudyPerson, User
from annotation.onboarding.gold import mark_gold
from config.access import Role
from tests.annotation.factories import make_study
from tests.annotation.test_onboarding import browser, solve, taken
from tests.conftest import PASSWORD


def test_the_queue_page_asks_as_often_for_many_as_for_few(curator, django_assert_max_num_queries):
    client, counts = browser(curator), []
    for size in (2, 6):
        people = [
            create_account(username=f"q{size}-{at}", role=Role.ANNOTATOR, password=None) for at in range(size)
        ]
        study = make_study(
            people=people, versions=3 * size + 1, solvers=1, consent_text="Yes?", pass_mark=0.0, warm_up=True
        )
        gold = study.slots.order_by("version").first().version_id
        mark_gold(study, gold, purpose="later", by=curator)
        type(study.protocol).objects.filter(study=study).update(
            consent_text="", pass_mark=None, warm_up=False
        )
        fresh = Study.objects.get(pk=study.pk)
        for person in people:
            defer(taken(fresh, person), reason="", now=timezone.now())
            report_broken(taken(fresh, person), what="tests", evidence="wrong", now=timezone.now())
            taken(fresh, person)
        type(study.protocol).objects.filter(study=study).update(
            consent_text="Yes?", pass_mark=0.5, warm_up=True
        )
        with django_assert_max_num_queries(24) as asked:
            page = client.get(reverse("study_queue", args=[study.name])).content.decode()
        counts.append(len(asked))
        assert page.count("waits for you") == page.count("set aside</td>") == size
        assert page.count("none yet") == 2 * size  # no page has told anything of them
    assert counts[0] == counts[1]


def test_a_curator_decides_gives_back_caps_and_lets_in_by_the_page(ann, curator):
    study = make_study(people=[ann], versions=3, solvers=1)
    report_broken(taken(study, ann), what="tests", evidence="wrong", now=timezone.now())
    held = taken(study, ann)
    client, report = browser(curator), BrokenReport.objects.get()
    decide = reverse("report_decide", args=[study.name, report.pk])
    assert client.post(decide, {"decision": "go_on", "reason": ""}).status_code == 422
    assert client.post(decide, {"decision": "go_on", "reason": "it is whole"}).status_code == 302
    release = reverse("slot_release", args=[study.name, held.slot_id])
    assert client.post(release, {"from": "queue"}).url == reverse("study_queue", args=[study.name])
    assert Slot.objects.get(pk=held.slot_id).state == "free"
    cap = reverse("person_cap", args=[study.name, ann.pk])
    client.post(cap, {"cap": "2"})
    assert StudyPerson.objects.get().cap == 2
    client.post(cap, {"cap": "many"})
    assert StudyPerson.objects.get().cap == 2
    client.post(reverse("person_withdraw", args=[study.name, ann.pk]), {"leave_out": "on"})
    member = StudyPerson.objects.get()
    assert (member.active, member.withdrawals.get().leave_out) == (False, True)


def test_leaving_by_a_form_without_its_reason_comes_back_with_the_text_kept(ann):
    study = make_study(people=[ann], versions=2, solvers=1)
    attempt = taken(study, ann)
    client = browser(ann)
    answer = client.post(reverse("report_broken", args=[attempt.pk]), {"what": "tests", "evidence": ""})
    assert answer.status_code == 422
    assert "Say what you saw" in answer.content.decode()
    code = {"function": "def with_tax(net): ...", "module": "", "base_revision": "0"}
    assert client.post(reverse("defer", args=[attempt.pk]), code).url == reverse("work")
    assert attempt.drafts.get().function == code["function"]
    assert client.get(reverse("workspace", args=[attempt.pk])).url == reverse("work")
    assert client.post(reverse("take_up", args=[attempt.pk])).url == reverse("workspace", args=[attempt.pk])
    assert client.post(reverse("decline", args=[attempt.pk]), {"reason": "no"}).url == reverse("work")
    page = client.get(reverse("own_page")).content.decode()
    assert "declined" in page


def test_what_is_only_set_aside_is_offered_and_not_called_done(ann):
    study = make_study(people=[ann], versions=1, solvers=1)
    defer(taken(study, ann), reason="", now=timezone.now())
    page = browser(ann).get(reverse("work")).content.decode()
    assert "1 set aside" in page
    assert "Next example" in page
    assert "all yours are done" not in page


@pytest.mark.parametrize("answer", ["yes", "no"])
def test_who_asks_for_an_account_signs_in_only_after_a_curator_has_said_yes(answer, curator, settings):
    form = {"username": "olaf", "password1": PASSWORD, "password2": PASSWORD, "note": "I like puzzles"}
    stranger, study = Client(), make_study(people=[])
    assert stranger.post(reverse("sign_up"), form).status_code == 404  # off, as it is by default
    settings.SIGN_UP, settings.ACCOUNT_RATE_LIMITS = True, False
    assert stranger.post(reverse("sign_up"), form | {"password2": "other"}).status_code == 422
    assert "Your request is kept" in stranger.post(reverse("sign_up"), form).content.decode()
    assert stranger.post(reverse("sign_up"), form).status_code == 422  # the name is taken
    olaf = User.objects.get(username="olaf")
    assert (olaf.role, olaf.is_active, stranger.login(username="olaf", password=PASSWORD)) == (
        Role.ANNOTATOR,
        False,
        False,
    )
    client, row = browser(curator), SignUp.objects.get()
    assert "I like puzzles" in client.get(reverse("invitations")).content.decode()
    said = {"answer": answer, "study": study.pk}
    client.post(reverse("sign_up_answer", args=[row.pk]), said)
    client.post(reverse("sign_up_answer", args=[row.pk]), said | {"answer": "yes"})  # once only
    assert stranger.login(username="olaf", password=PASSWORD) == (answer == "yes")
    assert StudyPerson.objects.filter(study=study, person=olaf).exists() == (answer == "yes")


def test_deactivating_somebody_deletes_nothing_and_their_place_lapses(ann, ben, admin_user):
    study = make_study(people=[ann, ben], versions=2, solvers=1)
    solve(taken(study, ann))
    held = taken(study, ann)
    browser(admin_user).post(reverse("person_active", args=[ann.pk]), {"active": "no"})
    assert Attempt.objects.filter(annotator=ann).count() == 2
    later = take_slot(study, ben, timezone.now() + timedelta(hours=1))
    assert isinstance(later, Attempt)
    assert later.slot_id == held.slot_id
