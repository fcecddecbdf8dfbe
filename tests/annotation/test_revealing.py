"""The reveal: only after the verdict, only where the protocol says so, only to whom the example cannot come again."""

from __future__ import annotations

import pytest
from django.db import IntegrityError, transaction
from django.forms import model_to_dict
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from annotation.assignment import take_slot
from annotation.attempts import Refused, close_attempt, give_up, settle
from annotation.closing import reopen
from annotation.models import Attempt, GoldItem, Reveal, SecondJudgement, Study, StudyPerson, User, Verdict
from annotation.onboarding.gold import later_items
from annotation.revealing import (
    Hidden,
    NotRevealed,
    judge_again,
    known_to,
    look,
    may_come_again,
    reveal,
    why_hidden,
)
from annotation.runs import submit
from examples.models import AuditEntry, Version
from examples.showing import whole_reference
from runner.outcome import Outcome
from tests.annotation.factories import SOURCE, WRONG, finish, make_study, make_version

SECOND = {"reference": "right", "tests": "fair", "instruction_quality": 0, "test_quality": 0, "text": ""}
SECRET = "19.99"


def browser(person: User) -> Client:
    client = Client()
    client.force_login(person, backend="django.contrib.auth.backends.ModelBackend")
    return client


def taken(study: Study, person: User) -> Attempt:
    attempt = take_slot(study, person, timezone.now())
    assert isinstance(attempt, Attempt)
    return attempt


def close(attempt: Attempt) -> Attempt:
    """Close an attempt with a wrong submission."""
    now = timezone.now()
    finish(submit(attempt, function=WRONG, module="", key="s", now=now), Outcome.FAILED)
    settle(attempt, now=now)
    answers = {"outcome": "gave_up", "difficulty": "trivial", "instruction_quality": 0, "test_quality": 1}
    close_attempt(attempt, answers=answers, now=now)
    attempt.refresh_from_db()
    return attempt


@pytest.fixture
def version(db: None) -> Version:
    return make_version()


@pytest.fixture
def attempt(ann: User, version: Version) -> Attempt:
    """A closed attempt in a study that shows the reference afterwards."""
    study = make_study(people=[ann], versions=[version], solvers=1, reveals_after_closing=True)
    return close(taken(study, ann))


def test_reference_and_hidden_tests_are_shown_once_asked_for_and_every_look_is_logged(attempt, ann):
    client, path = browser(ann), reverse("second_judgement", args=[attempt.pk])
    assert SECRET not in client.get(path).content.decode()
    assert not Reveal.objects.exists(), "reading the offer reveals nothing"
    assert client.post(path).url == path
    for _ in range(2):
        page = client.get(path).content.decode()
        assert SECRET in page
        assert " + RATE), " in page
    looks = AuditEntry.objects.filter(
        action="reference revealed", subject=f"attempt:{attempt.pk}", person=ann
    )
    assert looks.count() == 2


def test_the_second_judgement_is_given_once_and_leaves_the_verdict_as_it_was(attempt, ann):
    client, path = browser(ann), reverse("second_judgement", args=[attempt.pk])
    before = model_to_dict(attempt.verdict)
    client.post(path)
    assert client.post(path, SECOND | {"tests": "unfair"}).status_code == 422, "blame needs words"
    assert client.post(path, SECOND | {"test_quality": 2}).status_code == 422
    assert client.post(path, SECOND | {"tests": "unfair", "text": "Line 4."}).url == path
    client.post(path, SECOND | {"reference": "wrong", "text": "no"})
    second = SecondJudgement.objects.get()
    assert (second.reference, second.tests, second.text) == ("right", "unfair", "Line 4.")
    assert "What you said now" in client.get(path).content.decode()
    assert model_to_dict(Verdict.objects.get()) == before
    with pytest.raises(Refused, match="already"):
        judge_again(attempt, answers=SECOND, now=timezone.now())


def test_closing_leads_on_to_the_reveal_where_it_may_be(ann, version):
    study = make_study(people=[ann], versions=[version], solvers=1, reveals_after_closing=True)
    attempt = taken(study, ann)
    give_up(attempt, reason="no", now=timezone.now())
    form = {"outcome": "gave_up", "difficulty": "trivial", "instruction_quality": "0", "test_quality": "0"}
    answer = browser(ann).post(reverse("verdict", args=[attempt.pk]), form)
    assert answer.url == reverse("second_judgement", args=[attempt.pk])


def stays_hidden(attempt: Attempt) -> Hidden:
    """Return why it is hidden, after every door was tried."""
    attempt.refresh_from_db()
    client, path = browser(attempt.annotator), reverse("second_judgement", args=[attempt.pk])
    assert [client.get(path).status_code, client.post(path).status_code] == [404, 404]
    with pytest.raises(NotRevealed):
        reveal(attempt, now=timezone.now())
    with pytest.raises(NotRevealed):
        look(attempt)
    with pytest.raises(NotRevealed):
        judge_again(attempt, answers=SECOND, now=timezone.now())
    assert not Reveal.objects.exists()
    return why_hidden(attempt)


