"""ATTEMPT: pastes: how much came from where, never what; only in a study whose annotators agreed to it."""

from __future__ import annotations

from datetime import timedelta

from django.db import IntegrityError, transaction
from django.utils import timezone

from annotation.models import Attempt, Paste

# Far beyond what a person does; what is beyond tells nothing new.
PASTES_PER_MINUTE, PASTES = 60, 5000
MOST = 2**31 - 1


def record_paste(
    attempt: Attempt, *, key: str, editor: str, origin: str, characters: int, lines: int
) -> bool:
    """Store a paste with the server's time, and return whether a row was added.

    None is where the protocol records no pastes, once the work has ended, for a key that is stored already, and beyond
    what is kept. Raises ValueError for an editor or an origin that there is not.
    """
    if editor not in Paste.Editor.values or origin not in Paste.Origin.values:
        raise ValueError(f"There is no editor {editor!r}, or no origin {origin!r}.")
    if not attempt.protocol.records_pastes or attempt.state != Attempt.State.OPEN:
        return False
    if _too_many(attempt):
        return False
    sizes = {"characters": min(characters, MOST), "lines": min(lines, MOST)}
    try:
        with transaction.atomic():
            Paste.objects.create(attempt=attempt, key=key, editor=editor, origin=origin, **sizes)
    except IntegrityError:
        return False
    return True


def _too_many(attempt: Attempt) -> bool:
    within = attempt.pastes.filter(at__gt=timezone.now() - timedelta(minutes=1))
    return within.count() >= PASTES_PER_MINUTE or attempt.pastes.count() >= PASTES
