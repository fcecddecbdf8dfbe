"""Every route, socket and API operation is tried as anonymous, stranger, fellow annotator and owner: nobody is sent
a reference, a hidden test or another's work. A route without a rule in tests/blindness/rules.py fails by its name."""

from __future__ import annotations

import re
from typing import Any

import pytest
from django.http import HttpResponseBase
from django.test import Client
from django.urls import reverse

from tests.blindness.routes import Route, http_routes
from tests.blindness.rules import RULES, Rule, is_of_a_library, rule_for
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
    if not is_of_a_library(route.pattern):
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


@pytest.mark.parametrize("route", ROUTES, ids=lambda route: route.pattern)
def test_every_route_has_a_rule(route: Route):
    assert rule_for(route.pattern), f"{route.pattern} ({route.name}) has no rule in tests/blindness/rules.py"


def test_every_rule_has_a_route():
    assert sorted(set(RULES) - {route.pattern for route in ROUTES}) == []


@pytest.mark.parametrize("route", [r for r in ROUTES if rule_for(r.pattern)], ids=lambda route: route.pattern)
def test_route_serves_those_it_may_and_sends_no_mark_to_those_who_may_not_see_it(route: Route, world: World):
    rule = rule_for(route.pattern)
    assert rule
    for kind in ("anonymous", "stranger", "other", "owner"):
        seen = answers(route, rule, world, kind)
        for method, response in seen:
            where = f"{method} {route.pattern} as {kind}"
            assert response.status_code < 500, f"{where} breaks"
            text = everything_in(response)
            assert [mark for mark in FORBIDDEN[kind] if mark in text] == [], f"{where} gives away"
            if kind not in rule.who:
                assert refused(response), f"{where} is served ({response.status_code})"
        if kind in rule.who and not is_of_a_library(route.pattern):
            assert not all(refused(response) for _, response in seen), f"{route.pattern} refuses {kind}"


@pytest.mark.parametrize(
    "route",
    [r for r in ROUTES if r.pattern in RULES and "curator" in RULES[r.pattern].who],
    ids=lambda r: r.pattern,
)
def test_curators_reach_what_the_rule_builds_so_the_refusals_above_are_of_something_real(
    route: Route, world: World
):
    seen = answers(route, RULES[route.pattern], world, "curator")
    assert not all(refused(response) for _, response in seen)
    assert [method for method, response in seen if response.status_code >= 500] == []


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
