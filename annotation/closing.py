"""ATTEMPT: what of the closing form was said so far, kept as it comes; and a closed verdict given back by a curator."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

from django.db import transaction

from annotation.answers import ANSWERS, add_step, said_so_far
from annotation.attempts import AttemptOver, Refused
from annotation.leases import VERDICT_LEASE, hold
from annotation.limits import TooMany
from annotation.models import Attempt, Slot, User, VerdictStep
from annotation.transitions import Actor, move
from examples.models import audit

LONGEST, STEPS = 10_000, 1000


def keep_answers(attempt: Attempt, *, said: Mapping[str, str], now: datetime) -> VerdictStep | None:
    """Store which answers have changed, with their new values, and return that step; None where none has.

    Only the answers in `said` are looked at, so two pages that send what changed in each do not undo one another. The
    slot is kept as if the work on the code had just ended. Raises AttemptOver where the verdict is not due, Refused for
    what cannot be kept, TooMany beyond what is kept.
    """
    said = {name: said[name] for name in ANSWERS if name in said}
    if any("\0" in value for value in said.values()):
        raise Refused("There is a NUL character in it, which cannot be kept.")
    if any(len(value) > LONGEST for value in said.values()):
        raise Refused(f"One of the answers is longer than {LONGEST:,} characters.")
    with transaction.atomic():
        locked = Attempt.objects.select_for_update().get(pk=attempt.pk)
        if locked.state != Attempt.State.SUBMITTED or not _is_theirs(locked):
            raise AttemptOver("This attempt waits for no verdict.")
        before = said_so_far(locked)
        changed = {name: value for name, value in said.items() if before.get(name, "") != value}
        if not changed:
            return None
        if locked.verdict_steps.count() >= STEPS:
            raise TooMany(
                f"{STEPS:,} changes are the most that is kept. Close the attempt when you are ready.", 60
            )
        hold(locked, until=now + VERDICT_LEASE)
        return add_step(locked, VerdictStep.Kind.SAVED, by=locked.annotator, now=now, changed=changed)


def _is_theirs(attempt: Attempt) -> bool:
    return Slot.objects.filter(pk=attempt.slot_id, annotator=attempt.annotator_id).exists()


def reopen(attempt: Attempt, *, reason: str, by: User, now: datetime) -> VerdictStep:
    """Give a closed verdict back to its annotator, with a reason, and return the step. Raises Refused.

    The place stays closed and nobody else gets it. The verdict stands as it was until it is given again, as the next
    revision. Whoever has seen the reference cannot say any more what they would have said before.
    """
    if not reason.strip():
        raise Refused("Say why it is given back; the annotator reads it.")
    with transaction.atomic():
        locked = Attempt.objects.select_for_update().get(pk=attempt.pk)
        if why := why_not_reopened(locked, by):
            raise Refused(why)
        move(Attempt.objects.filter(pk=locked.pk), to=Attempt.State.SUBMITTED, by=Actor.CURATOR, now=now)
        step = add_step(locked, VerdictStep.Kind.REOPENED, by=by, now=now, reason=reason.strip())
        audit(by, "verdict re-opened", f"attempt:{attempt.pk}", reason=reason.strip())
    attempt.refresh_from_db(fields=["state"])
    return step


def why_not_reopened(attempt: Attempt, person: User) -> str:
    """Return why the person cannot give the attempt's verdict back, "" where they can."""
    if attempt.state != Attempt.State.CLOSED:
        return "Only a closed verdict can be given back."
    if person.pk == attempt.annotator_id:
        return "It is your own verdict, so somebody else gives it back."
    if hasattr(attempt, "reveal"):
        return "The reference was shown to its annotator, so the first verdict stays as it is."
    return ""
