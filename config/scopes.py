"""What a token may read, by the role of its owner, and the permission that asks for it; imports no app."""

from __future__ import annotations

from typing import Any, cast

from django.http import Http404
from rest_framework.exceptions import PermissionDenied
from rest_framework.permissions import BasePermission
from rest_framework.request import Request

from config.access import Person, Role

RELEASES, EXAMPLES, STUDIES = "releases:read", "examples:read", "studies:read"
OPERATIONS = "operations:read"
MEANING = {
    RELEASES: "download frozen releases, references included",
    EXAMPLES: "read datasets and examples, references included",
    STUDIES: "read studies and their results",
    OPERATIONS: "read how the runner stands: queues, workers, failures",
}
_BY_ROLE: dict[str, tuple[str, ...]] = {
    Role.READER: (RELEASES,),
    Role.CURATOR: (RELEASES, EXAMPLES, STUDIES, OPERATIONS),
    Role.ADMIN: (RELEASES, EXAMPLES, STUDIES, OPERATIONS),
}


def scopes_of(role: str) -> tuple[str, ...]:
    """Return the scopes an account of this role may give a token; none for annotators."""
    return _BY_ROLE.get(role, ())


def person_of(request: Request) -> Person:
    """Return who asks; behind `HasScope` that is one of our accounts."""
    return cast(Person, request.user)


class HasScope(BasePermission):
    """Lets those in whose role, and whose token where one is used, has the view's `scope`.

    Who is not signed in gets 401. A role without the scope gets 404, as if the address did not exist: annotators
    must not learn what there is. A token without it gets 403, since its owner may simply make another.
    """

    def has_permission(self, request: Request, view: Any) -> bool:
        """Return whether the request goes on. Raises Http404 or PermissionDenied."""
        if not request.user or not request.user.is_authenticated:
            return False
        if view.scope not in scopes_of(getattr(request.user, "role", "")):
            raise Http404
        token: Any = request.auth
        if token is not None and view.scope not in token.scopes:
            raise PermissionDenied(f"This token lacks the scope {view.scope}.")
        return True
