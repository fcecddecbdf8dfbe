"""User, Study, Protocol, Slot, Attempt, Draft, Beat, Run, Verdict, Adjudication: who solves what, and what they say of it."""

from __future__ import annotations

from annotation.models.account import ApiToken, Invitation, User
from annotation.models.attempt import Attempt, AttemptQuerySet, Beat, Draft, Pause, Ruling, Run
from annotation.models.judging import Assessment, CarriedVerdict, Fix, SecondReading, Trial
from annotation.models.protocol import (
    DEFAULT_DIFFICULTY,
    Arm,
    Protocol,
    ProtocolQuerySet,
    default_difficulty,
    solvers_in_force,
)
from annotation.models.second import Reveal, SecondJudgement
from annotation.models.study import (
    Slot,
    SlotQuerySet,
    Study,
    StudyPerson,
    StudyQuerySet,
)
from annotation.models.verdict import Adjudication, Verdict, VerdictStep

__all__ = [
    "DEFAULT_DIFFICULTY",
    "Adjudication",
    "ApiToken",
    "Arm",
    "Assessment",
    "Attempt",
    "AttemptQuerySet",
    "Beat",
    "CarriedVerdict",
    "Draft",
    "Fix",
    "Invitation",
    "Pause",
    "Protocol",
    "ProtocolQuerySet",
    "Reveal",
    "Ruling",
    "Run",
    "SecondJudgement",
    "SecondReading",
    "Slot",
    "SlotQuerySet",
    "Study",
    "StudyPerson",
    "StudyQuerySet",
    "Trial",
    "User",
    "Verdict",
    "VerdictStep",
    "default_difficulty",
    "solvers_in_force",
]
