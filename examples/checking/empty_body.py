"""A function that does nothing fails: else the tests accept anything."""

from __future__ import annotations

from examples.checking.base import Finding, Observed, State, describe, unjudged
from runner.models import Execution
from runner.outcome import NO_ASSERTION, Outcome


def find(observed: Observed) -> Finding:
    """Return PASSED when the context with `...` for a body is rejected by at least one test."""
    if lost := unjudged([observed.empty]):
        return lost
    run = describe(observed.empty)
    evidence = {"runs": [run]}
    if accepted(observed.empty):
        sentence = "Vacuous: a function with an empty body gets through every test."
        return Finding(State.FAILED, sentence, evidence, (observed.empty,))
    sentence = f"An empty body does not pass: {run['outcome']}."
    return Finding(State.PASSED, sentence, evidence, (observed.empty,))


def accepted(execution: Execution) -> bool:
    """Return whether no test rejected the program: each passed, or ran to its end and asserted nothing on the way."""
    tests = list(execution.rows.filter(assertion=None).values_list("outcome", "message"))
    return bool(tests) and all(
        outcome == Outcome.PASSED or (outcome == Outcome.FAILED and message == NO_ASSERTION)
        for outcome, message in tests
    )
