"""The image is pinned: every execution ran in the same image, known by digest."""

from __future__ import annotations

from examples.checking.base import Finding, Observed, State


def find(observed: Observed) -> Finding:
    """Return PASSED when the environment has a digest, and it is the one that was executed in."""
    environment = observed.version.environment
    digest = environment.image_digest
    used = sorted(
        {run.facts.get("image", "") for run in [*observed.references, observed.empty] if run.outcome}
    )
    evidence = {
        "environment": environment.name,
        "digest": digest,
        "used": used,
        "packages": environment.packages,
    }
    if not digest:
        return Finding(
            State.FAILED, f"Environment {environment.name} has no image yet, so it is not pinned.", evidence
        )
    if used not in ([], [digest]):
        return Finding(State.FAILED, f"Executed in {', '.join(used)}, not in {digest}.", evidence)
    return Finding(State.PASSED, f"{environment.name} at {digest[:19]}…", evidence)
