"""ASSIGN: who gets which slot, on SQLite and Postgres alike."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest
from django.db import connection
from django.utils import timezone

from annotation.accounts import create_account
from annotation.assignment import NothingToTake, Reason, available_to, order_for, take_slot
from annotation.attempts import close_attempt
from annotation.drafts import save_draft
from annotation.models import Attempt, Slot, Study, User
from annotation.runs import submit
from config.access import Role
from tests.annotation.factories import RIGHT, finish, make_study

VERDICT = {"outcome": "solved", "difficulty": "trivial", "instruction_quality": 0, "test_quality": 0}
LATER = timedelta(minutes=31)


def done(attempt: Attempt) -> None:
    Attempt.objects.filter(pk=attempt.pk).update(state="submitted", ended_at=timezone.now())
    close_attempt(Attempt.objects.get(pk=attempt.pk), answers=VERDICT, now=timezone.now())


def taken(study: Study, person: User, now=None) -> Attempt:
    attempt = take_slot(study, person, now or timezone.now())
    assert isinstance(attempt, Attempt), attempt
    return attempt


def test_who_asks_again_gets_the_open_attempt(ann):
    study = make_study(people=[ann], versions=3)
    assert taken(study, ann) == taken(study, ann)
    assert Attempt.objects.count() == 1


def test_nobody_gets_a_version_twice_and_the_order_is_the_plan(ann, ben):
    study = make_study(people=[ann, ben], versions=4, solvers=2)
    got = []
    while isinstance(attempt := take_slot(study, ben, timezone.now()), Attempt):
        got.append(attempt.slot.version_id)
        done(attempt)
    assert tuple(got) == order_for(study, ben)
    assert attempt == NothingToTake(Reason.YOURS_DONE)


def test_when_everything_is_done_it_says_so(ann, ben):
    study = make_study(people=[ann, ben], versions=1, solvers=1)
    done(taken(study, ann))
    assert take_slot(study, ben, timezone.now()) == NothingToTake(Reason.ALL_DONE)


def test_held_by_others_says_how_many_and_until_when(ann, ben):
    study = make_study(people=[ann, ben], versions=1, solvers=1)
    now = timezone.now()
    taken(study, ann, now)
    assert take_slot(study, ben, now) == NothingToTake(Reason.HELD, held=1, until=now + timedelta(minutes=30))


@pytest.mark.parametrize("state", ["paused", "closed", "draft"])
def test_a_study_that_is_not_open_gives_nothing(ann, state):
    study = make_study(people=[ann], state=state)
    assert take_slot(study, ann, timezone.now()) == NothingToTake(Reason.NOT_OPEN)


def test_who_was_taken_out_of_the_study_gets_nothing(ann):
    study = make_study(people=[ann])
    study.people.update(active=False)
    assert take_slot(study, ann, timezone.now()) == NothingToTake(Reason.NOT_TAKING_PART)


def test_an_expired_lease_gives_the_slot_to_another_and_keeps_the_draft_with_its_person(ann, ben):
    study = make_study(people=[ann, ben], versions=1, solvers=1)
    now = timezone.now()
    first = taken(study, ann, now)
    save_draft(first, function="mine", module="", base_revision=0)
    second = taken(study, ben, now + LATER)
    first.refresh_from_db()
    assert (second.slot_id, first.state) == (first.slot_id, "released")
    assert first.drafts.get().function == "mine"
    assert second.drafts.count() == 0


def test_who_lost_a_slot_goes_on_with_the_draft_when_a_slot_is_free_again(ann, ben):
    study = make_study(people=[ann, ben], versions=1, solvers=1)
    now = timezone.now()
    first = taken(study, ann, now)
    save_draft(first, function="mine", module="", base_revision=0)
    assert taken(study, ben, now + LATER) != first
    Slot.objects.create(study=study, version=first.slot.version, number=2)
    again = taken(study, ann, now + LATER)
    assert (again.pk, again.state, again.ended_at) == (first.pk, "open", None)
    assert again.drafts.get().function == "mine"


def test_an_expired_lease_that_nobody_took_is_renewed_for_its_person(ann):
    study = make_study(people=[ann])
    now = timezone.now()
    first = taken(study, ann, now)
    assert taken(study, ann, now + LATER) == first
    assert Slot.objects.get(pk=first.slot_id).lease_end == now + LATER + timedelta(minutes=30)


def test_who_submitted_the_right_answer_keeps_the_slot_for_the_verdict(ann, ben):
    study = make_study(people=[ann, ben], versions=1, solvers=1)
    now = timezone.now()
    first = taken(study, ann, now)
    finish(submit(first, function=RIGHT, module="", key="a", now=now))
    result = take_slot(study, ben, now + LATER)
    first.refresh_from_db()
    assert isinstance(result, NothingToTake)
    assert first.state == "submitted"


def test_a_free_slot_is_taken_before_one_whose_lease_is_over(ann, ben):
    study = make_study(people=[ann, ben], versions=1, solvers=2)
    now = timezone.now()
    first = taken(study, ann, now)
    assert taken(study, ben, now + LATER).slot_id != first.slot_id


def test_available_counts_versions_not_slots(ann, ben):
    study = make_study(people=[ann, ben], versions=3, solvers=2)
    assert available_to(study, ann, timezone.now()) == 3
    taken(study, ann)
    assert (available_to(study, ann, timezone.now()), available_to(study, ben, timezone.now())) == (2, 3)


@pytest.mark.parametrize("solvers", [1, 2])
@pytest.mark.timeout(120)
def test_many_at_once_take_every_slot_exactly_once(either_database, solvers):
    people = [create_account(username=f"p{at}", role=Role.ANNOTATOR, password=None) for at in range(8)]
    study = make_study(people=people, versions=40 // solvers, solvers=solvers)
    start = threading.Barrier(len(people))

    def work(person: User) -> int:
        start.wait()
        count = 0
        while True:
            result = take_slot(study, person, timezone.now())
            if isinstance(result, Attempt):
                count += 1
                done(result)
            elif result.reason != Reason.HELD:
                connection.close()
                return count

    with ThreadPoolExecutor(len(people)) as pool:
        counts = list(pool.map(work, people))
    closed = Slot.objects.filter(state="closed")
    pairs = list(closed.values_list("version", "annotator"))
    assert sum(counts) == closed.count() == Attempt.objects.count() == 40
    assert len(set(pairs)) == 40


@pytest.mark.timeout(120)
def test_one_person_in_many_tabs_holds_one_slot(either_database):
    person = create_account(username="p", role=Role.ANNOTATOR, password=None)
    study = make_study(people=[person], versions=20, solvers=1)
    start = threading.Barrier(8)

    def open_tab(_: int) -> int:
        start.wait()
        result = take_slot(study, person, timezone.now())
        connection.close()
        assert isinstance(result, Attempt)
        return result.pk

    with ThreadPoolExecutor(8) as pool:
        assert len(set(pool.map(open_tab, range(8)))) == 1
    assert Slot.objects.filter(state="taken").count() == 1
