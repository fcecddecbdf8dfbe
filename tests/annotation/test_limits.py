"""What an attempt keeps is bounded; what a person does is far below, and what we failed at is not reckoned."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.urls import reverse
from django.utils import timezone

from annotation import beats, limits
from annotation.attempts import AttemptOver
from annotation.drafts import ClockStopped, save_draft
from annotation.limits import TooMany, refuse_run
from annotation.models import Attempt, Beat, Draft
from annotation.runs import run_scratch, run_visible, submit
from runner.models import Execution
from tests.annotation.factories import WRONG, finish, leave_unjudged, make_attempt
from tests.annotation.test_pages import HTMX, JSON, browser, code


@pytest.fixture
def attempt(ann) -> Attempt:
    return make_attempt(ann)


def saved(attempt: Attempt, times: int, *, ago: timedelta = timedelta(0)) -> None:
    """Store so many revisions behind those there are."""
    first = attempt.drafts.count() + 1
    Draft.objects.bulk_create(
        Draft(attempt=attempt, revision=at, function=f"{at}", saved_at=timezone.now() - ago)
        for at in range(first, first + times)
    )


def ran(attempt: Attempt, times: int) -> None:
    for at in range(attempt.runs.count(), attempt.runs.count() + times):
        finish(run_visible(attempt, function=WRONG, module="", key=f"r{at}", now=timezone.now()))


def draft(attempt: Attempt, text: str, *, by: dict[str, str] = JSON, base: int | None = None):
    base = attempt.drafts.count() if base is None else base
    address = reverse("draft", args=[attempt.pk])
    return browser(attempt.annotator).post(address, code(text, base_revision=str(base)), headers=by)


def test_a_draft_is_refused_when_saved_too_often_and_the_page_is_told_when_to_try_again(attempt):
    saved(attempt, limits.DRAFTS_PER_MINUTE)
    answer = draft(attempt, "one more")
    assert answer.status_code == 429
    assert 1 <= int(answer["Retry-After"]) <= 60
    assert "Kept on this computer" in answer.json()["message"]
    Draft.objects.update(saved_at=timezone.now() - timedelta(seconds=61))
    assert draft(attempt, "one more").json()["revision"] == limits.DRAFTS_PER_MINUTE + 1


def test_what_is_stored_already_is_never_too_much(attempt):
    saved(attempt, limits.DRAFTS_PER_MINUTE)
    assert draft(attempt, f"{limits.DRAFTS_PER_MINUTE}").status_code == 200


@pytest.mark.parametrize(
    ("text", "most"),
    [("x", limits.DRAFTS), ("x" * (limits.LONG + 1), limits.LONG_DRAFTS)],
    ids=["short", "long"],
)
def test_of_one_attempt_only_so_many_revisions_are_kept(attempt, text, most):
    Draft.objects.create(attempt=attempt, revision=most - 1, function="last")
    assert save_draft(attempt, function=text, module="", base_revision=most - 1).revision == most
    with pytest.raises(TooMany, match="stays on this computer"):
        save_draft(attempt, function=text + "y", module="", base_revision=most)


def test_nothing_is_saved_while_the_clock_is_stopped_and_nothing_is_lost(attempt):
    """Another window of the same person may still show an open editor."""
    beats.pause(attempt, now=timezone.now())
    with pytest.raises(ClockStopped):
        save_draft(attempt, function="off the clock", module="", base_revision=0)
    answer = draft(attempt, "off the clock")
    assert (answer.status_code, "kept on this computer" in answer.json()["message"]) == (423, True)
    without_script = draft(attempt, "off the clock", by={})
    assert without_script.status_code == 423
    assert "off the clock" in without_script.content.decode()
    beat = browser(attempt.annotator).post(reverse("beat", args=[attempt.pk]), {"tab": "t"})
    assert beat.json()["paused"] is True
    beats.resume(attempt, now=timezone.now())
    assert draft(attempt, "off the clock").json()["revision"] == 1


def test_a_text_that_cannot_be_kept_ends_nothing_and_comes_back(attempt):
    """It was answered like the end of the work, after which the page saved no more."""
    assert draft(attempt, "a\0b").status_code == 422
    assert "NUL" in draft(attempt, "a\0b", by={}).content.decode()
    Attempt.objects.filter(pk=attempt.pk).update(state="submitted", ended_at=timezone.now())
    assert draft(attempt, "late").status_code == 410
    attempt.refresh_from_db()
    with pytest.raises(AttemptOver):
        save_draft(attempt, function="late", module="", base_revision=0)


def test_runs_on_demand_are_refused_beyond_a_minutes_number_and_the_panel_says_so(attempt, monkeypatch):
    monkeypatch.setattr(limits, "RUNS_PER_MINUTE", 3)
    ran(attempt, 3)
    for name in ("run", "scratch"):
        form = code(key="another", snippet="1")
        answer = browser(attempt.annotator).post(reverse(name, args=[attempt.pk]), form, headers=HTMX)
        assert answer.status_code == 429
        assert 1 <= int(answer["Retry-After"]) <= 60
        assert "3 runs in a minute are the most. Run again in" in answer.content.decode()
        assert 'id="execution"' in answer.content.decode()
    assert attempt.runs.count() == 3
    assert attempt.drafts.get().function == WRONG
    same = browser(attempt.annotator).post(reverse("run", args=[attempt.pk]), code(key="r0"), headers=HTMX)
    assert same.status_code == 200
    attempt.runs.update(created_at=timezone.now() - timedelta(seconds=61))
    refuse_run(attempt, key="another", now=timezone.now())


def test_what_we_could_not_judge_is_not_reckoned_but_what_the_next_run_replaced_is(attempt, monkeypatch):
    monkeypatch.setattr(limits, "RUNS_PER_MINUTE", 2)
    now = timezone.now()
    for at in range(4):
        leave_unjudged(run_visible(attempt, function=WRONG, module="", key=f"u{at}", now=now))
    refuse_run(attempt, key="k", now=now)
    run_visible(attempt, function=WRONG, module="", key="first", now=now)
    run_scratch(attempt, function=WRONG, module="", snippet="1", key="second", now=now)
    assert Execution.objects.get(run__key="first").state == "unjudged"
    with pytest.raises(TooMany):
        refuse_run(attempt, key="k", now=now)


def test_of_one_attempt_only_so_many_runs_are_kept_and_submitting_goes_on(attempt, monkeypatch):
    ran(attempt, 3)
    attempt.runs.update(created_at=timezone.now() - timedelta(hours=1))
    monkeypatch.setattr(limits, "RUNS_PER_MINUTE", 2)
    monkeypatch.setattr(limits, "RUNS", 3)
    form = code(key="another")
    page = browser(attempt.annotator)
    assert "You can still submit" in page.post(reverse("run", args=[attempt.pk]), form).content.decode()
    assert submit(attempt, function=WRONG, module="", key="s", now=timezone.now()).number == 4


def test_of_a_minute_only_so_many_beats_are_stored_and_all_are_answered(attempt):
    page, address = browser(attempt.annotator), reverse("beat", args=[attempt.pk])
    for at in range(beats.BEATS_PER_MINUTE + 5):
        answer = page.post(address, {"tab": "t", "visible": "true", "ms_since_input": str(at)})
        assert answer.json()["held"] is True
    assert attempt.beats.count() == beats.BEATS_PER_MINUTE
    Beat.objects.update(at=timezone.now() - timedelta(seconds=61))
    page.post(address, {"tab": "t"})
    assert attempt.beats.count() == beats.BEATS_PER_MINUTE + 1


def test_of_one_attempt_only_so_many_beats_are_stored(attempt, monkeypatch):
    monkeypatch.setattr(beats, "BEATS", 2)
    start = timezone.now()
    for minute in range(4):
        at = start + timedelta(minutes=minute)
        assert beats.beat(attempt, tab="t", visible=True, ms_since_input=1, now=at)
    assert attempt.beats.count() == 2
