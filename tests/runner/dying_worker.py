"""A worker that kills itself with SIGKILL at a named point of an execution's life. For tests only.

`python -m tests.runner.dying_worker POINT [TIMES [QUEUE ...]]`: the point is passed so many times, then it dies
"""

from __future__ import annotations

import itertools
import os
import signal
import sys
from collections.abc import Callable
from typing import Any

import django

POINTS = ("queued", "claimed", "started", "rows", "unsaved")


def die(*_: Any, **__: Any) -> Any:
    """End this process as a crash would: nothing is closed, saved or said."""
    os.kill(os.getpid(), signal.SIGKILL)


class Countdown:
    """Kills the process when it has been called so many times, by whichever threads."""

    def __init__(self, times: int) -> None:
        self._left = itertools.count(times - 1, -1)

    def __call__(self) -> None:
        if next(self._left) <= 0:
            die()


def before(function: Callable[..., Any], at: Countdown) -> Callable[..., Any]:
    """Return the function, with the countdown before it."""

    def first_count(*args: Any, **kwargs: Any) -> Any:
        at()
        return function(*args, **kwargs)

    return first_count


def after(
    function: Callable[..., Any], at: Countdown, *, when: Callable[..., bool] = lambda *_: True
) -> Callable[..., Any]:
    """Return the function, followed by the countdown where `when` holds of its arguments."""

    def then_count(*args: Any, **kwargs: Any) -> Any:
        value = function(*args, **kwargs)
        if when(*args):
            at()
        return value

    return then_count


def arm(point: str, times: int = 1) -> None:
    """Put death at the point: before the claim, after it, when the program started, after the first row, before saving."""
    from runner import claims, execution
    from runner.recording import Recorder

    at = Countdown(times)
    if point == "queued":
        claims.take = before(claims.take, at)
    elif point == "claimed":
        claims.take = after(claims.take, at)
    elif point == "started":
        Recorder.started = after(Recorder.started, at)
    elif point == "rows":
        Recorder.write = after(Recorder.write, at, when=lambda recorder: recorder.saved > 0)
    elif point == "unsaved":
        execution._finish = before(execution._finish, at)
    else:
        raise ValueError(point)


def main(point: str, times: str = "1", *queues: str) -> None:
    """Work, and die at the point."""
    django.setup()
    arm(point, int(times))
    from config import work

    work.main(list(queues) or ["interactive"])


if __name__ == "__main__":
    main(*sys.argv[1:])
