"""ATTEMPT: what the workspace tells and takes: conflicts with their difference, runs compared, hashes, pastes, giving up."""

from __future__ import annotations

import hashlib
from datetime import timedelta

import pytest
from django.contrib.sessions.models import Session
from django.urls import reverse
from django.utils import timezone

from annotation.attempts import Refused, give_up
from annotation.drafts import save_draft
from annotation.models import Attempt, Draft, Paste, Protocol, User
from annotation.panel import panel_of
from annotation.pastes import PASTES_PER_MINUTE, record_paste
from annotation.runs import run_visible
from annotation.workspace import LINES_COMPARED, context_view, difference_of
from examples.assembly import Answer, Origin
from examples.languages.ways import ways
from runner.models import Execution
from runner.outcome import Outcome
from tests.annotation.factories import WRONG, finish, make_attempt, make_version, work_for
from tests.annotation.test_pages import HTMX, JSON, browser, code

SHOP = '''"""A shop."""


class Shop:
    open = True

    @property
    def sign(self) -> str:
        """Say whether it is open."""
        return "open" if self.open else "closed"


def test_sign():
    assert Shop().sign == "open"
'''


@pytest.fixture
def attempt(ann: User) -> Attempt:
    return make_attempt(ann)


def test_the_context_says_where_helpers_go_and_how_deep_the_function_stands(db):
    version = make_version(source=SHOP, focal="Shop.sign", focal_name="Shop.sign")
    view = context_view(version)
    lines = view.text.split("\n")
    assert lines[view.helpers - 1] == "class Shop:"
    assert (view.focal, lines[6], view.indent) == ("7-9", "    @property", 4)
    its = ways("python")
    answer = Answer(its.starting_answer(version.context, version.gap), "def helper():\n    return 1\n")
    assembled = its.assemble(version.context, version.gap, answer)
    assert assembled.lines.index(Origin("module", 1)) == view.helpers - 1


def test_a_conflict_tells_what_differs_and_escapes_it(attempt):
    save_draft(attempt, function="a = 1\n<i>\n", module="", base_revision=0)
    told = browser(attempt.annotator).post(
        reverse("draft", args=[attempt.pk]), code("a = 1\n<script>\n"), headers=JSON
    )
    assert (told.status_code, told.json()["function"]) == (409, "a = 1\n<i>\n")
    difference = told.json()["diff"]
    assert "&lt;i&gt;" in difference
    assert "&lt;script&gt;" in difference
    assert "<script>" not in difference
    page = browser(attempt.annotator).post(reverse("draft", args=[attempt.pk]), code("b\n"))
    assert page.status_code == 409
    assert 'class="l del"' in page.content.decode()


def test_texts_without_measure_are_not_compared():
    long = Draft(function="x\n" * (LINES_COMPARED + 1))
    assert "Too long" in difference_of(long, Draft(function="y"))


def test_two_runs_are_compared_in_either_order_and_others_runs_never(attempt, ben):
    for number, function in enumerate(["one\n", "two\n"], 1):
        finish(run_visible(attempt, function=function, module="", key=f"k{number}", now=timezone.now()))
    address = reverse("run_changes", args=[attempt.pk])
    client = browser(attempt.annotator)
    forth = client.get(f"{address}?from=1&to=2", headers=HTMX).content.decode()
    back = client.get(f"{address}?from=2&to=1", headers=HTMX).content.decode()
    assert forth.index("one") < forth.index("two")
    assert back.index("two") < back.index("one")
    assert 'id="run_changes"' in forth
    assert "<html" not in forth
    for wrong in ("?from=1&to=9", "?from=x", ""):
        assert "no such run" in client.get(address + wrong).content.decode()
    assert browser(ben).get(f"{address}?from=1&to=2").status_code == 404


def test_code_that_arrives_with_another_hash_starts_nothing(attempt):
    client, address = browser(attempt.annotator), reverse("submit", args=[attempt.pk])
    right = hashlib.sha256(f"{WRONG}\0".encode()).hexdigest()
    refused = client.post(address, code(sha256="0" * 64), headers=HTMX)
    assert refused.status_code == 422
    assert "not what the page has sent" in refused.content.decode()
    assert not attempt.runs.exists()
    for _ in range(2):
        answer = client.post(address, code(sha256=right), headers=HTMX)
    assert attempt.runs.count() == 1
    said = answer.content.decode()
    assert right in said
    assert f"2 lines, {len(WRONG)} characters" in said


