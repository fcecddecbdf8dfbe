"""STUDY: what its states allow, and what becomes of slots."""

from __future__ import annotations

import pytest
from django.utils import timezone

from annotation.assignment import take_slot
from annotation.models import Attempt, Slot
from annotation.protocols import raise_solvers
from annotation.runs import submit
from annotation.studies import (
    StudyRefused,
    add_people,
    add_versions,
    choose,
    close_study,
    open_study,
    pause_study,
    release_slot,
    remove_versions,
    take_out,
)
from examples.models import AuditEntry, Example, Version
from tests.annotation.factories import RIGHT, make_study, make_version


def slots(study) -> list[tuple[int, int]]:
    return sorted(study.slots.values_list("version", "number"))


def draft(curator, ann, versions: int = 2, **fields):
    study = make_study(people=[ann], versions=0, state="draft", **fields)
    for _ in range(versions):
        make_version()
    add_versions(study, choose(Example.objects.all()), by=curator)
    return study


def test_versions_whose_checks_did_not_pass_are_refused_with_reason_and_count(db):
    make_version()
    for _ in range(2):
        make_version(check_state=Version.CheckState.FAILED, failed_checks="reference,stable")
    make_version(check_state=Version.CheckState.PENDING)
    make_version(check_state=Version.CheckState.UNJUDGED)
    retired = make_version().example
    Example.objects.filter(pk=retired.pk).update(status="retired", status_reason="old")
    choice = choose(Example.objects.all())
    assert len(choice.versions) == 1
    assert choice.refused == {
        "checks are unjudged (our failure; ask for them again)": 1,
        "checks have not finished": 1,
        "failed: reference, stable": 2,
        "is retired": 1,
    }


def test_opening_makes_k_slots_for_every_version_and_is_audited(curator, ann):
    study = draft(curator, ann, solvers=3)
    assert study.slots.count() == 2
    open_study(study, by=curator, now=timezone.now())
    assert len(slots(study)) == len(set(slots(study))) == 6
    assert study.state == "open"
    assert AuditEntry.objects.filter(action="study open", person=curator).exists()


def test_a_study_without_versions_or_people_is_not_opened(curator, ann):
    empty = make_study(people=[ann], versions=0, state="draft")
    with pytest.raises(StudyRefused, match="version"):
        open_study(empty, by=curator, now=timezone.now())
    deserted = make_study(people=[], versions=1, state="draft")
    with pytest.raises(StudyRefused, match="annotator"):
        open_study(deserted, by=curator, now=timezone.now())


def test_raising_k_inserts_the_missing_slots_and_k_never_falls(curator, ann):
    study = draft(curator, ann, solvers=1)
    open_study(study, by=curator, now=timezone.now())
    first = study.protocol
    with pytest.raises(StudyRefused, match="why"):
        raise_solvers(study, 3, by=curator, reason=" ", now=timezone.now())
    assert raise_solvers(study, 3, by=curator, reason="two are too few", now=timezone.now()) == 4
    assert len(slots(study)) == 6
    assert (study.protocol.number, study.protocol.solvers, study.protocol.reason) == (2, 3, "two are too few")
    first.refresh_from_db()
    assert first.solvers == 1
    with pytest.raises(StudyRefused):
        raise_solvers(study, 2, by=curator, reason="fewer", now=timezone.now())


def test_versions_added_to_an_open_study_get_their_slots_at_once(curator, ann):
    study = draft(curator, ann, versions=1, solvers=2)
    open_study(study, by=curator, now=timezone.now())
    make_version()
    assert add_versions(study, choose(Example.objects.all()), by=curator) == 1
    assert len(slots(study)) == 4


def test_versions_leave_only_a_draft(curator, ann):
    study = draft(curator, ann, versions=2)
    assert remove_versions(study, [study.slots.first().version_id], by=curator) == 1
    open_study(study, by=curator, now=timezone.now())
    with pytest.raises(StudyRefused, match="frozen"):
        remove_versions(study, [study.slots.first().version_id], by=curator)


def test_people_come_in_once_go_out_and_come_back(curator, ann, ben):
    study = make_study(people=[ann])
    assert add_people(study, [ann, ben], by=curator) == 1
    take_out(study, ben, by=curator)
    assert not study.people.get(person=ben).active
    assert add_people(study, [ben], by=curator) == 1
    with pytest.raises(StudyRefused, match="no annotator"):
        add_people(study, [curator], by=curator)


def test_a_paused_study_lets_people_finish_and_can_be_opened_again(curator, ann):
    study = make_study(people=[ann], versions=2)
    attempt = take_slot(study, ann, timezone.now())
    pause_study(study, by=curator)
    assert submit(attempt, function=RIGHT, module="", key="k", now=timezone.now()).number == 1
    open_study(study, by=curator, now=timezone.now())
    assert study.state == "open"


def test_closing_ends_open_attempts_and_keeps_their_drafts_and_verdicts_due(curator, ann, ben):
    study = make_study(people=[ann, ben], versions=2)
    working, due = take_slot(study, ann, timezone.now()), take_slot(study, ben, timezone.now())
    Attempt.objects.filter(pk=due.pk).update(state="submitted", ended_at=timezone.now())
    assert close_study(study, by=curator, now=timezone.now()) == 1
    working.refresh_from_db()
    due.refresh_from_db()
    assert (working.state, due.state, study.state) == ("released", "submitted", "closed")
    with pytest.raises(StudyRefused):
        open_study(study, by=curator, now=timezone.now())
    with pytest.raises(StudyRefused):
        add_people(study, [ann], by=curator)


def test_a_curator_gives_a_slot_back_once(curator, ann):
    study = make_study(people=[ann])
    attempt = take_slot(study, ann, timezone.now())
    slot = Slot.objects.get(pk=attempt.slot_id)
    assert release_slot(slot, by=curator, now=timezone.now())
    assert not release_slot(slot, by=curator, now=timezone.now())
    attempt.refresh_from_db()
    assert attempt.state == "released"


def test_two_who_change_the_state_at_once_do_not_both_succeed(curator, ann):
    study = make_study(people=[ann])
    same = type(study).objects.get(pk=study.pk)
    pause_study(study, by=curator)
    with pytest.raises(StudyRefused, match="meanwhile"):
        close_study(same, by=curator, now=timezone.now())
