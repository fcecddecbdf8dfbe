"""Navigation: the links of the header by role; a page that is not there yet is left out."""

from __future__ import annotations

from typing import NamedTuple

from django.urls import NoReverseMatch, reverse

from config.access import Role

_CURATING = (
    ("Examples", "examples"),
    ("Generation", "generation"),
    ("Adjudication", "adjudication"),
    ("Studies", "studies"),
    ("Models", "evaluations"),
    ("Releases", "releases"),
    ("Operations", "operations"),
)
_BY_ROLE = {
    Role.ANNOTATOR: (("My work", "work"),),
    Role.READER: (("Releases", "releases"), ("Leaderboard", "leaderboard")),
    Role.CURATOR: _CURATING,
    Role.ADMIN: _CURATING,
}


class Link(NamedTuple):
    """One entry of the header."""

    label: str
    address: str
    current: bool


def address_of(name: str) -> str:
    """Return the address of a URL name, "" where no such page exists."""
    try:
        return reverse(name)
    except NoReverseMatch:
        return ""


def links(role: str, path: str) -> list[Link]:
    """Return the header's links for a role; the one whose address begins the path, by the longest match, is current."""
    entries = _BY_ROLE[Role(role)] if role in Role.values else ()
    found = [(label, address) for label, name in entries if (address := address_of(name))]
    matches = [
        address for _, address in found if path == address or (address != "/" and path.startswith(address))
    ]
    best = max(matches, key=len, default=None)
    return [Link(label, address, address == best) for label, address in found]
