"""Every route, socket and API operation is tried as anonymous, stranger, fellow annotator and owner: nobody is sent
a reference, a hidden test or another's work. A route without a rule in tests/blindness/rules.py fails by its name."""

from __future__ import annotations

import re
from typing import Any

import pytest
from asgiref.sync import async_to_sync
from asgiref.testing import ApplicationCommunicator
from django.conf import settings
from django.http import HttpResponseBase
from django.test import Client
from django.urls import resolve, reverse

from config.asgi import application
from tests.blindness.routes import Route, api_operations, http_routes, socket_routes
from tests.blindness.rules import RULES, SOCKET_RULES, Rule, is_of_a_library, rule_for
from tests.blindness.world import (
    CONTEXT,
    HIDDEN,
    OTHERS,
    OTHERS_TEXT,
    OUTPUT,
    OWN,
    PRIVATE,
    REFERENCE,
    SECRET,
    VISIBLE,
    World,
    make_world,
)

FORBIDDEN = {
    "anonymous": PRIVATE,
    "stranger": PRIVATE,
    "other": (REFERENCE, HIDDEN, OUTPUT, OWN),
    "owner": SECRET,
}
ROUTES = http_routes()
FILL = {
    "object_id": "1",
    "content_type_id": "1",
    "app_label": "auth",
    "url": "nothing",
    "key": "x",
    "uidb36": "1",
}


@pytest.fixture
def world(db: None) -> World:
    """The marked example and the people around it."""
    return make_world()


def path_of(route: Route, rule: Rule, world: World) -> str:
    """Return the route's path with its arguments."""
    if not is_of_a_library(route):
        return reverse(route.name, kwargs=rule.arguments(world))
    path = re.sub(r"\(\?P<(\w+)>(?:[^()]|\([^()]*\))*\)", lambda found: FILL[found[1]], route.pattern)
    path = re.sub(r"<(?:\w+:)?(\w+)>", lambda found: FILL[found[1]], path)
    return "/" + path.replace("^", "").replace("$", "")


def asks_to_sign_in(response: HttpResponseBase) -> bool:
    """Return whether the answer leads to a sign-in page."""
    return response.status_code == 302 and "/login/" in response.headers["Location"]


def refused(response: HttpResponseBase) -> bool:
    """Return whether the answer gives nothing away: sign in first, absent, or not by this method."""
    return asks_to_sign_in(response) or response.status_code in (401, 403, 404, 405)


def broken(response: HttpResponseBase) -> bool:
    """Return whether the answer is a fault of ours; 503 is what a health page says while no worker runs."""
    return response.status_code >= 500 and response.status_code != 503


def everything_in(response: Any) -> str:
    """Return the headers and the whole body of an answer, streamed or not."""
    body = b"".join(response.streaming_content) if response.streaming else response.content
    return str(response.headers) + body.decode(errors="replace")


def client_of(world: World, kind: str) -> Client:
    """Return a browser signed in as that kind of person; a fault of the site answers 500 instead of raising."""
    client = Client(raise_request_exception=False)
    if person := world.person(kind):
        client.force_login(person, backend="django.contrib.auth.backends.ModelBackend")
    return client


def answers(route: Route, rule: Rule, world: World, kind: str) -> list[tuple[str, Any]]:
    """Return what the kind of person gets by GET, by GET as htmx, and by POST with the rule's form."""
    client, path = client_of(world, kind), path_of(route, rule, world)
    return [
        ("GET", client.get(path)),
        ("GET by htmx", client.get(path, headers={"HX-Request": "true"})),
        ("POST", client.post(path, rule.form(world))),
    ]


def test_every_route_has_a_rule():
    unruled = [f"{route.pattern} ({route.name})" for route in ROUTES if rule_for(route) is None]
    assert unruled == [], "these routes have no rule in tests/blindness/rules.py"


def test_every_rule_has_a_route():
    assert sorted(set(RULES) - {route.name for route in ROUTES}) == []