def test_nothing_is_shown_where_the_protocol_does_not_say_so(ann):
    attempt = close(taken(make_study(people=[ann], solvers=1), ann))
    assert stays_hidden(attempt) == Hidden.NOT_ASKED


def test_nothing_is_shown_before_the_verdict_and_none_is_given_back_after_it(ann, curator, version):
    study = make_study(people=[ann], versions=[version], solvers=1, reveals_after_closing=True)
    attempt = taken(study, ann)
    assert stays_hidden(attempt) == Hidden.NOT_CLOSED
    close(attempt)
    reopen(attempt, reason="Say more.", by=curator, now=timezone.now())
    assert stays_hidden(attempt) == Hidden.NOT_CLOSED
    answers = {"outcome": "gave_up", "difficulty": "trivial", "instruction_quality": 0, "test_quality": 1}
    close_attempt(attempt, answers=answers, now=timezone.now())
    reveal(attempt, now=timezone.now())
    with pytest.raises(Refused, match="reference was shown"):
        reopen(attempt, reason="Once more.", by=curator, now=timezone.now())


def test_nothing_is_shown_to_others_curators_included(attempt, ben, curator):
    path = reverse("second_judgement", args=[attempt.pk])
    reveal(attempt, now=timezone.now())
    for person in (ben, curator):
        assert browser(person).get(path).status_code == 404
    assert Client().get(path).status_code == 302


def test_nothing_is_shown_while_another_study_could_still_offer_the_example(attempt, ann, version):
    again = make_study(people=[ann], versions=[version], solvers=1, state="draft")
    assert stays_hidden(attempt) == Hidden.MAY_COME_AGAIN
    page = browser(ann).get(reverse("verdict", args=[attempt.pk])).content.decode()
    assert "The second judgement waits" in page
    StudyPerson.objects.filter(study=again).update(active=False)
    assert why_hidden(attempt) == Hidden.NO
    StudyPerson.objects.filter(study=again).update(active=True)
    Study.objects.filter(pk=again.pk).update(state="closed", opened_at=timezone.now())
    assert why_hidden(attempt) == Hidden.NO


def test_a_later_version_of_the_example_is_the_same_example(attempt, ann, version):
    later = Version.objects.get(pk=version.pk)
    later.pk, later.number, later.content_hash = None, 2, "f" * 64
    later.save(force_insert=True)
    study = make_study(people=[ann], versions=[later], solvers=2)
    assert may_come_again(ann, version)
    open_one = taken(study, ann)
    assert stays_hidden(attempt) == Hidden.MAY_COME_AGAIN
    close(open_one)
    assert why_hidden(attempt) == Hidden.NO, "one place of it is left, and nobody gets a version twice"


def test_who_has_seen_the_reference_is_never_given_the_example_again(
    either_database, attempt, ann, ben, version
):
    reveal(attempt, now=timezone.now())
    assert set(known_to(ann)) == {version}
    fresh = make_version()
    study = make_study(people=[ann, ben], versions=[version, fresh], solvers=2)
    first = taken(study, ann)
    assert first.slot.version == fresh
    close(first)
    assert not isinstance(take_slot(study, ann, timezone.now()), Attempt)
    bens = [close(taken(study, ben)).slot.version for _ in range(2)]
    assert set(bens) == {version, fresh}, "others get it as before"


def test_who_has_seen_the_reference_is_not_measured_by_it(attempt, ann, ben, curator, version):
    study = make_study(people=[ann, ben])
    GoldItem.objects.create(study=study, version=version, purpose="later", marked_by=curator)
    mine, bens = StudyPerson.objects.filter(study=study).order_by("pk")
    assert stays_hidden(attempt) == Hidden.MAY_COME_AGAIN, "it could still come as a gold example"
    Reveal.objects.create(attempt=attempt)
    assert [item.version for item in later_items(bens)] == [version]
    assert not later_items(mine)


def test_a_second_reveal_and_a_second_second_judgement_are_refused_by_the_database(attempt):
    found = reveal(attempt, now=timezone.now())
    assert reveal(attempt, now=timezone.now()) == found
    judge_again(attempt, answers=SECOND, now=timezone.now())
    for again in (
        lambda: Reveal.objects.create(attempt=attempt),
        lambda: SecondJudgement.objects.create(reveal=found, **SECOND),
    ):
        with pytest.raises(IntegrityError), transaction.atomic():
            again()


def test_the_reference_reads_as_its_annotator_would_have_written_it(version):
    assert whole_reference(version).rstrip() == (
        "def with_tax(net: float) -> float:\n"
        '    """Return the price with tax, rounded to cents."""\n'
        "    return round(net * (1 + RATE), 2)"
    )
    method = make_version(source=METHOD, focal="Shop.with_tax")
    assert (
        whole_reference(method).rstrip()
        == "def with_tax(self, net):\n    if net:\n        return net * 1.2\n    return 0"
    )


METHOD = (
    SOURCE[: SOURCE.index("def with_tax")]
    + """class Shop:
    def with_tax(self, net):
        if net:
            return net * 1.2
        return 0


def test_with_tax():
    assert Shop().with_tax(100) == 120.0
"""
)
