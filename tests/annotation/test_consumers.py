"""The socket of the workspace: who is admitted, what is sent, how often, and when it closes."""

from __future__ import annotations

import asyncio
import time
from typing import Any

import pytest
from asgiref.sync import sync_to_async
from asgiref.testing import ApplicationCommunicator
from channels.layers import get_channel_layer
from channels.routing import URLRouter
from django.contrib.auth.models import AnonymousUser
from django.utils import timezone

from annotation.accounts import create_account, set_active
from annotation.attempts import give_up
from annotation.consumers import INTERVAL_SECONDS, SIGNED_OUT
from annotation.models import Attempt
from annotation.routing import websocket_urlpatterns
from annotation.runs import listener_of, run_visible, submit
from config.access import Role
from runner.events import announce
from runner.models import TestRow
from runner.outcome import Outcome
from tests.annotation.factories import WRONG, finish, make_attempt

pytestmark = pytest.mark.django_db(transaction=True)


def person(name: str, role: Role = Role.ANNOTATOR):
    return create_account(username=name, role=role, password=None)


class PageSocket(ApplicationCommunicator):
    """A page's end of the socket, as far as these tests need one (channels' own asks for daphne)."""

    async def connect(self) -> bool:
        await self.send_input({"type": "websocket.connect"})
        return (await self.receive_output(30))["type"] == "websocket.accept"

    async def receive_from(self) -> str:
        said = await self.receive_output(30)
        assert said["type"] == "websocket.send", said
        return str(said["text"])

    async def send_to(self, text: str) -> None:
        await self.send_input({"type": "websocket.receive", "text": text})

    async def disconnect(self) -> None:
        await self.send_input({"type": "websocket.disconnect", "code": 1000})
        await self.wait(30)


def socket(attempt: Attempt, user: Any) -> PageSocket:
    path = f"/ws/attempts/{attempt.pk}/"
    scope = {
        "type": "websocket",
        "path": path,
        "headers": [],
        "query_string": b"",
        "subprotocols": [],
        "user": user,
    }
    return PageSocket(URLRouter(websocket_urlpatterns), scope)


@pytest.fixture
def ann_now(transactional_db: None):
    return person("ann")


@pytest.fixture
def attempt(ann_now) -> Attempt:
    return make_attempt(ann_now)


@pytest.mark.parametrize("kind", ["stranger", "curator", "anonymous", "deactivated"])
async def test_nobody_but_the_annotator_is_admitted(attempt, kind):
    if kind == "deactivated":
        admin = await sync_to_async(person)("admin", Role.ADMIN)
        await sync_to_async(set_active)(attempt.annotator, active=False, by=admin)
        user = attempt.annotator
    elif kind == "anonymous":
        user = AnonymousUser()
    else:
        user = await sync_to_async(person)(kind, Role.CURATOR if kind == "curator" else Role.ANNOTATOR)
    assert not await socket(attempt, user).connect()


async def test_who_connects_gets_the_full_state_and_then_every_change(attempt):
    run = await sync_to_async(run_visible)(attempt, function=WRONG, module="", key="k", now=timezone.now())
    page = socket(attempt, attempt.annotator)
    assert await page.connect()
    assert "queued" in await page.receive_from()
    await sync_to_async(TestRow.objects.create)(
        execution=run.execution, number=1, test="test_with_tax", assertion=1, outcome="PASSED", line=2
    )
    await sync_to_async(finish)(run)
    await sync_to_async(announce)(run.execution)
    text = await page.receive_from()
    assert 'id="execution" hx-swap-oob="morph"' in text
    assert "1 passed" in text
    await page.disconnect()


async def test_changes_that_come_close_together_are_few_messages(attempt):
    page = socket(attempt, attempt.annotator)
    await page.connect()
    await page.receive_from()
    layer, began = get_channel_layer(), time.monotonic()
    for number in range(60):
        await layer.group_send(
            listener_of(attempt),
            {"type": "execution.changed", "execution": 1, "sequence": number, "open": True},
        )
        await asyncio.sleep(0.005)
    await asyncio.sleep(0.3)
    allowed = (time.monotonic() - began) / INTERVAL_SECONDS + 2
    count = 0
    while not await page.receive_nothing(0.1):
        await page.receive_from()
        count += 1
    assert 1 <= count <= min(allowed, 59)
    await page.disconnect()


async def test_nothing_said_under_hidden_tests_is_sent(attempt):
    run = await sync_to_async(submit)(attempt, function=WRONG, module="", key="k", now=timezone.now())
    await sync_to_async(TestRow.objects.create)(
        execution=run.execution,
        number=1,
        test="test_with_tax",
        outcome="FAILED",
        message="LEAK",
        values=["LEAK"],
    )
    run.execution.stdout = run.execution.stderr = run.execution.load_error = "LEAK"
    await sync_to_async(run.execution.save)()
    await sync_to_async(finish)(run, Outcome.FAILED)
    page = socket(attempt, attempt.annotator)
    await page.connect()
    text = await page.receive_from()
    assert "0 of 1" in text
    assert "LEAK" not in text
    assert "23.99" not in text
    await page.disconnect()


async def test_it_takes_no_input(attempt):
    page = socket(attempt, attempt.annotator)
    await page.connect()
    await page.receive_from()
    await page.send_to('{"function": "x"}')
    assert await page.receive_nothing(0.3)
    assert await sync_to_async(attempt.drafts.count)() == 0
    await page.disconnect()


async def test_signing_out_closes_it_for_good(attempt):
    page = socket(attempt, attempt.annotator)
    await page.connect()
    await page.receive_from()
    layer = get_channel_layer()
    await layer.group_send(f"person-{attempt.annotator_id}", {"type": "person.left"})
    assert (await page.receive_output(30))["code"] == SIGNED_OUT


async def test_who_was_deactivated_is_sent_nothing_more(attempt):
    page = socket(attempt, attempt.annotator)
    await page.connect()
    await page.receive_from()
    admin = await sync_to_async(person)("admin", Role.ADMIN)
    attempt.annotator.is_active = False
    await sync_to_async(attempt.annotator.save)()
    assert admin
    layer = get_channel_layer()
    await layer.group_send(
        listener_of(attempt), {"type": "execution.changed", "execution": 1, "sequence": 1, "open": False}
    )
    assert (await page.receive_output(30))["type"] == "websocket.close"


async def test_a_look_by_the_socket_ends_the_work_when_a_submission_has_passed(attempt):
    run = await sync_to_async(submit)(attempt, function=WRONG, module="", key="k", now=timezone.now())
    await sync_to_async(finish)(run)
    page = socket(attempt, attempt.annotator)
    await page.connect()
    assert "Say how it went" in await page.receive_from()
    await attempt.arefresh_from_db()
    assert attempt.state == "submitted"
    await page.disconnect()


async def test_a_given_up_attempt_is_still_its_annotators(attempt):
    await sync_to_async(give_up)(attempt, reason="no", now=timezone.now())
    page = socket(attempt, attempt.annotator)
    assert await page.connect()
    await page.disconnect()
