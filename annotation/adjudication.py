"""ADJUDICATE: what disagrees, who may decide, and the decision with its reason."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.db import transaction
from django.db.models import Q

from annotation.evidence import flagged_submissions, open_disputes, unsolved_versions
from annotation.models import Adjudication, Attempt, Ruling, Run, User, Verdict
from examples.models import Version, audit


class DecisionRefused(Exception):
    """This person may not decide on this version, or gave no reason; the message says which."""


@dataclass(frozen=True, slots=True)
class Complaint:
    """What one annotator says against a version; `pseudonym`, the two grades 0 to 3, their words and evidence."""

    pseudonym: str
    instruction_quality: int
    test_quality: int
    text: str
    evidence: str
    outcome: str
    solved: bool


@dataclass(frozen=True, slots=True)
class Disputed:
    """A version to be decided on, with what people said of it.

    `unsolved` says that nobody independent solved it, `refusal` why the person who looks may not decide ("": they may).
    """

    version: Version
    complaints: tuple[Complaint, ...]
    unsolved: bool
    refusal: str


def why_not(version: Version, person: User) -> str:
    """Return why the person may not decide on the version: who solved or wrote it does not; "" when they may."""
    if not person.curates:
        return "Only curators decide."
    return _conflict(version, person, _worked_on(person))


def decide(version: Version, *, decision: str, reason: str, by: User) -> Adjudication:
    """Record a curator's decision and return it. Raises DecisionRefused."""
    refusal = why_not(version, by)
    if refusal:
        raise DecisionRefused(refusal)
    if not reason.strip():
        raise DecisionRefused("Give a reason: it is what the release and the next curator rely on.")
    if decision not in Adjudication.Decision.values:
        raise DecisionRefused("Choose one of the decisions.")
    made = Adjudication.objects.create(
        version=version, decision=decision, reason=reason.strip(), decided_by=by
    )
    audit(by, "version adjudicated", f"version:{version.pk}", decision=decision)
    return made


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
    worked = _worked_on(person) if runs else set()
    return [
        Flagged(
            run,
            run.attempt.slot.version,
            run.execution.facts.get("canary", {}),
            _conflict(run.attempt.slot.version, person, worked),
        )
        for run in runs
    ]


def rule(run: Run, *, stands: bool, reason: str, by: User) -> Ruling:
    """Record whether a flagged submission stands and return the ruling. Raises DecisionRefused.

    A verdict that was given already carries whether the attempt was solved: that is written anew.
    """
    refusal = why_not(run.attempt.slot.version, by)
    if refusal:
        raise DecisionRefused(refusal)
    if not reason.strip():
        raise DecisionRefused("Give a reason: the figures of the study rest on it.")
    with transaction.atomic():
        if not flagged_submissions().filter(pk=run.pk).exists():
            raise DecisionRefused("This submission awaits no decision.")
        made = Ruling.objects.create(run=run, stands=stands, reason=reason.strip(), decided_by=by)
        if stands:
            Verdict.objects.filter(attempt=run.attempt_id).update(solved=True)
        audit(by, "submission ruled on", f"run:{run.pk}", stands=stands)
    return made


def disputed(person: User) -> list[Disputed]:
    """Return the versions with open complaints, and those nobody solved, longest waiting first, in three queries."""
    unsolved = unsolved_versions()
    concerned = Q(pk__in=open_disputes().values("pk")) | Q(attempt__slot__version__in=unsolved.values("pk"))
    verdicts = (
        Verdict.objects.filter(concerned)
        .select_related("attempt__annotator", "attempt__slot__version__example__dataset")
        .order_by("created_at", "pk")
    )
    found: dict[int, tuple[Version, list[Complaint]]] = {}
    for verdict in verdicts:
        version = verdict.attempt.slot.version
        found.setdefault(version.pk, (version, []))[1].append(_complaint(verdict))
    worked, nobody = _worked_on(person), set(unsolved.values_list("pk", flat=True))
    return [
        Disputed(version, tuple(complaints), version.pk in nobody, _conflict(version, person, worked))
        for version, complaints in found.values()
    ]


def _complaint(verdict: Verdict) -> Complaint:
    return Complaint(
        verdict.attempt.annotator.pseudonym,
        verdict.instruction_quality,
        verdict.test_quality,
        verdict.text,
        verdict.evidence,
        verdict.get_outcome_display(),
        verdict.solved,
    )


def _worked_on(person: User) -> set[int]:
    """Return the examples the person has an attempt at."""
    return set(Attempt.objects.filter(annotator=person).values_list("slot__version__example_id", flat=True))


def _conflict(version: Version, person: User, worked: set[int]) -> str:
    if version.author_id == person.pk:
        return "You wrote this version, so somebody else decides on it."
    return (
        "You worked on this example, so somebody else decides on it." if version.example_id in worked else ""
    )
