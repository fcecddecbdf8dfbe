"""MODELS: ask again what failed for a while: a pause that doubles, or the one that the endpoint asks for."""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import TypeVar

from django.conf import settings

T = TypeVar("T")
# No endpoint keeps a worker longer than this between two tries, whatever it asks for.
LONGEST_PAUSE_SECONDS = 120.0


class TryLater(Exception):
    """It did not work this time. `after` is the pause in seconds that was asked for, None where none was.

    `charged` says whether the endpoint may have worked on the request and charge for it.
    """

    def __init__(self, reason: str, *, after: float | None = None, charged: bool = True) -> None:
        super().__init__(reason)
        self.after = after
        self.charged = charged


def patiently(
    attempt: Callable[[], T], *, tries: int | None = None, wait: Callable[[float], None] = time.sleep
) -> T:
    """Return what `attempt` returns, called at most `tries` times. Raises the TryLater of the last one."""
    tries = settings.LLM_TRIES if tries is None else tries
    for number in range(1, tries + 1):
        try:
            return attempt()
        except TryLater as failure:
            if number == tries:
                raise
            wait(pause(number, failure.after))
    raise ValueError("tries must be 1 or more")


def pause(number: int, asked: float | None) -> float:
    """Return the seconds to wait after the try of this number (from 1): what was asked for, else doubled each time."""
    own = settings.LLM_BACKOFF_SECONDS * 2 ** (number - 1)
    return float(min(own if asked is None else max(asked, 0.0), LONGEST_PAUSE_SECONDS))


def asked_pause(header: str | None) -> float | None:
    """Return the seconds of a Retry-After header (a number, or a date), None where there is none to be read."""
    if not header:
        return None
    try:
        return float(header)
    except ValueError:
        pass
    try:
        until = parsedate_to_datetime(header)
    except ValueError:
        return None
    until = until if until.tzinfo else until.replace(tzinfo=UTC)
    return max((until - datetime.now(UTC)).total_seconds(), 0.0)
