"""A function that does nothing fails: else the tests accept anything."""

from __future__ import annotations

from examples.checking.base import Finding, Observed, State, describe, unjudged


def find(observed: Observed) -> Finding:
    """Return PASSED when the context with `...` for a body does not pass."""
    if lost := unjudged([observed.empty]):
        return lost
    run = describe(observed.empty)
    if observed.empty.passed:
        return Finding(
            State.FAILED,
            "Vacuous: a function with an empty body passes every test.",
            {"runs": [run]},
            (observed.empty,),
        )
    return Finding(
        State.PASSED, f"An empty body does not pass: {run['outcome']}.", {"runs": [run]}, (observed.empty,)
    )
