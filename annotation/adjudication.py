"""ADJUDICATE: who may decide, and decisions with their reasons: on a version, a submission, a solution."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.db import transaction

from annotation.evidence import flagged_submissions
from annotation.models import (
    Adjudication,
    Assessment,
    Attempt,
    Ruling,
    Run,
    SecondReading,
    User,
    Verdict,
)
from examples.models import Version, audit


class DecisionRefused(Exception):
    """This person may not decide on this version, or gave no reason; the message says which."""


def why_not(version: Version, person: User) -> str:
    """Return why the person may not decide on the version: who solved or wrote it does not; "" when they may."""
    if not person.curates:
        return "Only curators decide."
    return conflict(version, person, worked_on(person))


def decide(version: Version, *, decision: str, severity: int, reason: str, by: User) -> Adjudication:
    """Record a curator's decision and return it. Raises DecisionRefused.

    Decisions are added and never changed: a later one takes the place of an earlier, which stays on the record.
    """
    _refuse(version, by, reason, "it is what the release and the next curator rely on")
    if decision not in Adjudication.Decision.values:
        raise DecisionRefused("Choose one of the decisions.")
    if severity not in Adjudication.Severity.values:
        raise DecisionRefused("Say how severe the flaw is, from 0 to 3.")
    with transaction.atomic():
        made = Adjudication.objects.create(
            version=version, decision=decision, severity=severity, reason=reason.strip(), decided_by=by
        )
        audit(by, "version adjudicated", f"version:{version.pk}", decision=decision, severity=severity)
    return made


def ask_second_reader(version: Version, *, reason: str, by: User) -> SecondReading:
    """Let the case stay open until two people decide the same, and return the request. Raises DecisionRefused.

    The decision that stands counts as the first of the two.
    """
    if not by.curates:
        raise DecisionRefused("Only curators ask for a second reader.")
    if not reason.strip():
        raise DecisionRefused("Give a reason: the second reader begins with it.")
    with transaction.atomic():
        after = Adjudication.objects.filter(version=version).order_by("-pk").first()
        made = SecondReading.objects.create(version=version, after=after, reason=reason.strip(), asked_by=by)
        audit(by, "second reader asked for", f"version:{version.pk}")
    return made


def assess(version: Version, sha256: str, *, right: bool, reason: str, by: User) -> Assessment:
    """Record that a solution is right or wrong by the instruction, whatever the tests say. Raises DecisionRefused."""
    _refuse(version, by, reason, "what tests are held against rests on it")
    with transaction.atomic():
        made = Assessment.objects.create(
            version=version, sha256=sha256, right=right, reason=reason.strip(), made_by=by
        )
        audit(by, "solution assessed", f"version:{version.pk}", sha256=sha256, right=right)
    return made


def _refuse(version: Version, by: User, reason: str, why: str) -> None:
    """Raise DecisionRefused where this person may not decide on the version, or gives no reason."""
    refusal = why_not(version, by)
    if refusal:
        raise DecisionRefused(refusal)
    if not reason.strip():
        raise DecisionRefused(f"Give a reason: {why}.")


@dataclass(frozen=True, slots=True)
class Flagged:
    """A submission that PASSED and could not be confirmed: what was sent, and which changed test it passed too.

    `canary` is what the runner kept of that: test, line, what does the comparing. `refusal` as in `Disputed`.
    """

    run: Run
    version: Version
    canary: dict[str, Any]
    refusal: str


def flagged(person: User) -> list[Flagged]:
    """Return the submissions that await a curator, longest waiting first, in two queries."""
    found = flagged_submissions().select_related(
        "execution", "attempt__annotator", "attempt__slot__version__example__dataset"
    )
    runs = list(found.order_by("created_at", "pk").defer("execution__job_data"))
    worked = worked_on(person) if runs else set()
    return [
        Flagged(
            run,
            run.attempt.slot.version,
            run.execution.facts.get("canary", {}),
            conflict(run.attempt.slot.version, person, worked),
        )
        for run in runs
    ]


def rule(run: Run, *, stands: bool, reason: str, by: User) -> Ruling:
    """Record whether a flagged submission stands and return the ruling. Raises DecisionRefused.

    A verdict that was given already carries whether the attempt was solved: that is written anew.
    """
    _refuse(run.attempt.slot.version, by, reason, "the figures of the study rest on it")
    with transaction.atomic():
        if not flagged_submissions().filter(pk=run.pk).exists():
            raise DecisionRefused("This submission awaits no decision.")
        made = Ruling.objects.create(run=run, stands=stands, reason=reason.strip(), decided_by=by)
        if stands:
            Verdict.objects.filter(attempt=run.attempt_id).update(solved=True)
        audit(by, "submission ruled on", f"run:{run.pk}", stands=stands)
    return made


def worked_on(person: User) -> set[int]:
    """Return the examples the person has an attempt at."""
    return set(Attempt.objects.filter(annotator=person).values_list("slot__version__example_id", flat=True))


def conflict(version: Version, person: User, worked: set[int]) -> str:
    """Return why the person may not decide on the version, "" when they may; `worked` is what `worked_on` returns."""
    if version.author_id == person.pk:
        return "You wrote this version, so somebody else decides on it."
    return (
        "You worked on this example, so somebody else decides on it." if version.example_id in worked else ""
    )
