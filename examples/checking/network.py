"""No network is needed: the reference did not try to use one (containers have none)."""

from __future__ import annotations

from examples.checking.base import Finding, Observed, State, unjudged


def find(observed: Observed) -> Finding:
    """Return FAILED when a reference that does not pass tried to reach a network; what passes without one needs none."""
    if lost := unjudged(observed.references):
        return lost
    tried = sorted({run.facts["network"] for run in observed.references if run.facts.get("network")})
    passed = all(run.passed for run in observed.references)
    evidence = {"tried": tried}
    runs = tuple(observed.references)
    if tried and not passed:
        return Finding(
            State.FAILED,
            f"Needs a network: the reference asked for {tried[0]} and does not pass without one.",
            evidence,
            runs,
        )
    if tried:
        return Finding(State.PASSED, f"Asks for {tried[0]}, and passes without a network.", evidence, runs)
    return Finding(State.PASSED, "No attempt to use a network was seen.", evidence, runs)
