"""Trying unjudged executions again: never one more submission than allowed, nothing behind its author's back."""

from __future__ import annotations

import pytest
from django.urls import reverse
from django.utils import timezone

from annotation.attempts import Refused, give_up, submissions_of
from annotation.retrying import try_again
from annotation.runs import run_visible, submit
from examples.models import AuditEntry, Version
from runner.models import Execution
from tests.annotation.factories import RIGHT, WRONG, finish, leave_unjudged, make_attempt
from tests.factories import make_version

pytestmark = pytest.mark.django_db


def ask(what, attempt, key, function=WRONG):
    return what(attempt, function=function, module="", key=key, now=timezone.now())


def state_of(run):
    return Execution.objects.get(pk=run.execution_id).state


def test_an_unjudged_submission_is_judged_after_all_and_then_counts(ann):
    attempt = make_attempt(ann)
    run = ask(submit, attempt, "a", RIGHT)
    leave_unjudged(run)
    assert "queued again" in try_again(Execution.objects.get(pk=run.execution_id))
    assert state_of(run) == "queued"
    assert submissions_of(attempt).left == 0
    with pytest.raises(Refused, match="being judged"):
        ask(submit, attempt, "b")


def test_one_that_its_author_has_replaced_by_another_is_left_as_it_is(ann):
    attempt = make_attempt(ann)
    lost = ask(submit, attempt, "a")
    leave_unjudged(lost)
    ask(submit, attempt, "b")
    with pytest.raises(Refused, match="submitted again"):
        try_again(Execution.objects.get(pk=lost.execution_id))
    assert state_of(lost) == "unjudged"


def test_nothing_is_tried_again_for_work_that_has_ended(ann):
    attempt = make_attempt(ann)
    lost = ask(submit, attempt, "a")
    leave_unjudged(lost)
    give_up(attempt, reason="no idea", now=timezone.now())
    with pytest.raises(Refused, match="has ended"):
        try_again(Execution.objects.get(pk=lost.execution_id))
    assert state_of(lost) == "unjudged"


def test_a_run_is_tried_again_unless_there_is_a_newer_one(ann):
    attempt = make_attempt(ann)
    first = ask(run_visible, attempt, "a")
    leave_unjudged(first)
    try_again(Execution.objects.get(pk=first.execution_id))
    assert state_of(first) == "queued"
    leave_unjudged(first)
    ask(run_visible, attempt, "b")
    with pytest.raises(Refused, match="newer run"):
        try_again(Execution.objects.get(pk=first.execution_id))


def test_a_judged_one_is_never_tried_again(ann):
    attempt = make_attempt(ann)
    run = ask(run_visible, attempt, "a")
    finish(run)
    with pytest.raises(Refused, match="not unjudged"):
        try_again(Execution.objects.get(pk=run.execution_id))


def test_that_of_a_check_lets_the_checks_of_its_version_run_again(ann):
    version = make_version("add")
    execution = Execution.objects.create(
        environment=version.environment, queue="bulk", job_data={}, state="unjudged", reason="No engine."
    )
    version.checks.get(name="stable").executions.add(execution)
    assert "checks" in try_again(execution)
    assert Version.objects.get(pk=version.pk).check_state == Version.CheckState.PENDING


def test_the_button_says_what_was_done_or_why_not_and_is_audited(client, curator, ann):
    run = ask(submit, make_attempt(ann), "a")
    leave_unjudged(run)
    client.force_login(curator)
    page = client.get(reverse("operations")).content.decode()
    address = reverse("try_again", kwargs={"pk": run.execution_id})
    assert address in page
    assert "queued again" in client.post(address, follow=True).content.decode()
    assert "not unjudged any more" in client.post(address, follow=True).content.decode()
    assert AuditEntry.objects.filter(action="execution tried again").count() == 1
    client.force_login(ann)
    assert client.post(address).status_code == 404