def test_a_run_tells_its_place_while_it_waits_and_its_time_while_it_runs(attempt):
    other = run_visible(make_attempt(attempt.annotator), function="a", module="", key="k", now=timezone.now())
    Execution.objects.filter(pk=other.execution_id).update(asker="somebody")
    run = run_visible(attempt, function=WRONG, module="", key="k", now=timezone.now())
    fresh, later = timezone.now(), timezone.now() + timedelta(seconds=3)
    assert panel_of(attempt, now=fresh).shown.way[:2] == (None, 0)  # nobody asks in the first half second
    assert panel_of(attempt, now=later).shown.way == (None, 1, 5.0)
    assert "queued, 1 before it" in _panel(attempt, ago=3)
    began = later - timedelta(seconds=2)
    Execution.objects.filter(pk=run.execution_id).update(state="running", claim="c", started_at=began)
    panel = panel_of(attempt, now=later)
    assert panel.shown.way == (2.0, 0, 5.0)
    assert panel.said == "Visible tests, run 1: running."
    assert 'data-limit="5.00"' in _panel(attempt, ago=3)


@pytest.mark.parametrize(
    ("outcome", "said"),
    [(Outcome.LOAD_ERROR, "load error, 1 not run"), (Outcome.FAILED, "1 not run")],
)
def test_who_hears_the_page_hears_why_nothing_ran(attempt, outcome, said):
    finish(run_visible(attempt, function=WRONG, module="", key="k", now=timezone.now()), outcome)
    assert panel_of(attempt, now=timezone.now()).said == f"Visible tests, run 1: {said}."


def _panel(attempt: Attempt, *, ago: int) -> str:
    """Return the panel as the page shows it, the runs having been asked for so many seconds ago."""
    attempt.runs.update(created_at=timezone.now() - timedelta(seconds=ago))
    return (
        browser(attempt.annotator).get(reverse("execution", args=[attempt.pk]), headers=HTMX).content.decode()
    )


def test_giving_up_is_offered_after_active_time_and_the_server_decides(attempt):
    Protocol.objects.filter(pk=attempt.protocol_id).update(give_up_after_seconds=600)
    now = timezone.now()
    work_for(attempt, minutes=5, until=now)
    attempt = Attempt.objects.get(pk=attempt.pk)
    with pytest.raises(Refused, match="10:00 of active time"):
        give_up(attempt, reason="no idea", now=now)
    assert panel_of(attempt, now=now, timed=True).give_up_in == 300
    work_for(attempt, minutes=11, until=now)
    give_up(Attempt.objects.get(pk=attempt.pk), reason="no idea", now=now)
    attempt.refresh_from_db()
    assert attempt.state == "submitted"


PASTE = {"editor": "function", "origin": "elsewhere", "characters": 40, "lines": 2}


def test_pastes_are_kept_only_where_the_protocol_says_so_and_each_once(attempt):
    client, address = browser(attempt.annotator), reverse("paste", args=[attempt.pk])
    assert client.post(address, {**PASTE, "key": "a"}).status_code == 204
    assert not Paste.objects.exists()
    Protocol.objects.filter(pk=attempt.protocol_id).update(records_pastes=True, consent_text="Sizes.")
    for key in ("a", "a", "b"):
        assert client.post(address, {**PASTE, "key": key}).status_code == 204
    assert list(Paste.objects.values_list("key", "characters")) == [("a", 40), ("b", 40)]
    for wrong in ({"origin": "moon"}, {"editor": "x"}, {"characters": "-1"}, {"lines": "many"}):
        assert client.post(address, {**PASTE, "key": "c", **wrong}).status_code == 422
    assert client.post(address, {"key": "c"}).status_code == 422


def test_pastes_are_bounded_and_end_with_the_work(attempt):
    Protocol.objects.filter(pk=attempt.protocol_id).update(records_pastes=True, consent_text="Sizes.")
    attempt = Attempt.objects.get(pk=attempt.pk)
    stored = [record_paste(attempt, key=str(at), **PASTE) for at in range(PASTES_PER_MINUTE + 1)]
    assert stored == [True] * PASTES_PER_MINUTE + [False]
    Paste.objects.all().delete()
    give_up(attempt, reason="no idea", now=timezone.now())
    attempt.refresh_from_db()
    assert not record_paste(attempt, key="z", **PASTE)


def test_the_session_of_somebody_who_works_ends_later(attempt):
    client = browser(attempt.annotator)
    session = Session.objects.get()
    Session.objects.update(expire_date=timezone.now() + timedelta(hours=1))
    for _ in range(2):
        client.post(reverse("beat", args=[attempt.pk]), {"tab": "t", "visible": "true"})
    session.refresh_from_db()
    assert session.expire_date > timezone.now() + timedelta(days=13)


def test_a_run_that_a_newer_one_replaced_is_nobodys_failure(attempt):
    work = {"function": WRONG, "module": "", "now": timezone.now()}
    first = run_visible(attempt, key="1", **work)
    run_visible(make_attempt(attempt.annotator), key="2", **work)  # one waits for each person, the newest
    first.execution.refresh_from_db()
    assert first.execution.state == "unjudged"
    assert panel_of(attempt, now=timezone.now()).said == "Visible tests, run 1: replaced by a newer one."
    page = browser(attempt.annotator).get(reverse("workspace", args=[attempt.pk])).content.decode()
    assert "replaced by a newer run before it began" in page
    assert "our failure" not in page
