"""Listeners hear ids, seldom enough, and a channel layer that is away costs nobody anything."""

from __future__ import annotations

import time
from dataclasses import replace

import pytest
from asgiref.sync import async_to_sync
from channels.layers import get_channel_layer

from runner import events, recording
from runner.execution import execute
from runner.models import Execution
from runner.outcome import Outcome, Row
from tests.runner.fakes import PASSED, queued, sandboxed

pytestmark = pytest.mark.django_db


def test_a_listener_hears_the_id_and_the_sequence():
    async def listen():
        layer = get_channel_layer()
        await layer.group_add("attempt-7", "page")
        await events._send("attempt-7", {"type": "execution.changed", "execution": 17, "sequence": 5})
        return await layer.receive("page")

    assert async_to_sync(listen)() == {"type": "execution.changed", "execution": 17, "sequence": 5}


def test_a_channel_layer_that_fails_is_logged_and_not_raised(monkeypatch, caplog):
    class Away:
        async def group_send(self, group, message):
            raise ConnectionError("no Redis")

    monkeypatch.setattr(events, "get_channel_layer", Away)
    events.announce(Execution(pk=1, listener="attempt-7", sequence=1))
    assert "no Redis" in caplog.text


def test_nobody_is_told_of_what_nobody_listens_to(monkeypatch):
    monkeypatch.setattr(events, "get_channel_layer", lambda: pytest.fail("somebody was told"))
    events.announce(Execution(pk=1, sequence=1))


def test_a_run_with_many_rows_is_announced_at_most_twenty_times_a_second(monkeypatch):
    run = queued(listener="attempt-7")
    heard = []
    monkeypatch.setattr(recording, "announce", lambda execution: heard.append(time.monotonic()))

    def chatter(on_started, on_row):
        on_started()
        for number in range(1, 200):
            on_row(Row("test_one", number, Outcome.PASSED))
            time.sleep(0.003)
        return replace(
            PASSED, rows=(*(Row("test_one", n, Outcome.PASSED) for n in range(1, 200)), PASSED.rows[1])
        )

    with sandboxed(monkeypatch, chatter):
        execute(run.pk)
    assert Execution.objects.get(pk=run.pk).rows.count() == 200
    assert 3 < len(heard) <= 20 * (heard[-1] - heard[0]) + 3


def test_the_first_row_is_saved_at_once(monkeypatch):
    run = queued(listener="attempt-7")
    seen = []
    monkeypatch.setattr(recording, "announce", lambda execution: seen.append(execution.rows.count()))

    def one_then_wait(on_started, on_row):
        on_started()
        on_row(PASSED.rows[0])
        time.sleep(0.3)
        on_row(PASSED.rows[1])
        return PASSED

    with sandboxed(monkeypatch, one_then_wait):
        execute(run.pk)
    assert 1 in seen


def test_sequence_grows_with_every_change(monkeypatch):
    run = queued(listener="attempt-7")
    with sandboxed(monkeypatch, PASSED):
        execute(run.pk)
    assert Execution.objects.get(pk=run.pk).sequence >= 2


@pytest.mark.parametrize(
    ("state", "more"), [("queued", True), ("running", True), ("finished", False), ("unjudged", False)]
)
def test_it_is_said_whether_more_is_to_come(monkeypatch, state, more):
    sent = []

    async def keep(group, message):
        sent.append((group, message["open"]))

    monkeypatch.setattr(events, "_send", keep)
    events.announce(Execution(pk=17, listener="attempt-7", sequence=5, state=state))
    assert sent == [("attempt-7", more)]
