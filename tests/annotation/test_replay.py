"""The replay of an attempt: its steps, its lines, one moment, who may look, and the same as rows."""

from __future__ import annotations

import json
from datetime import datetime, timedelta
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from annotation.attempts import close_attempt, give_up
from annotation.closing import keep_answers, reopen
from annotation.drafts import save_draft
from annotation.exporting import attempt_events, export
from annotation.models import (
    Attempt,
    Beat,
    Draft,
    Paste,
    Pause,
    Protocol,
    Reveal,
    Run,
    SecondJudgement,
    Slot,
    User,
)
from annotation.replay.bar import Sign, span_bar
from annotation.replay.moment import moment_of
from annotation.replay.steps import Source
from annotation.replay.timeline import timeline_of
from annotation.runs import run_scratch, run_visible
from examples.models import AuditEntry
from runner.models import Execution, TestRow
from runner.outcome import Outcome
from tests.annotation.factories import RIGHT, WRONG, finish, make_attempt

HTMX = {"HX-Request": "true"}


def browser(person: User) -> Client:
    client = Client()
    client.force_login(person, backend="django.contrib.auth.backends.ModelBackend")
    return client


def worked(person: User) -> Attempt:
    """Return an attempt of half an hour: revisions, a run, a scratch run, a paste, a pause, given up and closed."""
    attempt = make_attempt(person)
    start = timezone.now() - timedelta(minutes=30)
    Attempt.objects.filter(pk=attempt.pk).update(started_at=start)
    Protocol.objects.filter(pk=attempt.protocol_id).update(consent_text="Yes?", records_pastes=True)
    attempt.refresh_from_db()

    def after(minutes: float) -> datetime:
        return start + timedelta(minutes=minutes)

    for at, code in enumerate(("def with_tax(net):\n    pass\n", WRONG, f"{WRONG}\n# hm\n"), start=1):
        save_draft(attempt, function=code, module="", base_revision=at - 1)
        Draft.objects.filter(attempt=attempt, revision=at).update(saved_at=after(2 * at))
    run = run_visible(attempt, function=WRONG, module="", key="1", now=after(8))
    finish(run, Outcome.FAILED)
    TestRow.objects.create(
        execution=run.execution, number=1, test="test_with_tax", assertion=1, outcome="FAILED", line=2,
        values=["100", "120.0"],
    )  # fmt: skip
    save_draft(attempt, function=RIGHT, module="import math", base_revision=3)
    Draft.objects.filter(attempt=attempt, revision=4).update(saved_at=after(10))
    scratch = run_scratch(
        attempt, function=RIGHT, module="import math", snippet="print(1)", key="2", now=after(12)
    )
    finish(scratch)
    for each, minutes in ((run, 8), (scratch, 12)):
        at = after(minutes)
        Execution.objects.filter(pk=each.execution_id).update(
            created_at=at, finished_at=at + timedelta(seconds=2)
        )
    Execution.objects.filter(pk=scratch.execution_id).update(stdout="1\n", wall_seconds=0.03)
    Paste.objects.create(
        attempt=attempt, key="p", at=after(9), editor="function", origin="elsewhere", characters=212, lines=9
    )
    Pause.objects.create(attempt=attempt, started_at=after(14), ended_at=after(20))
    Beat.objects.bulk_create(
        Beat(
            attempt=attempt, at=start + timedelta(seconds=15 * at), tab="t", visible=True, ms_since_input=500
        )
        for at in range(1, 90)
    )
    give_up(attempt, reason="The rate is unclear.", now=after(25))
    keep_answers(attempt, said={"test_quality": "1"}, now=after(26))
    keep_answers(attempt, said={"test_quality": "3"}, now=after(27))
    answers = {"outcome": "gave_up", "difficulty": "trivial", "instruction_quality": 0, "test_quality": 3}
    close_attempt(attempt, answers=answers, now=after(28))
    attempt.refresh_from_db()
    return attempt


def whole(attempt: Attempt) -> Attempt:
    related = (
        "annotator",
        "protocol",
        "verdict",
        "reveal__judgement",
        "slot__study",
        "slot__version__example__dataset",
    )
    return Attempt.objects.select_related(*related).get(pk=attempt.pk)


def test_steps_are_the_start_every_revision_and_every_run_in_the_order_of_time(ann):
    steps = timeline_of(whole(worked(ann))).steps
    assert [(step.number, step.source, step.title) for step in steps] == [
        (0, Source.START, "Started"),
        (1, Source.DRAFT, "Revision 1"),
        (2, Source.DRAFT, "Revision 2"),
        (3, Source.DRAFT, "Revision 3"),
        (4, Source.RUN, "Run 1"),
        (5, Source.DRAFT, "Revision 4"),
        (6, Source.RUN, "Scratch run 2"),
    ]
    assert steps[4].seconds == 480


