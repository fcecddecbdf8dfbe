"""The licence is known: without one nobody may publish or use the example."""

from __future__ import annotations

from examples.checking.base import Finding, Observed, State


def find(observed: Observed) -> Finding:
    """Return PASSED when the example or its dataset names a licence."""
    example = observed.version.example
    licence = example.known_licence
    if not licence:
        return unknown(f"Set it on the example, or on dataset {example.dataset.name}.")
    return known(licence, "of the example" if example.licence else f"of dataset {example.dataset.name}")


def known(licence: str, where: str) -> Finding:
    """Return the finding that there is a licence; `where` says whose."""
    return Finding(State.PASSED, f"{licence}, {where}.", {"licence": licence})


def unknown(remedy: str) -> Finding:
    """Return the finding that there is none."""
    return Finding(State.FAILED, f"No licence is known. {remedy}")
