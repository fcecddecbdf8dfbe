"""ATTEMPT: when its work ends, what counts, and how it is closed."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone

from annotation import beats
from annotation.attempts import (
    AttemptOver,
    Refused,
    close_attempt,
    give_up,
    progress_of,
    settle,
    suggested_outcome,
)
from annotation.drafts import current_draft, save_draft
from annotation.models import Attempt, Slot
from annotation.runs import run_visible, submit
from runner.outcome import Outcome
from tests.annotation.factories import RIGHT, WRONG, finish, leave_unjudged, make_attempt, work_for

VERDICT = {"outcome": "solved", "difficulty": "trivial", "instruction_quality": 0, "test_quality": 0}


def submitted(attempt: Attempt, outcome: Outcome = Outcome.PASSED, *, key: str = "k", tampered: bool = False):
    run = submit(attempt, function=RIGHT, module="", key=key, now=timezone.now())
    finish(run, outcome, tampered=tampered)
    return run


def test_a_submission_that_passed_ends_the_work_at_its_own_time(ann):
    attempt = make_attempt(ann, submissions=3)
    run = submitted(attempt)
    assert settle(attempt, now=timezone.now() + timedelta(hours=1))
    assert (attempt.state, attempt.ended_at) == ("submitted", run.created_at)
    assert suggested_outcome(attempt, progress_of(attempt)) == "solved"


def test_a_clock_that_is_behind_ends_no_attempt_before_its_start(ann):
    attempt = make_attempt(ann)
    give_up(attempt, reason="no idea", now=attempt.started_at - timedelta(seconds=1))
    assert attempt.ended_at == attempt.started_at
    assert beats.active_seconds(attempt) == 0


def test_a_failed_submission_ends_the_work_only_when_none_is_left(ann):
    attempt = make_attempt(ann, submissions=2)
    submitted(attempt, Outcome.FAILED, key="1")
    assert not settle(attempt, now=timezone.now())
    submitted(attempt, Outcome.FAILED, key="2")
    assert settle(attempt, now=timezone.now())
    assert suggested_outcome(attempt, progress_of(attempt)) == "gave_up"


def test_an_unjudged_submission_never_counts(ann):
    attempt = make_attempt(ann)
    leave_unjudged(submit(attempt, function=RIGHT, module="", key="1", now=timezone.now()))
    assert not settle(attempt, now=timezone.now())
    assert progress_of(attempt).submissions.left == 1
    submitted(attempt, key="2")
    assert settle(attempt, now=timezone.now())


def test_a_flagged_submission_counts_and_neither_solves_nor_fails(ann):
    attempt = make_attempt(ann)
    submitted(attempt, tampered=True)
    assert settle(attempt, now=timezone.now())
    assert progress_of(attempt).submissions.passed_at is None
    assert suggested_outcome(attempt, progress_of(attempt)) == "solved"


def test_the_limit_on_active_time_ends_the_work_and_submits_nothing(ann):
    attempt = make_attempt(ann, active_limit_seconds=600)
    save_draft(attempt, function=RIGHT, module="", base_revision=0)
    now = timezone.now()
    work_for(attempt, minutes=9, until=now)
    assert not settle(attempt, now=now)
    work_for(attempt, minutes=11, until=now)
    assert settle(attempt, now=now)
    assert attempt.state == "submitted"
    assert attempt.runs.count() == 0
    assert current_draft(attempt).function == RIGHT
    assert suggested_outcome(attempt, progress_of(attempt)) == "out_of_time"


def test_idle_paused_and_waiting_time_does_not_count_against_the_limit(ann):
    attempt = make_attempt(ann, active_limit_seconds=600)
    now = timezone.now()
    work_for(attempt, minutes=20, until=now)
    attempt.pauses.create(started_at=attempt.started_at, ended_at=now - timedelta(minutes=8))
    assert 7 * 60 < beats.active_seconds(attempt) <= 8 * 60
    assert not settle(attempt, now=now)


def test_a_submission_made_in_time_is_awaited_beyond_the_limit(ann):
    attempt = make_attempt(ann, active_limit_seconds=600)
    now = timezone.now()
    work_for(attempt, minutes=9.9, until=now)
    run = submit(attempt, function=RIGHT, module="", key="k", now=now)
    work_for(attempt, minutes=12, until=now)
    assert not settle(attempt, now=now)
    finish(run)
    assert settle(attempt, now=now)
    assert suggested_outcome(attempt, progress_of(attempt)) == "solved"


def test_giving_up_needs_a_reason_and_happens_once(ann):
    attempt = make_attempt(ann)
    now = timezone.now()
    with pytest.raises(Refused):
        give_up(attempt, reason="  ", now=now)
    give_up(attempt, reason="no idea", now=now)
    assert (attempt.state, attempt.ended_at, attempt.gave_up_reason) == ("submitted", now, "no idea")
    with pytest.raises(AttemptOver):
        give_up(attempt, reason="again", now=now)


def test_nobody_gives_up_while_a_submission_is_being_judged(ann):
    attempt = make_attempt(ann)
    submit(attempt, function=RIGHT, module="", key="k", now=timezone.now())
    with pytest.raises(Refused, match="being judged"):
        give_up(attempt, reason="no idea", now=timezone.now())


def test_the_verdict_closes_attempt_and_slot_and_keeps_the_machines_word_apart(ann):
    attempt = make_attempt(ann)
    submitted(attempt, Outcome.FAILED)
    settle(attempt, now=timezone.now())
    answers = VERDICT | {"outcome": "tests_wrong", "evidence": "0 is allowed"}
    verdict = close_attempt(attempt, answers=answers, now=timezone.now())
    slot = Slot.objects.get(pk=attempt.slot_id)
    assert (verdict.outcome, verdict.solved) == ("tests_wrong", False)
    assert (attempt.state, slot.state, slot.lease_end) == ("closed", "closed", None)


def test_an_attempt_is_closed_once_and_only_when_the_verdict_is_due(ann):
    attempt = make_attempt(ann)
    with pytest.raises(AttemptOver):
        close_attempt(attempt, answers=VERDICT, now=timezone.now())
    submitted(attempt)
    settle(attempt, now=timezone.now())
    close_attempt(attempt, answers=VERDICT, now=timezone.now())
    with pytest.raises(AttemptOver):
        close_attempt(attempt, answers=VERDICT, now=timezone.now())


def test_after_the_slot_went_to_another_no_verdict_is_taken_and_nothing_half_done(ann, ben):
    attempt = make_attempt(ann)
    give_up(attempt, reason="no idea", now=timezone.now())
    Slot.objects.filter(pk=attempt.slot_id).update(annotator=ben)
    with pytest.raises(AttemptOver):
        close_attempt(attempt, answers=VERDICT, now=timezone.now())
    attempt.refresh_from_db()
    assert attempt.state == "submitted"


def test_a_beat_keeps_the_lease_alive_and_a_pause_keeps_it_for_a_day(ann):
    attempt = make_attempt(ann)
    now = timezone.now()

    def lease() -> timedelta:
        return Slot.objects.get(pk=attempt.slot_id).lease_end - now

    assert beats.beat(attempt, tab="t", visible=True, ms_since_input=100, now=now)
    assert lease() == timedelta(minutes=30)
    beats.pause(attempt, now=now)
    beats.pause(attempt, now=now)
    assert lease() == timedelta(hours=24)
    beats.beat(attempt, tab="t", visible=True, ms_since_input=100, now=now)
    assert lease() == timedelta(hours=24)
    beats.resume(attempt, now=now)
    assert lease() == timedelta(minutes=30)
    assert attempt.pauses.count() == 1


def test_a_page_left_alone_lets_its_lease_run_out(ann):
    attempt = make_attempt(ann)
    before = Slot.objects.get(pk=attempt.slot_id).lease_end
    later = timezone.now() + timedelta(minutes=10)
    beats.beat(attempt, tab="t", visible=False, ms_since_input=100, now=later)
    beats.beat(attempt, tab="t", visible=True, ms_since_input=31 * 60_000, now=later)
    assert Slot.objects.get(pk=attempt.slot_id).lease_end == before


def test_nothing_runs_while_the_clock_is_stopped(ann):
    attempt = make_attempt(ann)
    beats.pause(attempt, now=timezone.now())
    with pytest.raises(Refused, match="clock is stopped"):
        run_visible(attempt, function=WRONG, module="", key="k", now=timezone.now())