def test_lines_tell_everything_and_fold_what_was_only_saved(ann):
    timeline = timeline_of(whole(worked(ann)))
    told = [(line.title, line.detail) for line in timeline.lines]
    titles = [title for title, _ in told]
    assert titles.index("3 revisions") < titles.index("Run 1") < titles.index("Pasted 212 characters")
    assert dict(told)["Run 1"] == "failed; assertions: 1 failed"
    assert dict(told)["Pasted 212 characters"] == "from elsewhere into function"
    assert dict(told)["Paused"] == "for 6:00"
    assert dict(told)["Gave up"] == "The rate is unclear."
    assert [detail for title, detail in told if title == "Closing form"] == ["tests: 1", "tests: 1 → 3"]
    assert dict(told)["Closed: gave up"] == "trivial; instruction 0; tests 3"
    assert [line.at for line in timeline.lines] == sorted(line.at for line in timeline.lines)
    assert ("pastes", "1", "212 characters from elsewhere") in timeline.figures
    assert timeline.totals["paused"] == 360
    assert [limit for limit, *_ in timeline.table] == [60, 120, 300]


def test_a_moment_has_the_code_of_then_and_is_compared_with_the_one_before_or_any_other(ann):
    timeline = timeline_of(whole(worked(ann)))
    moment = moment_of(timeline, at=5, against=None)
    assert (moment.code.function, moment.code.module) == (RIGHT, "import math")
    assert moment.code.text.startswith("import math\n\n\ndef with_tax")
    assert (moment.other.number, moment.compared.function) == (4, WRONG)
    assert moment_of(timeline, at=5, against=0).compared.function.startswith("def with_tax")
    assert (moment.before.number, moment.after.number, moment.previous.number, moment.next.number) == (
        4,
        6,
        4,
        6,
    )
    ran = moment_of(timeline, at=4, against=1)
    assert (ran.run.number, [row.values for row in ran.rows]) == (1, [["100", "120.0"]])
    assert moment_of(timeline, at=999, against=999).step == timeline.steps[-1]
    assert moment_of(timeline, at=0, against=None).other.number == 0


def test_curators_see_the_page_everybody_else_nothing(ann, ben, curator, reader):
    attempt = worked(ann)
    for name in ("replay", "replay_events"):
        path = reverse(name, args=[attempt.pk])
        assert [browser(person).get(path).status_code for person in (ann, ben, reader)] == [404, 404, 404]
        assert Client().get(path).status_code == 302
        assert browser(curator).get(path).status_code == 200
    assert browser(curator).get(reverse("replay", args=[0])).status_code == 404
    listed = reverse("study_attempts", args=[attempt.slot.study.name])
    assert browser(ann).get(listed).status_code == 404
    page = browser(curator).get(listed).content.decode()
    assert reverse("replay", args=[attempt.pk]) in page


def test_the_page_shows_code_outcome_and_words_inert(ann, curator):
    attempt = worked(ann)
    path = reverse("replay", args=[attempt.pk])
    page = browser(curator).get(path).content.decode()
    assert "print(1)" in page
    assert ann.pseudonym in page
    assert "The rate is unclear." in page
    assert 'aria-current="step"' in page
    part = browser(curator).get(f"{path}?at=4&against=0", headers=HTMX).content.decode()
    assert "<html" not in part
    assert "120.0" in part
    assert 'hx-swap-oob="true"' in part
    for odd in ("?at=x", "?at=-1", "?at=1e9", "?against=99999999999", "?at=٣"):
        assert browser(curator).get(path + odd).status_code == 200


def test_what_was_said_after_the_reveal_stands_on_the_page_beside_the_verdict(ann, curator):
    attempt = worked(ann)
    reveal = Reveal.objects.create(attempt=attempt)
    said = {
        "reference": "wrong",
        "tests": "unsure",
        "instruction_quality": 2,
        "test_quality": 1,
        "text": "It rounds up.",
    }
    SecondJudgement.objects.create(reveal=reveal, **said)
    page = browser(curator).get(reverse("replay", args=[attempt.pk])).content.decode()
    assert "Reference and hidden tests shown" in page
    assert "It rounds up." in page
    assert "the first verdict stays as it is" in page
    assert [row["event"] for row in lines_of(attempt_events(attempt))][-2:] == [
        "revealed",
        "second_judgement",
    ]


