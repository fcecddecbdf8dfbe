"""A worker that kills itself with SIGKILL at a named point of an execution's life. For tests only.

`python -m tests.runner.dying_worker POINT`
"""

from __future__ import annotations

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


def after(function: Callable[..., Any], *, when: Callable[..., bool] = lambda *_: True) -> Callable[..., Any]:
    """Return the function, followed by death where `when` holds of its arguments."""

    def then_die(*args: Any, **kwargs: Any) -> Any:
        value = function(*args, **kwargs)
        if when(*args):
            die()
        return value

    return then_die


def arm(point: str) -> None:
    """Put death at the point: before the claim, after it, when the program started, after the first row, before saving."""
    from runner import claims, execution
    from runner.recording import Recorder

    if point == "queued":
        claims.take = die
    elif point == "claimed":
        claims.take = after(claims.take)
    elif point == "started":
        Recorder.started = after(Recorder.started)
    elif point == "rows":
        Recorder.write = after(Recorder.write, when=lambda recorder: recorder.saved > 0)
    elif point == "unsaved":
        execution._finish = die
    else:
        raise ValueError(point)


if __name__ == "__main__":
    django.setup()
    arm(sys.argv[1])
    from config import work

    work.main(["interactive"])
