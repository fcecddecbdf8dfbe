"""Rows of a study from the database: what counts, by execution, and why the rest is left out."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta

import pytest

from annotation import evidence
from annotation.curve import marks, time_curve
from annotation.figures import line_of
from annotation.models import Adjudication, Attempt, Beat, Verdict
from annotation.results import GIVEN_BACK, KNEW_IT, WROTE_IT, rows_of, study_results
from examples.models import Version
from runner.models import Execution
from tests.factories import make_attempt, make_beats, make_study, make_submission, make_version

NOON = datetime(2026, 11, 29, 12, tzinfo=UTC)


@pytest.fixture
def version(db):
    return make_version()


@pytest.fixture
def study(version, ann, ben):
    return make_study(versions=[version], people=[ann, ben], submissions=3)


def row(attempt: Attempt):
    (found,) = rows_of(Attempt.objects.filter(pk=attempt.pk))
    return found


def test_solved_is_what_was_executed_and_never_what_was_said(study, version, ann, ben):
    said = make_attempt(study, version, ann, solved=False, outcome="solved")
    done = make_attempt(study, version, ben, solved=True, outcome="gave_up")
    assert (row(said).solved, row(done).solved) == (False, True)


def test_a_flagged_pass_is_no_solution(study, version, ann):
    attempt = make_attempt(study, version, ann)
    Execution.objects.update(tampered=True)
    assert not row(attempt).solved


def test_the_submission_that_passed_counts_only_judged_ones(study, version, ann):
    attempt = make_attempt(study, version, ann, solved=False)
    lost = make_submission(attempt, passed=False, number=2)
    Execution.objects.filter(run=lost).update(state="unjudged", outcome="", reason="no engine")
    make_submission(attempt, passed=True, number=3)
    assert row(attempt).solved_at_submission == 2


def test_an_attempt_whose_last_submission_we_lost_is_interrupted(study, version, ann):
    attempt = make_attempt(study, version, ann, solved=False)
    Execution.objects.update(state="unjudged", outcome="", reason="no engine")
    assert row(attempt).interrupted
    results = study_results(study)
    assert results.rates.solved.rate.total == 0
    assert results.rates.solved.exclusions == {"interrupted by our fault": 1}


def test_what_the_protocol_leaves_out_says_why(study, version, ann, ben):
    knew = make_attempt(study, version, ann, outcome="knew_it")
    wrote = make_attempt(study, version, ben)
    Version.objects.update(author=ben)
    assert (row(knew).excluded_reason, row(wrote).excluded_reason) == (KNEW_IT, WROTE_IT)
    Attempt.objects.filter(pk=wrote.pk).update(state="released")
    assert row(wrote).excluded_reason == GIVEN_BACK
    results = study_results(study)
    assert results.rates.solved.rate.total == 0
    assert results.nothing_left_out.total == 1


def test_an_attempt_beyond_k_is_extra(study, version, ann, curator):
    study.slots.filter(number=1).delete()
    study.slots.create(version=version, number=3)
    make_attempt(study, version, ann)
    assert row(make_attempt(study, version, curator)).extra


def test_active_time_comes_from_beats_under_the_studys_idle_limit(study, version, ann):
    attempt = make_attempt(study, version, ann, seconds=120, started_at=NOON)
    make_beats(attempt)
    assert row(attempt).active_seconds == pytest.approx(119, abs=1)  # one second waited for the runner
    Beat.objects.exclude(pk=Beat.objects.earliest("at").pk).delete()
    assert row(attempt).active_seconds < 120


def test_an_end_before_the_start_by_another_clock_is_no_time_and_no_error(study, version, ann):
    attempt = make_attempt(study, version, ann)
    Attempt.objects.filter(pk=attempt.pk).update(ended_at=attempt.started_at - timedelta(seconds=1))
    make_beats(Attempt.objects.get(pk=attempt.pk))
    Beat.objects.create(attempt=attempt, at=attempt.started_at, tab="t", visible=True, ms_since_input=0)
    assert row(attempt).active_seconds == 0


def test_evidence_counts_each_study_and_each_person_once(study, version, ann, ben):
    make_attempt(study, version, ann)
    other = make_study("s-02", versions=[version], people=[ann], solvers=1)
    make_attempt(other, version, ann)
    found = evidence.evidence(Version.objects.all())[version.pk]
    assert [(each.closed, each.wanted) for each in found.studies] == [(1, 2), (1, 1)]
    assert found.independent == 1


def test_a_complaint_later_than_the_decision_is_open_again(study, version, ann, ben, curator):
    make_attempt(study, version, ann, test_quality=2)
    assert evidence.evidence(Version.objects.all())[version.pk].disputes == ("A-01 rates the tests 2 of 3",)
    Adjudication.objects.create(version=version, decision="solvable", reason="fair", decided_by=curator)
    assert not evidence.open_disputes()
    make_attempt(study, version, ben, instruction_quality=3, test_quality=3)
    Verdict.objects.filter(attempt__annotator=ben).update(created_at="2100-01-01T00:00:00Z")
    found = evidence.evidence(Version.objects.all())[version.pk]
    assert found.disputes == ("A-02 rates the instruction 3 of 3 and the tests 3 of 3",)
    assert found.found_solvable


def test_an_undefined_interval_is_said_and_not_drawn(study, version, ann, ben):
    for person in (ann, ben):
        make_attempt(study, version, person)
    shown = line_of(study_results(study).rates.solved)
    assert (shown.point, shown.outer_low) == (100, None)
    assert shown.low == pytest.approx(34.2, abs=0.1)
    assert shown.more.startswith("over annotators undefined: every annotator has the same share")


def test_the_curve_is_drawn_within_its_field_and_its_table_has_counts(study, version, ann, ben):
    make_beats(make_attempt(study, version, ann, seconds=300))
    make_beats(make_attempt(study, version, ben, seconds=900, solved=False))
    times = study_results(study).times
    shown = marks(times)
    assert (shown[-1].solved_count, shown[-1].unsolved_count, shown[-1].at_risk) == (1, 1, 0)
    drawn = time_curve(times)
    assert "NaN" not in drawn
    assert 'style="' not in drawn
    numbers = [float(each) for each in re.findall(r"[HV](-?[\d.]+)", drawn)]
    assert min(numbers) >= 0
    assert max(numbers) <= 300


def test_an_attempt_without_any_beat_has_no_time_instead_of_none_at_all(study, version, ann):
    attempt = make_attempt(study, version, ann, seconds=300)
    assert row(attempt).active_seconds is None
    assert study_results(study).times.median.value is None
    make_beats(attempt)
    assert row(attempt).active_seconds == pytest.approx(300, abs=1)


def test_without_attempts_there_is_no_curve(study):
    times = study_results(study).times
    assert marks(times) == []
    assert "path" in time_curve(times)
