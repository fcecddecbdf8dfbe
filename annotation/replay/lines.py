"""REPLAY: one line of a timeline."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from annotation.replay.steps import Step


@dataclass(frozen=True, slots=True)
class Line:
    """What happened: sign, words, and the step to which it leads, None where the code did not change.

    `folded` are the steps of revisions that are told as one. `seconds` count from the attempt's start.
    """

    at: datetime
    kind: str
    glyph: str
    title: str
    detail: str
    step: Step | None = None
    seconds: float = 0.0
    folded: tuple[Step, ...] = ()
