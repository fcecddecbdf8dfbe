"""Who may do what: the four roles and the doors that ask for them; imports no app."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, Protocol

from django.contrib.auth.decorators import login_required
from django.db.models import TextChoices
from django.http import Http404, HttpResponseBase


class Role(TextChoices):
    """An account has exactly one role; an admin may do everything that a curator may."""

    ANNOTATOR = "annotator", "annotator"
    CURATOR = "curator", "curator"
    READER = "reader", "reader"
    ADMIN = "admin", "admin"


class Person(Protocol):
    """What every app may know of the account behind a request; the model itself lives in `annotation`."""

    pk: Any
    role: str
    pseudonym: str

    @property
    def is_authenticated(self) -> bool:
        """Whether somebody is signed in."""
        ...

    @property
    def curates(self) -> bool:
        """Whether the account may do what a curator may."""
        ...

    @property
    def administers(self) -> bool:
        """Whether the account manages accounts and settings."""
        ...


View = Callable[..., HttpResponseBase]


def _needs(holds: Callable[[Any], bool]) -> Callable[[View], View]:
    """Return a decorator that signs people in, then answers 404 to those for whom `holds` is false.

    Refused and absent look the same (design.md, Security), so a refusal is never a 403.
    """

    def decorate(view: View) -> View:
        @wraps(view)
        def guarded(request: Any, *args: Any, **kwargs: Any) -> HttpResponseBase:
            if not holds(request.user):
                raise Http404
            return view(request, *args, **kwargs)

        return login_required(guarded)

    return decorate


curator_required = _needs(lambda person: person.curates)
admin_required = _needs(lambda person: person.administers)
annotator_required = _needs(lambda person: person.role == Role.ANNOTATOR)
reader_required = _needs(lambda person: person.curates or person.role == Role.READER)
