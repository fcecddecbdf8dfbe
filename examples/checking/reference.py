"""The reference passes 5 of 5, under seeds 1 to 5, each in a cold container."""

from __future__ import annotations

from examples.checking.base import Finding, Observed, State, describe, unjudged


def find(observed: Observed) -> Finding:
    """Return PASSED when every reference execution PASSED."""
    runs = observed.references
    if lost := unjudged(runs):
        return lost
    passed = sum(run.passed for run in runs)
    rows = [describe(run) for run in runs]
    sentence = (
        f"The reference passes {passed} of {len(runs)}, each in a cold container under a seed of its own."
    )
    if passed < len(runs):
        worst = next(row for row, run in zip(rows, runs, strict=True) if not run.passed)
        sentence += f" Under seed {worst['seed']}: {worst['outcome']}{', ' if worst['failure'] else ''}{worst['failure']}"
    state = State.PASSED if passed == len(runs) else State.FAILED
    return Finding(state, sentence, {"passed": passed, "of": len(runs), "runs": rows}, tuple(runs))
