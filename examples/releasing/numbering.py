"""RELEASE: semantic version numbers; pure (semver.org 2.0.0, without pre-release and build parts)."""

from __future__ import annotations

import re
from collections.abc import Iterable

_NUMBER = re.compile(r"(0|[1-9]\d{0,8})\.(0|[1-9]\d{0,8})\.(0|[1-9]\d{0,8})", re.ASCII)
Number = tuple[int, int, int]


class NumberRefused(ValueError):
    """The number is no semantic version, or does not grow; the message says so."""


def parse_number(text: str) -> Number:
    """Return (major, minor, patch). Raises NumberRefused for anything but three plain numbers."""
    found = _NUMBER.fullmatch(text)
    if found is None:
        raise NumberRefused(f"{text} is no semantic version: three numbers with dots, such as 1.0.0.")
    major, minor, patch = map(int, found.groups())
    return major, minor, patch


def must_grow(text: str, frozen: Iterable[str]) -> None:
    """Raise NumberRefused unless the number is above every number published under the name."""
    number = parse_number(text)
    highest = max((parse_number(each) for each in frozen), default=None)
    if highest is not None and number <= highest:
        shown = ".".join(map(str, highest))
        raise NumberRefused(f"{text} does not grow: {shown} is published, and a number is never used again.")


def next_numbers(frozen: Iterable[str]) -> tuple[str, str, str]:
    """Return the next major, minor and patch number; 1.0.0, 0.1.0 and 0.0.1 where nothing is published."""
    major, minor, patch = max((parse_number(each) for each in frozen), default=(0, 0, 0))
    return f"{major + 1}.0.0", f"{major}.{minor + 1}.0", f"{major}.{minor}.{patch + 1}"
