"""Every route and API operation is tried as anonymous, stranger, fellow annotator and owner: nobody is sent
a reference, a hidden test or another's work. A route without a rule in tests/blindness/rules.py fails by its name."""

from __future__ import annotations

import re
from collections.abc import Iterator
from copy import deepcopy
from typing import Any

import pytest
from django.core.management import call_command
from django.http import HttpResponseBase
from django.test import Client
from django.urls import resolve, reverse
from pytest_django import DjangoDbBlocker

from tests.blindness.routes import Route, api_operations, http_routes
from tests.blindness.rules import HELD_OUT as HELD_OUT_ROUTES
from tests.blindness.rules import RULES, Rule, is_of_a_library, rule_for
from tests.blindness.world import (
    CONTEXT,
    HELD_OUT,
    HIDDEN,
    KINDS,
    OTHERS,
    OTHERS_TEXT,
    OUTPUT,
    OWN,
    REFERENCE,
    VISIBLE,
    World,
    client_of,
    make_world,
)

ROUTES = http_routes()
FILL = {
    "object_id": "1",
    "content_type_id": "1",
    "app_label": "auth",
    "url": "nothing",
    "key": "x",
    "uidb36": "1",
}


@pytest.fixture(scope="module")
def made(django_db_setup: None, django_db_blocker: DjangoDbBlocker) -> Iterator[World]:
    """The marked example and the people around it, committed: making them takes longer than trying a route."""
    with django_db_blocker.unblock():
        world = make_world()
    yield world
    with django_db_blocker.unblock():
        call_command("flush", verbosity=0, interactive=False)


@pytest.fixture
def world(made: World, db: None) -> World:
    """The world as it was made: what a test changes in it is rolled back."""
    return deepcopy(made)


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


def kept_by(response: HttpResponseBase) -> set[str]:
    """Return the words of the answer's Cache-Control."""
    return {word.strip() for word in response.headers.get("Cache-Control", "").split(",")}


def answers(path: str, form: dict[str, Any], client: Client) -> list[tuple[str, Any]]:
    """Return what a browser gets by GET and by POST with the form, each also as htmx asks, and as a page's script does."""
    by_htmx, by_script = {"HX-Request": "true"}, {"Accept": "application/json"}
    return [
        ("GET", client.get(path)),
        ("GET by htmx", client.get(path, headers=by_htmx)),
        ("POST", client.post(path, form)),
        ("POST by htmx", client.post(path, form, headers=by_htmx)),
        ("POST by a script", client.post(path, form, headers=by_script)),
    ]


def test_every_route_has_a_rule():
    unruled = [f"{route.pattern} ({route.name})" for route in ROUTES if rule_for(route) is None]
    assert unruled == [], "these routes have no rule in tests/blindness/rules.py"


def test_every_rule_has_a_route():
    assert sorted(set(RULES) - {route.name for route in ROUTES}) == []


@pytest.mark.parametrize("route", [r for r in ROUTES if rule_for(r)], ids=lambda route: route.pattern)
def test_route_serves_those_it_may_and_sends_no_mark_to_those_who_may_not_see_it(route: Route, world: World):
    """Curators are served what the rule builds, so the refusals of the others are of something real."""
    rule = rule_for(route)
    assert rule
    path = path_of(route, rule, world)
    for kind in KINDS:
        seen = answers(path, rule.form(world), client_of(world, kind))
        for method, response in seen:
            where = f"{method} {route.pattern} as {kind}"
            assert not broken(response), f"{where} breaks"
            text = everything_in(response)
            assert [mark for mark in world.forbidden(kind) if mark in text] == [], f"{where} gives away"
            if kind not in rule.who:
                assert refused(response), f"{where} is served ({response.status_code})"
            if kind != "anonymous":
                assert {"private", "no-store"} & kept_by(response), f"{where} may be kept by a cache"
        if kind in rule.who and not is_of_a_library(route):
            assert not all(refused(response) for _, response in seen), f"{route.pattern} refuses {kind}"


@pytest.mark.parametrize("name", sorted(HELD_OUT_ROUTES))
def test_what_is_held_out_is_absent_for_readers_and_there_for_curators(name: str, world: World):
    path = reverse(name, kwargs=HELD_OUT_ROUTES[name](world))
    for kind in KINDS[:-1]:
        response = client_of(world, kind).get(path)
        assert refused(response), f"{path} as {kind} ({response.status_code})"
        assert HELD_OUT not in everything_in(response)
    assert HELD_OUT in everything_in(client_of(world, "curator").get(path))


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
    (kept,) = world.frozen.items.filter(split__held_out=True)
    assert kept.version == world.kept
    assert HELD_OUT in kept.line
    (shown,) = world.frozen.items.filter(split__held_out=False)
    assert REFERENCE in shown.line


EXAMPLES_OF = {"number": "1.0.0", "id": "1", "name": "marked", "file": "test.jsonl", "split": "test"}


@pytest.mark.parametrize(("method", "path"), api_operations())
def test_every_operation_of_the_api_schema_leads_to_a_route_with_a_rule_and_only_reads(
    method: str, path: str
):
    """The schema's paths are routes of the resolver, tried above by GET and POST; another method needs a trial."""
    filled = re.sub(r"\{(\w+)\}", lambda found: EXAMPLES_OF[found[1]], path)
    assert resolve(filled).view_name in RULES, f"{method} {path} has no rule in tests/blindness/rules.py"
    assert method in ("get", "post"), f"{method} {path} is tried by no test here"
