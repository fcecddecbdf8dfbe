"""The reference's outcome is the same every time: what differs between repeats is flaky."""

from __future__ import annotations

from collections import Counter

from examples.checking.base import Finding, Observed, State, unjudged
from runner.models import Execution


def find(observed: Observed) -> Finding:
    """Return PASSED when all repeats have one outcome, test by test."""
    runs = observed.references
    if lost := unjudged(runs):
        return lost
    seen = Counter(outcomes(run) for run in runs)
    counts = Counter(run.outcome for run in runs)
    evidence = {"repeats": len(runs), "outcomes": dict(counts)}
    if len(seen) == 1:
        return Finding(
            State.PASSED, f"All {len(runs)} repeats have one outcome, test by test.", evidence, tuple(runs)
        )
    told = ", ".join(f"{count} x {outcome}" for outcome, count in counts.most_common())
    return Finding(
        State.FAILED, f"Flaky: {len(runs)} repeats of the same program gave {told}.", evidence, tuple(runs)
    )


def outcomes(run: Execution) -> tuple[str, ...]:
    """Return the outcome of the whole and of every test in it, in order."""
    tests = run.rows.filter(assertion=None).order_by("test").values_list("test", "outcome")
    return (run.outcome, *(f"{test}={outcome}" for test, outcome in tests))