@pytest.mark.parametrize("route", [r for r in ROUTES if rule_for(r)], ids=lambda route: route.pattern)
def test_route_serves_those_it_may_and_sends_no_mark_to_those_who_may_not_see_it(route: Route, world: World):
    rule = rule_for(route)
    assert rule
    for kind in ("anonymous", "stranger", "other", "owner"):
        seen = answers(route, rule, world, kind)
        for method, response in seen:
            where = f"{method} {route.pattern} as {kind}"
            assert not broken(response), f"{where} breaks"
            text = everything_in(response)
            assert [mark for mark in FORBIDDEN[kind] if mark in text] == [], f"{where} gives away"
            if kind not in rule.who:
                assert refused(response), f"{where} is served ({response.status_code})"
        if kind in rule.who and not is_of_a_library(route):
            assert not all(refused(response) for _, response in seen), f"{route.pattern} refuses {kind}"


@pytest.mark.parametrize(
    "route",
    [r for r in ROUTES if r.name in RULES and "curator" in RULES[r.name].who],
    ids=lambda r: r.pattern,
)
def test_curators_reach_what_the_rule_builds_so_the_refusals_above_are_of_something_real(
    route: Route, world: World
):
    seen = answers(route, RULES[route.name], world, "curator")
    assert not all(refused(response) for _, response in seen)
    assert [method for method, response in seen if broken(response)] == []


def test_the_world_holds_every_mark(world: World):
    """Were a mark lost on the way into the database, all of the above would pass for nothing."""
    version = world.version
    hidden = str(version.segments)
    assert CONTEXT in version.context
    assert REFERENCE in version.reference
    assert VISIBLE in hidden
    assert HIDDEN in hidden
    assert OWN in world.attempt.drafts.get().function
    assert OTHERS in world.submission.function
    assert OTHERS_TEXT in world.others_attempt.verdict.text
    assert OUTPUT in world.submission.execution.rows.get().message


EXAMPLES_OF = {"number": "1.0.0", "id": "1", "name": "marked", "file": "test.jsonl", "split": "test"}


@pytest.mark.parametrize(("method", "path"), api_operations())
def test_every_operation_of_the_api_schema_leads_to_a_route_with_a_rule_and_only_reads(
    method: str, path: str
):
    """The schema's paths are routes of the resolver, tried above by GET and POST; another method needs a trial."""
    filled = re.sub(r"\{(\w+)\}", lambda found: EXAMPLES_OF[found[1]], path)
    assert resolve(filled).view_name in RULES, f"{method} {path} has no rule in tests/blindness/rules.py"
    assert method in ("get", "post"), f"{method} {path} is tried by no test here"


def test_every_socket_has_a_rule():
    assert sorted(socket_routes()) == sorted(SOCKET_RULES)


async def heard(path: str, headers: list[tuple[bytes, bytes]]) -> tuple[bool, list[str]]:
    """Return whether a socket is admitted, and what it is sent at once."""
    scope = {"type": "websocket", "path": path, "headers": headers, "query_string": b"", "subprotocols": []}
    socket = ApplicationCommunicator(application, scope)
    await socket.send_input({"type": "websocket.connect"})
    admitted = (await socket.receive_output(20))["type"] == "websocket.accept"
    said = []
    while admitted and not await socket.receive_nothing(timeout=0.5):
        said.append(str(await socket.receive_output()))
    await socket.send_input({"type": "websocket.disconnect", "code": 1000})
    await socket.wait(20)
    return admitted, said


@pytest.mark.parametrize("pattern", sorted(SOCKET_RULES))
@pytest.mark.parametrize("kind", ["anonymous", "stranger", "other", "owner", "curator"])
def test_socket_admits_those_it_may_and_sends_no_mark_to_those_who_may_not_see_it(
    kind: str, pattern: str, transactional_db: None
):
    world = make_world()
    rule = SOCKET_RULES[pattern]
    path = "/" + re.sub(r"<(?:\w+:)?(\w+)>", lambda found: str(rule.arguments(world)[found[1]]), pattern)
    cookies = client_of(world, kind).cookies
    headers = [(b"origin", b"http://127.0.0.1"), (b"host", b"127.0.0.1")]
    if cookies:
        session = cookies[settings.SESSION_COOKIE_NAME].value
        headers.append((b"cookie", f"{settings.SESSION_COOKIE_NAME}={session}".encode()))
    admitted, said = async_to_sync(heard)(path, headers)
    assert admitted is (kind in rule.who)
    assert bool(said) is admitted, (
        "an admitted page is sent the state at once, so there is something to look at"
    )
    assert [mark for mark in FORBIDDEN.get(kind, PRIVATE) for text in said if mark in text] == []
