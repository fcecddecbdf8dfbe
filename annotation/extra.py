"""ASSIGN: a submission that comes after its place went to another: kept, judged, and counted as surplus."""

from __future__ import annotations

from datetime import datetime

from django.db.models import Max

from annotation.leases import LEASE, OWN_FROM
from annotation.models import Attempt, Slot
from annotation.transitions import Actor, move


def keep_late(attempt: Attempt, *, now: datetime) -> None:
    """Give a released attempt a place for the submission that comes all the same: a free one, else one beyond the k.

    To be called in the transaction that holds the attempt's row. A surplus attempt is an ordinary one but for its slot's
    kind, by which every figure leaves it out and counts it as left out.
    """
    study, person = attempt.slot.study, attempt.annotator
    held = {"state": Slot.State.TAKEN, "annotator": person, "taken_at": now, "lease_end": now + LEASE}
    same = Slot.objects.filter(study=study, version=attempt.slot.version_id)
    busy = Slot.objects.filter(study=study, annotator=person, state=Slot.State.TAKEN).exists()
    free = None if busy else same.of_the_study().filter(state=Slot.State.FREE, paused=False).first()
    if free is not None and Slot.objects.filter(pk=free.pk, state=Slot.State.FREE).update(**held):
        free.annotator = person
        attempt.slot = free
    else:
        last = same.aggregate(last=Max("number"))["last"]
        attempt.slot = Slot.objects.create(
            study=study,
            version_id=attempt.slot.version_id,
            number=max(last, OWN_FROM) + 1,
            kind=Slot.Kind.EXTRA,
            **held,
        )
    mine = Attempt.objects.filter(pk=attempt.pk)
    move(mine, to=Attempt.State.OPEN, by=Actor.ANNOTATOR, now=now, slot=attempt.slot)
    attempt.state, attempt.ended_at = Attempt.State.OPEN, None
