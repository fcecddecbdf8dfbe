"""Who may use which route, and how its arguments are built: one rule for each route, none left out.

A rule of the table names the kinds of people whom the route serves, of

    anonymous   nobody signed in
    owner       the annotator whose open attempt it is
    other       an annotator of the same study, whose own attempt is closed
    stranger    an annotator who takes part in no study
    curator, reader, admin

and how to build the route's arguments and a form for it. `EVERYBODY` and `NOBODY` are meant literally. Those named get
an answer below 400 (405 where the route takes the other method only); everybody else gets the sign-in page or 401,
403 or 404. Nobody but curator and admin is sent a mark of tests/blindness/world.py that is not theirs.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from tests.blindness.world import World

EVERYBODY = frozenset({"anonymous", "owner", "other", "stranger", "curator", "reader", "admin"})
SIGNED_IN = EVERYBODY - {"anonymous"}
CURATES = frozenset({"curator", "admin"})
ADMIN = frozenset({"admin"})
OWNER = frozenset({"owner"})
PARTICIPANTS = frozenset({"owner", "other"})
NOBODY: frozenset[str] = frozenset()

Arguments = Callable[[World], dict[str, Any]]


def _none(_: World) -> dict[str, Any]:
    return {}


@dataclass(frozen=True)
class Rule:
    """Whom a route serves, its arguments, and the form that is sent to it."""

    who: frozenset[str]
    arguments: Arguments = _none
    form: Arguments = field(default=_none)


# By the pattern of the route from the site's root.
RULES: dict[str, Rule] = {
    "kit/": Rule(CURATES),
}

# Django's admin and allauth, whose routes are theirs to name: whoever is not served gets the sign-in page or 404, and
# nobody is sent a mark. The arguments of a route there are filled by kind (see `filled`).
LIBRARY_ROUTES = {
    "admin/": ADMIN,
    "accounts/": EVERYBODY,
}

# By the pattern of the websocket route: who is admitted, and its arguments.
SOCKET_RULES: dict[str, Rule] = {}


def rule_for(pattern: str) -> Rule | None:
    """Return the rule of a route, None when it has none."""
    if pattern in RULES:
        return RULES[pattern]
    return next((Rule(who) for start, who in LIBRARY_ROUTES.items() if pattern.startswith(start)), None)


def is_of_a_library(pattern: str) -> bool:
    """Return whether the route is named by the start of its pattern only."""
    return pattern not in RULES and any(pattern.startswith(start) for start in LIBRARY_ROUTES)