def test_every_look_is_logged_and_moving_through_an_attempt_is_one(ann, curator):
    attempt = worked(ann)
    path = reverse("replay", args=[attempt.pk])
    looks = AuditEntry.objects.filter(
        action="attempt replayed", subject=f"attempt:{attempt.pk}", person=curator
    )
    client = browser(curator)
    client.get(path, headers=HTMX)
    assert looks.count() == 1, "also one that begins in the midst"
    for at in range(4):
        client.get(f"{path}?at={at}", headers=HTMX)
    assert looks.count() == 1
    client.get(path)
    assert looks.count() == 2
    looks.update(at=timezone.now() - timedelta(hours=1))
    client.get(path, headers=HTMX)
    assert looks.count() == 3
    client.get(reverse("replay_events", args=[attempt.pk]))
    assert AuditEntry.objects.filter(action="attempt exported", person=curator).count() == 1


def test_five_hundred_revisions_cost_no_query_more_than_five(ann, curator, django_assert_max_num_queries):
    attempt = worked(ann)
    drafts = [Draft(attempt=attempt, revision=at, function=f"{RIGHT}# {at}\n") for at in range(5, 505)]
    Draft.objects.bulk_create(drafts)
    client, path = browser(curator), reverse("replay", args=[attempt.pk])
    with django_assert_max_num_queries(24):
        page = client.get(f"{path}?at=400").content.decode()
    assert "step 400 of 506" in page
    with django_assert_max_num_queries(24):
        client.get(f"{path}?at=300", headers=HTMX)


def test_the_list_of_attempts_asks_as_often_for_many_as_for_few(ann, ben, curator):
    study, client = worked(ann).slot.study, browser(curator)

    def asked() -> int:
        with CaptureQueriesContext(connection) as queries:
            client.get(reverse("study_attempts", args=[study.name]))
        return len(queries)

    few = asked()
    for person in (ann, ben, ben):
        worked(person)
    Slot.objects.update(study=study)
    assert asked() == few <= 10


def lines_of(chunks: Any) -> list[dict[str, Any]]:
    return [json.loads(line) for line in b"".join(chunks).splitlines()]


def test_events_are_everything_in_the_order_of_time_under_the_study_s_pseudonym(
    either_database, ann, curator
):
    attempt = worked(ann)
    reopen(attempt, reason="Say more.", by=curator, now=timezone.now())
    rows = lines_of(attempt_events(attempt))
    assert rows == lines_of(export(attempt.slot.study, "events", "jsonl"))
    kinds = [row["event"] for row in rows]
    assert {kind: kinds.count(kind) for kind in dict.fromkeys(kinds) if kind != "interval"} == {
        "started": 1,
        "draft": 4,
        "run": 1,
        "paste": 1,
        "scratch": 1,
        "ended": 1,
        "answered": 2,
        "closed": 1,
        "reopened": 1,
    }
    assert [row["at"] for row in rows] == sorted(row["at"] for row in rows)
    assert {row["person"] for row in rows} == {"P01"}
    run = next(row["detail"] for row in rows if row["event"] == "run")
    assert (run["function"], run["outcome"], run["rows"][0]["values"]) == (WRONG, "FAILED", ["100", "120.0"])
    text = json.dumps(rows)
    assert ann.pseudonym not in text
    assert curator.pseudonym not in text


@pytest.mark.parametrize("chunk", [1, 50])
def test_events_of_many_attempts_come_attempt_by_attempt_a_few_rows_at_a_time(chunk, ann, ben, monkeypatch):
    monkeypatch.setattr("annotation.replay.events.CHUNK", chunk)
    monkeypatch.setattr("annotation.replay.events.BATCH", 2)
    attempts = [worked(ann), worked(ben), make_attempt(ann)]
    study = attempts[0].slot.study
    Slot.objects.update(study=study)
    chunks = list(export(study, "events", "jsonl"))
    assert max(len(each.splitlines()) for each in chunks) <= chunk
    rows = lines_of(chunks)
    assert list(dict.fromkeys(row["attempt"] for row in rows)) == [attempt.pk for attempt in attempts]
    for attempt in attempts[:2]:
        assert [
            row["detail"]["revision"]
            for row in rows
            if (row["attempt"], row["event"]) == (attempt.pk, "draft")
        ] == [1, 2, 3, 4]


def test_an_attempt_that_has_just_begun_has_one_step_and_a_page(ann, curator):
    attempt = make_attempt(ann)
    page = browser(curator).get(reverse("replay", args=[attempt.pk])).content.decode()
    assert "step 0 of 0" in page
    assert "The verdict" not in page
    Run.objects.all().delete()
    assert lines_of(attempt_events(attempt))[0]["event"] == "started"


def test_the_bar_is_drawn_within_its_frame_and_says_itself_in_words(ann):
    timeline = timeline_of(whole(worked(ann)))
    drawn = span_bar(
        timeline.intervals, [Sign(9e9, "!")], total=timeline.seconds, now=-5, label=timeline.label
    )
    assert 'aria-label="Timeline of 25:00' in drawn
    assert 'x="100.00%" y="46">!' in drawn
    assert "paused 6:00" in drawn
    assert span_bar((), (), total=0, now=0, label="").startswith("<svg")
