"""ASSIGN: deferring, declining, reporting broken, coming late; and what the queue says when it is empty."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta

import pytest
from django.db import IntegrityError, connection, transaction
from django.utils import timezone

from annotation.accounts import create_account
from annotation.assignment import NothingToTake, Reason, available_to, take_slot, why_nothing
from annotation.attempts import AttemptOver, Refused, close_attempt, give_up, settle
from annotation.broken import decide, put_in_place
from annotation.drafts import save_draft
from annotation.leaving import decline, defer, report_broken, take_up
from annotation.models import Attempt, BrokenReport, Parting, Slot, Study, StudyPerson, User
from annotation.protocols import raise_solvers
from annotation.results import study_results
from annotation.runs import run_visible, submit
from annotation.studies import StudyRefused, close_study, release_slot
from annotation.study.rows import EXTRA
from annotation.transitions import ALLOWED, Actor, move, sources
from config.access import Role
from examples.models import AuditEntry, Example, Version
from tests.annotation.factories import RIGHT, finish, make_study, make_version

DAY = timedelta(hours=25)
ANSWERS = {
    "outcome": "solved",
    "difficulty": "trivial",
    "instruction_quality": 0,
    "test_quality": 0,
}


def taken(study: Study, person: User, now: datetime | None = None) -> Attempt:
    attempt = take_slot(study, person, now or timezone.now())
    assert isinstance(attempt, Attempt), attempt
    return attempt


def close(attempt: Attempt) -> None:
    give_up(attempt, reason="enough", now=timezone.now())
    attempt.refresh_from_db()
    close_attempt(attempt, answers={**ANSWERS, "outcome": "gave_up"}, now=timezone.now())


def test_a_deferred_example_is_kept_with_its_draft_while_its_person_takes_another(ann, ben):
    study = make_study(people=[ann, ben], versions=2, solvers=1)
    first = taken(study, ann)
    save_draft(first, function="mine", module="", base_revision=0)
    until = defer(first, reason="after lunch", now=timezone.now())
    assert (first.state, first.slot.study.slots.get(pk=first.slot_id).state) == ("deferred", "kept")
    second = taken(study, ann)
    assert second.slot.version_id != first.slot.version_id
    assert take_slot(study, ben, timezone.now()) == NothingToTake(
        Reason.HELD, held=2, until=Slot.objects.get(pk=second.slot_id).lease_end
    )
    close(second)
    again = taken(study, ann)
    assert (again.pk, again.state, again.ended_at) == (first.pk, "open", None)
    assert again.drafts.get().function == "mine"
    assert Parting.objects.get().kept_until == until


def test_a_deferred_place_goes_to_another_once_its_time_is_over_and_comes_first_when_one_is_free(ann, ben):
    study = make_study(people=[ann, ben], versions=3, solvers=1)
    now = timezone.now()
    first = taken(study, ann, now)
    defer(first, reason="", now=now)
    Slot.objects.exclude(pk=first.slot_id).update(paused=True)
    other = taken(study, ben, now + DAY)
    first.refresh_from_db()
    assert (other.slot_id, first.state) == (first.slot_id, "released")
    with pytest.raises(AttemptOver, match="somebody else"):
        take_up(first, now=now + DAY)
    Slot.objects.update(paused=False)
    Slot.objects.create(study=study, version=first.slot.version, number=2)
    assert taken(study, ann, now + DAY).pk == first.pk


def test_what_was_deferred_can_be_taken_up_as_long_as_nobody_else_has(ann):
    study = make_study(people=[ann], versions=2, solvers=1)
    now = timezone.now()
    first = taken(study, ann, now)
    defer(first, reason="", now=now)
    taken(study, ann, now)
    with pytest.raises(Refused, match="Another example"):
        take_up(first, now=now + DAY)
    close(Attempt.objects.get(state="open"))
    take_up(first, now=now + DAY)
    assert first.state == "open"


def test_no_more_than_three_are_kept_at_once(ann):
    study = make_study(people=[ann], versions=4, solvers=1)
    for _ in range(3):
        defer(taken(study, ann), reason="", now=timezone.now())
    with pytest.raises(Refused, match="3 are kept"):
        defer(taken(study, ann), reason="", now=timezone.now())


def test_a_declined_example_goes_back_at_once_and_never_to_the_same_person(ann, ben):
    study = make_study(people=[ann, ben], versions=1, solvers=2)
    attempt = taken(study, ann)
    with pytest.raises(Refused, match="Say why"):
        decline(attempt, reason=" ", now=timezone.now())
    decline(attempt, reason="I wrote this library", now=timezone.now())
    assert available_to(study, ann, timezone.now()) == 0
    assert take_slot(study, ann, timezone.now()) == NothingToTake(Reason.YOURS_DONE)
    assert study.slots.filter(state="free").count() == 2
    assert taken(study, ben).slot_id == attempt.slot_id
    assert Parting.objects.get().reason == "I wrote this library"


def test_what_is_given_back_while_one_is_told_why_there_is_nothing_is_taken(ann, ben, monkeypatch):
    study = make_study(people=[ann, ben], versions=1, solvers=1)
    held = taken(study, ben)
    answers = []

    def given_back_meanwhile(*arguments):
        if not answers:
            decline(held, reason="not for me", now=timezone.now())
        answers.append(why_nothing(*arguments))
        return answers[-1]

    monkeypatch.setattr("annotation.assignment.why_nothing", given_back_meanwhile)
    assert taken(study, ann).slot_id == held.slot_id
    assert answers == [NothingToTake(Reason.YOURS_DONE)]


def test_what_was_deferred_can_be_declined(ann):
    attempt = taken(make_study(people=[ann]), ann)
    defer(attempt, reason="", now=timezone.now())
    decline(attempt, reason="not for me", now=timezone.now())
    assert (attempt.state, Slot.objects.get(pk=attempt.slot_id).state) == ("declined", "free")


def test_a_report_pauses_the_version_for_everybody_until_a_curator_decides(ann, ben, curator):
    study = make_study(people=[ann, ben], versions=1, solvers=2)
    attempt = taken(study, ann)
    run = run_visible(attempt, function=RIGHT, module="", key="a", now=timezone.now())
    finish(run)
    with pytest.raises(Refused, match="what you saw"):
        report_broken(attempt, what="tests", evidence="", now=timezone.now())
    report = report_broken(attempt, what="environment", evidence="import numpy fails", now=timezone.now())
    assert report.run == run
    for person in (ann, ben):
        assert take_slot(study, person, timezone.now()) == NothingToTake(Reason.PAUSED, paused=1)
    raise_solvers(study, 3, by=curator, reason="one more", now=timezone.now())
    assert not study.slots.filter(paused=False).exists()
    decide(report, decision="go_on", reason="numpy is not needed", by=curator, now=timezone.now())
    assert taken(study, ann).pk == attempt.pk  # the one who reported it goes on
    assert taken(study, ben)
    assert AuditEntry.objects.filter(action="broken report decided").count() == 1


def test_who_works_on_a_version_that_another_reports_may_finish(ann, ben):
    study = make_study(people=[ann, ben], versions=1, solvers=2)
    mine, other = taken(study, ann), taken(study, ben)
    report_broken(mine, what="tests", evidence="contradict", now=timezone.now())
    assert taken(study, ben).pk == other.pk
    close(other)


def test_a_version_taken_out_is_in_no_figure_and_its_open_work_ends(ann, ben, curator):
    study = make_study(people=[ann, ben], versions=2, solvers=2)
    first = taken(study, ann)
    version = first.slot.version_id
    close(first)
    assert study_results(study).closed == 1
    slot = study.slots.get(version=version, state="free")
    Slot.objects.filter(pk=slot.pk).update(
        state="taken", annotator=ben, lease_end=timezone.now() + timedelta(minutes=5)
    )
    attempt = Attempt.objects.create(slot=slot, annotator=ben, protocol=study.protocol)
    report = report_broken(attempt, what="instruction", evidence="contradicts itself", now=timezone.now())
    with pytest.raises(StudyRefused, match="reason"):
        decide(report, decision="take_out", reason="", by=curator, now=timezone.now())
    decide(report, decision="take_out", reason="cannot be repaired", by=curator, now=timezone.now())
    with pytest.raises(StudyRefused, match="meanwhile"):
        decide(report, decision="go_on", reason="or not", by=curator, now=timezone.now())
    results = study_results(study)
    assert results.closed == 0
    assert results.rates.solved.exclusions["version left the study as broken"] == 2
    assert taken(study, ann).slot.version_id != version


def test_a_repaired_version_takes_the_place_of_the_broken_one(ann, curator):
    study = make_study(people=[ann], versions=1, solvers=2)
    report = report_broken(taken(study, ann), what="tests", evidence="off by one", now=timezone.now())
    decide(report, decision="repair", reason="the test is wrong", by=curator, now=timezone.now())
    assert take_slot(study, ann, timezone.now()) == NothingToTake(Reason.PAUSED, paused=1)
    with pytest.raises(StudyRefused, match="no newer version"):
        put_in_place(report, by=curator, now=timezone.now())
    example = report.version.example
    new = make_version()
    Example.objects.filter(pk=new.example_id).update(current=None)
    Version.objects.filter(pk=new.pk).update(example=example, number=2)
    Example.objects.filter(pk=example.pk).update(current=new)
    report = BrokenReport.objects.get()
    assert put_in_place(report, by=curator, now=timezone.now()) == new
    assert taken(study, ann).slot.version_id == new.pk
    assert study.slots.filter(version=new).count() == 2


def test_a_submission_after_the_place_went_to_another_is_kept_and_flagged_as_surplus(ann, ben):
    study = make_study(people=[ann, ben], versions=1, solvers=1)
    now = timezone.now()
    late = taken(study, ann, now)
    close(taken(study, ben, now + DAY))
    late.refresh_from_db()
    assert late.state == "released"
    run = submit(late, function=RIGHT, module="", key="late", now=now + DAY)
    finish(run)
    assert submit(late, function=RIGHT, module="", key="late", now=now + DAY) == run
    late.refresh_from_db()
    assert (late.slot.kind, late.slot.number > 1000) == ("extra", True)
    settle(late, now=now + DAY)
    close_attempt(late, answers=ANSWERS, now=now + DAY)
    results = study_results(study)
    assert (results.closed, results.rates.solved.exclusions[EXTRA]) == (1, 1)


def test_a_late_submission_takes_a_free_place_before_a_surplus_one(ann, ben, curator):
    study = make_study(people=[ann, ben], versions=1, solvers=2)
    late = taken(study, ann)
    assert release_slot(Slot.objects.get(pk=late.slot_id), by=curator, now=timezone.now())
    late.refresh_from_db()
    assert late.state == "released"
    submit(late, function=RIGHT, module="", key="late", now=timezone.now())
    late.refresh_from_db()
    assert (late.state, late.slot.kind) == ("open", "study")


def test_a_late_submission_is_kept_beside_another_open_example(ann, ben, curator):
    study = make_study(people=[ann, ben], versions=2, solvers=1)
    late = taken(study, ann)
    assert release_slot(Slot.objects.get(pk=late.slot_id), by=curator, now=timezone.now())
    Slot.objects.filter(pk=late.slot_id).update(paused=True)
    other = taken(study, ann)
    late.refresh_from_db()
    submit(late, function=RIGHT, module="", key="late", now=timezone.now())
    late.refresh_from_db()
    assert (late.slot.kind, other.slot.kind) == ("extra", "study")


def test_nothing_is_left_while_a_submission_is_being_judged(ann):
    attempt = taken(make_study(people=[ann]), ann)
    submit(attempt, function=RIGHT, module="", key="a", now=timezone.now())
    for leave in (
        lambda: defer(attempt, reason="", now=timezone.now()),
        lambda: decline(attempt, reason="no", now=timezone.now()),
        lambda: report_broken(attempt, what="tests", evidence="no", now=timezone.now()),
    ):
        with pytest.raises(Refused, match="being judged"):
            leave()


def test_a_cap_is_reached_and_said(ann):
    study = make_study(people=[ann], versions=3, solvers=1)
    StudyPerson.objects.update(cap=1)
    close(taken(study, ann))
    assert take_slot(study, ann, timezone.now()) == NothingToTake(Reason.CAP, cap=1)


def test_closing_a_study_ends_what_was_deferred(ann, curator):
    study = make_study(people=[ann])
    attempt = taken(study, ann)
    defer(attempt, reason="", now=timezone.now())
    assert close_study(study, by=curator, now=timezone.now()) == 1
    attempt.refresh_from_db()
    assert attempt.state == "released"
    with pytest.raises(Refused, match="not open"):
        take_up(attempt, now=timezone.now())


def test_every_change_of_state_has_its_actors_and_nothing_else_is_possible(ann):
    attempt = taken(make_study(people=[ann]), ann)
    mine = Attempt.objects.filter(pk=attempt.pk)
    for before in Attempt.State:
        for after in Attempt.State:
            for actor in Actor:
                ended = None if before == Attempt.State.OPEN else timezone.now()
                mine.update(state=before, ended_at=ended)
                moved = move(mine, to=after, by=actor, now=timezone.now())
                assert moved == (actor in ALLOWED.get((before, after), ())), (before, after, actor)
    assert sources(Attempt.State.DECLINED, Actor.CURATOR) == []


def test_the_database_holds_what_a_slot_may_be(ann):
    attempt = taken(make_study(people=[ann], versions=2), ann)
    mine, other = Slot.objects.filter(pk=attempt.slot_id), Slot.objects.filter(state="free")
    for rows, change in (
        (mine, {"state": "kept", "lease_end": None}),  # kept has a lease
        (mine, {"kind": "gold"}),  # other kinds are numbered from 1001
        (other, {"state": "kept"}),  # kept has an annotator
    ):
        with pytest.raises(IntegrityError), transaction.atomic():
            rows.update(**change)


@pytest.mark.timeout(120)
def test_many_race_for_what_declining_frees(either_database):
    people = [create_account(username=f"p{at}", role=Role.ANNOTATOR, password=None) for at in range(6)]
    study = make_study(people=people, versions=5, solvers=1)
    start = threading.Barrier(len(people))

    def work(person: User) -> list[int]:
        start.wait()
        closed = []
        while True:
            result = take_slot(study, person, timezone.now())
            if isinstance(result, Attempt):
                if (result.slot.version_id + person.pk) % 3:  # what two thirds decline is free for the others
                    decline(result, reason="not for me", now=timezone.now())
                else:
                    close(result)
                    closed.append(result.slot_id)
            elif result.reason != Reason.HELD:
                connection.close()
                return closed

    with ThreadPoolExecutor(len(people)) as pool:
        closed = [slot for slots in pool.map(work, people) for slot in slots]
    assert len(closed) == len(set(closed)) == 5
    assert set(study.slots.values_list("kind", "state")) == {("study", "closed")}
