"""CANARIES: changes of a version's tests that its reference fails at exactly the changed assertion; kept as evidence.

No check that passes or fails: a label for curators. One canary is run after a submission has passed all hidden tests
(runner/confirming.py); a version without one says so, since an assertion made in the program's own process can be forged.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict
from enum import StrEnum

from examples.checking.base import Finding, State
from examples.models import Check, Version
from runner.confirming import with_canary
from runner.languages import canary_plan
from runner.models import Execution
from runner.outcome import Outcome
from runner.sandbox.base import Canary, Job

NAME = "canary"
TRIED, KEPT, KEPT_OF_A_KIND = 10, 6, 3


class Label(StrEnum):
    """What a version has."""

    BUILT = "canary"
    NOT_NEEDED = "compared outside"
    NONE = "no canary"


def find(job: Job, execute: Callable[[Job], Execution], *, reference_passed: bool) -> Finding:
    """Return what can serve as canaries of a version; `job` runs its reference, `execute` a changed job."""
    plan = canary_plan(job)
    if not plan.needed:
        return _finding(Label.NOT_NEEDED, "Every assertion is compared outside the program's process.", (), 0)
    if not reference_passed:
        return _finding(Label.NONE, "No canary: the reference does not pass.", (), 0)
    kept, tried = list[Canary](), 0
    for canary in plan.candidates:
        alike = [each for each in kept if each.kind == canary.kind]
        enough = tried == TRIED or len(kept) == KEPT or len(alike) == KEPT_OF_A_KIND
        if enough or (kept and canary.outside):  # of use only where there is no other
            continue
        tried += 1
        if fails_at(execute(with_canary(job, canary)), canary):
            kept.append(canary)
    if not kept:
        told = f"{tried} changes of an expected value tried" if tried else "no expected value can be changed"
        return _finding(Label.NONE, f"No canary: {told}, and the reference fails at none of them.", (), tried)
    sentence = f"{len(kept)} canar{'y' if len(kept) == 1 else 'ies'}, at line{'' if len(kept) == 1 else 's'} "
    sentence += f"{', '.join(str(canary.line) for canary in kept)} of the tests."
    return _finding(Label.BUILT, sentence, tuple(kept), tried)


def fails_at(run: Execution, canary: Canary) -> bool:
    """Return whether a run failed at exactly the assertion that was changed, and came to its end by itself."""
    rows = list(run.rows.filter(outcome=Outcome.FAILED).values_list("test", "assertion", "line"))
    within = {(test, assertion) for test, assertion, _ in rows if assertion is not None}
    tests = {(test, line) for test, assertion, line in rows if assertion is None}
    if run.outcome != Outcome.FAILED or {test for test, _ in tests} != {canary.test}:
        return False
    if canary.assertion is None:
        return not within and tests == {(canary.test, canary.line)}
    return within == {(canary.test, canary.assertion)}


def canaries_of(version: Version) -> tuple[Canary, ...]:
    """Return the canaries a version has."""
    evidence = Check.objects.filter(version=version, name=NAME).values_list("evidence", flat=True).first()
    return tuple(Canary(**each) for each in (evidence or {}).get("canaries", ()))


def _finding(label: Label, sentence: str, canaries: tuple[Canary, ...], tried: int) -> Finding:
    evidence = {"label": label.value, "tried": tried, "canaries": [asdict(canary) for canary in canaries]}
    return Finding(State.PASSED, sentence, evidence)
