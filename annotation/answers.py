"""ATTEMPT: the answers of the closing form, kept as steps: what was changed, in which order, and what holds now."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from django.db.models import Max

from annotation.models import Attempt, User, VerdictStep

# What the closing form asks, and what of it is kept while it is filled in; the verdict's columns have the same names.
ANSWERS = (
    "outcome",
    "evidence_test",
    "evidence_input",
    "evidence_expected",
    "evidence_got",
    "evidence",
    "difficulty",
    "instruction_quality",
    "instruction_note",
    "test_quality",
    "test_note",
    "confidence",
    "aids",
    "aids_text",
    "prior_exposure",
    "text",
)


def said_so_far(attempt: Attempt) -> dict[str, str]:
    """Return the last value of each answer, as the form sends it: {} before anything was said."""
    said: dict[str, str] = {}
    for changed in attempt.verdict_steps.order_by("number").values_list("changed", flat=True):
        said.update(changed)
    return said


def add_step(
    attempt: Attempt, kind: VerdictStep.Kind, *, by: User, now: datetime, **fields: Any
) -> VerdictStep:
    """Add the next step of an attempt whose row is held by the transaction, and return it."""
    last = attempt.verdict_steps.aggregate(last=Max("number"))["last"] or 0
    return VerdictStep.objects.create(attempt=attempt, number=last + 1, kind=kind, by=by, at=now, **fields)


def as_said(answers: Mapping[str, Any]) -> dict[str, str]:
    """Return the columns of a verdict as the form sends them: text, "" where nothing was said."""
    return {name: "" if answers[name] is None else str(answers[name]) for name in ANSWERS if name in answers}
