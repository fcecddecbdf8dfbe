"""A worker that kills itself with SIGKILL at a named point of a question's life. For tests only.

`python -m tests.examples.generation.dying_worker POINT TIMES`: the point is passed so many times, then it dies.
"""

from __future__ import annotations

import sys

import django

from tests.runner.dying_worker import Countdown, after, before

POINTS = ("intent", "sent", "recorded", "executing", "accepting")


def arm(point: str, times: int) -> None:
    """Put death at the point: before a question is sent, behind its reply, behind its record, in an execution, before the end."""
    from examples.generation import calls
    from examples.generation.steps import acceptance
    from examples.llm import Endpoint
    from runner import execution

    at = Countdown(times)
    if point == "intent":
        Endpoint.answer = before(Endpoint.answer, at)  # type: ignore[method-assign]
    elif point == "sent":
        Endpoint.answer = after(Endpoint.answer, at)  # type: ignore[method-assign]
    elif point == "recorded":
        calls._record = after(calls._record, at)
    elif point == "executing":
        execution._finish = before(execution._finish, at)
    elif point == "accepting":
        acceptance.create_example = after(acceptance.create_example, at)
    else:
        raise ValueError(point)


def main(point: str, times: str) -> None:
    """Work, and die at the point."""
    django.setup()
    arm(point, int(times))
    from config import work

    work.main(["generation"])


if __name__ == "__main__":
    main(*sys.argv[1:])
