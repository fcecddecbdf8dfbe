"""A test ran: every expected test function reported an assertion in the reference's executions."""

from __future__ import annotations

from examples.checking.base import Finding, Observed, State, unjudged
from runner.outcome import Outcome


def find(observed: Observed) -> Finding:
    """Return PASSED when there is a test, and each expected one reported at least one assertion."""
    expected = list(observed.version.expected)
    if not expected:
        return Finding(State.FAILED, "There is no test function, so nothing can be judged.")
    if lost := unjudged(observed.references):
        return lost
    first = observed.references[0]
    reported = list(
        first.rows.exclude(assertion=None).exclude(outcome=Outcome.NOT_RUN).values_list("test", flat=True)
    )
    silent = [name for name in expected if name not in reported]
    evidence = {"tests": len(expected), "assertions": len(reported), "silent": silent}
    if silent:
        return Finding(
            State.FAILED,
            f"No assertion of {', '.join(silent)} was reached by the reference.",
            evidence,
            (first,),
        )
    sentence = f"{len(expected)} test function(s) ran and reported {len(reported)} assertion(s)."
    return Finding(State.PASSED, sentence, evidence, (first,))
