"""Every socket is tried by everybody: admitted are those it may, and nobody is sent a mark that is not theirs."""

from __future__ import annotations

import re

import pytest
from asgiref.sync import async_to_sync
from asgiref.testing import ApplicationCommunicator
from channels.layers import get_channel_layer
from django.conf import settings

from annotation.models import Attempt
from annotation.runs import listener_of
from config.asgi import application
from tests.blindness.routes import socket_routes
from tests.blindness.rules import SOCKET_RULES
from tests.blindness.world import KINDS, World, client_of, make_world


def test_every_socket_has_a_rule():
    assert sorted(socket_routes()) == sorted(SOCKET_RULES)


async def heard(path: str, headers: list[tuple[bytes, bytes]], *groups: str) -> tuple[bool, list[list[str]]]:
    """Return whether a socket is admitted, and what it is sent at once, then as executions of each group change."""
    scope = {"type": "websocket", "path": path, "headers": headers, "query_string": b"", "subprotocols": []}
    socket = ApplicationCommunicator(application, scope)
    await socket.send_input({"type": "websocket.connect"})
    admitted = (await socket.receive_output(20))["type"] == "websocket.accept"
    said = [await _until_silent(socket)] if admitted else []
    for group in groups if admitted else ():
        change = {"type": "execution.changed", "execution": 1, "sequence": 1, "open": False}
        await get_channel_layer().group_send(group, change)
        said.append(await _until_silent(socket))
    await socket.send_input({"type": "websocket.disconnect", "code": 1000})
    await socket.wait(20)
    return admitted, said


async def _until_silent(socket: ApplicationCommunicator) -> list[str]:
    said = []
    while not await socket.receive_nothing(timeout=0.5):
        said.append(str(await socket.receive_output()))
    return said


def headers_of(world: World, kind: str) -> list[tuple[bytes, bytes]]:
    """Return the headers by which a browser of that kind of person opens a socket."""
    headers = [(b"origin", b"http://127.0.0.1"), (b"host", b"127.0.0.1")]
    if cookies := client_of(world, kind).cookies:
        session = cookies[settings.SESSION_COOKIE_NAME].value
        headers.append((b"cookie", f"{settings.SESSION_COOKIE_NAME}={session}".encode()))
    return headers


@pytest.mark.parametrize("pattern", sorted(SOCKET_RULES))
@pytest.mark.parametrize("kind", KINDS)
def test_socket_admits_those_it_may_and_sends_no_mark_to_those_who_may_not_see_it(
    kind: str, pattern: str, transactional_db: None
):
    """An admitted page is sent the state at once, so there is something to look at; then it hears of its own changes only."""
    world = make_world()
    rule = SOCKET_RULES[pattern]
    path = "/" + re.sub(r"<(?:\w+:)?(\w+)>", lambda found: str(rule.arguments(world)[found[1]]), pattern)
    others = [listener_of(attempt) for attempt in Attempt.objects.exclude(pk=world.attempt.pk)]
    assert others
    groups = (*others, listener_of(world.attempt))
    admitted, said = async_to_sync(heard)(path, headers_of(world, kind), *groups)
    assert admitted is (kind in rule.who)
    if admitted:
        assert [bool(frames) for frames in said] == [True, *(False for _ in others), True]
    marks = world.forbidden(kind)
    assert [mark for mark in marks for frames in said for text in frames if mark in text] == []
