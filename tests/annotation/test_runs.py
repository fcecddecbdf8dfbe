"""ATTEMPT: runs on demand and submissions: what is executed, how often, and that nothing hidden comes along."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from functools import partial
from threading import Barrier

import pytest
from django.db import connection
from django.utils import timezone

from annotation.accounts import create_account
from annotation.attempts import AttemptOver, Refused, give_up
from annotation.models import Attempt, Run, Slot
from annotation.runs import (
    LOST_ALLOWED,
    fingerprint,
    packed,
    run_scratch,
    run_visible,
    submit,
    unpacked,
)
from config.access import Role
from examples.assembly import Origin
from runner.models import Execution
from runner.outcome import Outcome
from runner.sandbox.stream import BOX_ENDED
from tests.annotation.factories import RIGHT, WRONG, finish, leave_unjudged, make_attempt


def ask(what, attempt, key="k", **more):
    return what(attempt, function=WRONG, module="import math", key=key, now=timezone.now(), **more)


def test_a_visible_run_holds_only_the_visible_tests_and_may_be_read(ann):
    job = ask(run_visible, make_attempt(ann)).execution.job
    assert "assert with_tax(100) == 120.0" in job.tests
    assert "23.99" not in job.tests + job.block + job.program
    assert job.revealed
    assert job.limits.cpu_seconds == 2.0


def test_a_scratch_run_holds_no_test_at_all(ann):
    job = ask(run_scratch, make_attempt(ann), snippet="print(with_tax(3))").execution.job
    assert (job.tests, job.expected, job.block) == ("", (), "print(with_tax(3))")
    assert job.revealed


def test_a_submission_holds_every_test_and_reveals_nothing(ann):
    run = ask(submit, make_attempt(ann))
    assert "23.99" in run.execution.job.tests
    assert not run.execution.job.revealed
    assert run.sha256 == fingerprint(WRONG, "import math")
    assert (run.function, run.module) == (WRONG, "import math")


def test_the_reference_is_in_no_job(ann):
    attempt = make_attempt(ann)
    jobs = [
        ask(run_visible, attempt, "a"),
        ask(run_scratch, attempt, "b", snippet="1"),
        ask(submit, attempt, "c"),
    ]
    assert all(attempt.slot.version.reference not in run.execution.job.program for run in jobs)


@pytest.mark.parametrize("what", [run_visible, submit])
def test_the_same_key_again_is_the_same_run(ann, what):
    attempt = make_attempt(ann)
    assert ask(what, attempt) == ask(what, attempt)
    assert attempt.runs.count() == 1


def test_a_submission_sent_again_after_it_ended_the_work_is_the_same_run(ann):
    attempt = make_attempt(ann)
    run = ask(submit, attempt)
    finish(run)
    assert ask(submit, attempt) == run


def test_one_submission_more_than_allowed_is_refused(ann):
    attempt = make_attempt(ann)
    finish(ask(submit, attempt, "1"), Outcome.FAILED)
    with pytest.raises(AttemptOver):
        ask(submit, attempt, "2")


def test_while_a_submission_is_judged_nothing_else_starts(ann):
    attempt = make_attempt(ann, submissions=2)
    ask(submit, attempt, "1")
    with pytest.raises(Refused, match="being judged"):
        ask(submit, attempt, "2")
    with pytest.raises(Refused, match="being judged"):
        ask(run_visible, attempt, "3")


def test_an_unjudged_submission_may_be_made_again(ann):
    attempt = make_attempt(ann)
    leave_unjudged(ask(submit, attempt, "1"))
    assert ask(submit, attempt, "2").number == 2


def test_submissions_whose_boxes_were_brought_down_are_not_without_end(ann):
    """A program can have the kernel end its box for memory; how long that took says something of the hidden tests."""
    attempt = make_attempt(ann)
    for number in range(LOST_ALLOWED):
        run = ask(submit, attempt, f"lost {number}")
        leave_unjudged(run)
        Execution.objects.filter(pk=run.execution_id).update(reason=f"{BOX_ENDED} Its last words: none")
    with pytest.raises(Refused, match="curator"):
        ask(submit, attempt, "one more")
    assert ask(run_visible, attempt, "a look").kind == Run.Kind.VISIBLE


def test_a_person_has_one_run_waiting_over_all_studies(ann, ben):
    first, second = make_attempt(ann), make_attempt(ann)
    waiting, submitted = ask(run_visible, first), ask(submit, second, "s")
    other, newer = ask(run_visible, make_attempt(ben)), ask(run_visible, first, "n")
    states = {
        run: Execution.objects.get(pk=run.execution_id).state for run in (waiting, submitted, other, newer)
    }
    assert states == {waiting: "unjudged", submitted: "queued", other: "queued", newer: "queued"}


def test_a_newer_run_replaces_one_that_has_not_started(ann):
    attempt = make_attempt(ann)
    first, second = ask(run_visible, attempt, "1"), ask(run_visible, attempt, "2")
    first.execution.refresh_from_db()
    assert first.execution.state == Execution.State.UNJUDGED
    assert second.execution.state == Execution.State.QUEUED


def test_nothing_runs_after_giving_up(ann):
    attempt = make_attempt(ann)
    give_up(attempt, reason="no idea", now=timezone.now())
    for what in (run_visible, submit):
        with pytest.raises(AttemptOver):
            ask(what, attempt)


def test_nothing_runs_where_another_page_gave_up_at_this_moment(ann):
    attempt = make_attempt(ann)
    elsewhere = Attempt.objects.get(pk=attempt.pk)
    give_up(elsewhere, reason="no idea", now=timezone.now())
    for what in (run_visible, submit):
        with pytest.raises(AttemptOver, match="verdict"):
            ask(what, attempt)


def test_nothing_runs_on_a_slot_that_went_to_another(ann, ben):
    attempt = make_attempt(ann)
    Slot.objects.filter(pk=attempt.slot_id).update(annotator=ben)
    with pytest.raises(AttemptOver, match="draft is kept"):
        ask(submit, attempt)


def test_a_study_without_visible_tests_runs_none(ann):
    attempt = make_attempt(ann, shows_visible_tests=False)
    with pytest.raises(Refused):
        ask(run_visible, attempt)
    assert ask(run_scratch, attempt, snippet="1").kind == Run.Kind.SCRATCH


def test_an_empty_snippet_is_refused(ann):
    with pytest.raises(Refused):
        ask(run_scratch, make_attempt(ann), snippet=" \n")


def test_a_helper_that_hides_a_name_of_the_context_warns(ann):
    attempt = make_attempt(ann)
    run = run_visible(attempt, function=RIGHT, module="RATE = 0.5", key="k", now=timezone.now())
    assert run.warnings == ["`RATE` hides a name of the context."]


def test_program_lines_lead_back_to_the_editor(ann):
    run = ask(run_visible, make_attempt(ann))
    lines, program = unpacked(run.lines), run.execution.job.program.splitlines()
    assert len(lines) == len(program)
    assert lines[program.index("import math")] == Origin("module", 1)
    assert lines[program.index("    return net")] == Origin("function", 2)


def test_packing_keeps_every_line():
    lines = (
        Origin("context", 1),
        Origin("context", 2),
        Origin("module", 1),
        Origin("context", 3),
        Origin("context", 7),
    )
    assert unpacked(packed(lines)) == lines
    assert len(packed(lines)) == 4


def test_of_many_submissions_at_once_one_is_taken(either_database):
    attempt = make_attempt(create_account(username="p", role=Role.ANNOTATOR, password=None))

    def send(at: int) -> bool:
        try:
            ask(submit, attempt, f"key {at}")
        except Refused:
            return False
        finally:
            connection.close()
        return True

    with ThreadPoolExecutor(8) as pool:
        assert sum(pool.map(send, range(8))) == 1
    assert attempt.runs.count() == 1


def test_of_submitting_and_giving_up_at_once_one_is_refused(either_database):
    """Both would leave a submission that counts on an attempt whose annotator was told that nothing was submitted."""
    attempts = [
        make_attempt(create_account(username=f"p{number}", role=Role.ANNOTATOR, password=None))
        for number in range(8)
    ]
    start = Barrier(2)

    def try_to(act) -> bool:
        try:
            start.wait()
            act()
        except Refused:
            return False
        finally:
            connection.close()
        return True

    with ThreadPoolExecutor(2) as pool:
        for attempt in attempts:
            elsewhere = Attempt.objects.get(pk=attempt.pk)
            acts = (
                partial(ask, submit, attempt),
                partial(give_up, elsewhere, reason="no", now=timezone.now()),
            )
            assert sum(pool.map(try_to, acts)) == 1
