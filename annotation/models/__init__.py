"""User, Study, Protocol, Slot, Attempt, Draft, Beat, Run, Verdict, Adjudication: who solves what, and what they say of it."""

from __future__ import annotations

from annotation.models.account import ApiToken, Invitation, User
from annotation.models.attempt import Attempt, AttemptQuerySet, Beat, Draft, Paste, Pause, Ruling, Run
from annotation.models.judging import Assessment, CarriedVerdict, Fix, SecondReading, Trial
from annotation.models.onboarding import Acceptance, Admission, Background, GoldItem, SignUp, Withdrawal
from annotation.models.protocol import (
    DEFAULT_DIFFICULTY,
    Arm,
    Protocol,
    ProtocolQuerySet,
    default_difficulty,
    solvers_in_force,
)
from annotation.models.queue import BrokenReport, Parting
from annotation.models.second import Reveal, SecondJudgement
from annotation.models.study import (
    COUNTED,
    Slot,
    SlotQuerySet,
    Study,
    StudyPerson,
    StudyQuerySet,
)
from annotation.models.verdict import Adjudication, Verdict, VerdictStep

__all__ = [
    "COUNTED",
    "DEFAULT_DIFFICULTY",
    "Acceptance",
    "Adjudication",
    "Admission",
    "ApiToken",
    "Arm",
    "Assessment",
    "Attempt",
    "AttemptQuerySet",
    "Background",
    "Beat",
    "BrokenReport",
    "CarriedVerdict",
    "Draft",
    "Fix",
    "GoldItem",
    "Invitation",
    "Parting",
    "Paste",
    "Pause",
    "Protocol",
    "ProtocolQuerySet",
    "Reveal",
    "Ruling",
    "Run",
    "SecondJudgement",
    "SecondReading",
    "SignUp",
    "Slot",
    "SlotQuerySet",
    "Study",
    "StudyPerson",
    "StudyQuerySet",
    "Trial",
    "User",
    "Verdict",
    "VerdictStep",
    "Withdrawal",
    "default_difficulty",
    "solvers_in_force",
]
