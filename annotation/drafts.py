"""ATTEMPT: drafts: every save is a revision of its own, and none overwrites what another page has saved."""

from __future__ import annotations

from django.db import IntegrityError, transaction
from django.utils import timezone

from annotation.attempts import AttemptOver, Refused
from annotation.beats import is_paused
from annotation.limits import refuse_draft
from annotation.models import Attempt, Draft
from examples.languages.ways import ways

CODE_LIMIT = 200_000


class ClockStopped(Refused):
    """The attempt is paused: what is written meanwhile would be work off the clock."""


class DraftConflict(Exception):
    """Another page has saved since; `current` is what is stored, and nothing was overwritten."""

    def __init__(self, current: Draft) -> None:
        super().__init__(f"Revision {current.revision} was saved by another page.")
        self.current = current


def current_draft(attempt: Attempt) -> Draft:
    """Return the last stored draft; before the first, the unsaved revision 0 with the starting answer."""
    stored = attempt.drafts.order_by("-revision").first()
    return stored or Draft(attempt=attempt, revision=0, function=first_answer(attempt))


def first_answer(attempt: Attempt) -> str:
    """Return what the editor holds before anything was written."""
    version = attempt.slot.version
    return ways(version.language).starting_answer(version.context, version.gap)


def save_draft(attempt: Attempt, *, function: str, module: str, base_revision: int) -> Draft:
    """Store what the editor holds as a new revision upon `base_revision`, and return it.

    Text equal to what is stored adds no row, and is welcome at any time: a submission that has ended the work meanwhile
    has stored it. Raises DraftConflict where another page has saved other text since,
    ClockStopped while the attempt is paused, TooMany beyond what is kept, and AttemptOver once the work has ended.
    Somebody whose slot went to another may go on saving: the text is theirs.
    """
    current = current_draft(attempt)
    if (current.function, current.module) == (function, module):
        return current
    if attempt.state not in (Attempt.State.OPEN, Attempt.State.RELEASED):
        raise AttemptOver("The work on this example has ended; the last saved draft is kept.")
    refuse_unfit(function, module)
    if current.revision != base_revision:
        raise DraftConflict(current)
    if is_paused(attempt):
        raise ClockStopped("Your clock is stopped. What you write is kept on this computer until you go on.")
    refuse_draft(attempt, revision=base_revision, size=len(function) + len(module), now=timezone.now())
    try:
        with transaction.atomic():
            return Draft.objects.create(
                attempt=attempt, revision=base_revision + 1, function=function, module=module
            )
    except IntegrityError:  # another page saved the same revision at the same moment
        return _same_or_conflict(attempt, function, module)


def _same_or_conflict(attempt: Attempt, function: str, module: str) -> Draft:
    current = current_draft(attempt)
    if (current.function, current.module) == (function, module):
        return current
    raise DraftConflict(current)


def refuse_unfit(*texts: str) -> None:
    """Raise Refused where the texts together are longer than any answer needs to be, or hold what Postgres keeps not."""
    if any("\0" in text for text in texts):
        raise Refused("There is a NUL character in it, which cannot be kept. Write it as an escape.")
    if sum(len(text) for text in texts) > CODE_LIMIT:
        raise Refused(f"This is longer than {CODE_LIMIT:,} characters, which no answer needs.")
