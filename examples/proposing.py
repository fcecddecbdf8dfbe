"""CURATE: a repaired example is a new version: saved beside the old one, made the current one, and checked."""

from __future__ import annotations

from typing import Any

from django.db import transaction
from django.db.models import Max

from examples.editing import Edit, Proposal, prepare
from examples.models import Example, Version, audit
from examples.waking import wake_on_commit


class NothingChanged(Exception):
    """The example has this content already; the message says in which version."""


class Overtaken(Exception):
    """Somebody made a version meanwhile; the message says which."""


def propose_version(version: Version, edit: Edit, *, note: str, by: Any) -> Version:
    """Save the edit as the next version of the example, make it the current one, and let it be checked.

    `version` is the one the edit was made from; it stays as it is. An accepted example is a candidate again, since what
    was accepted is not what it is now. Raises EditInvalid, NothingChanged, Overtaken.
    """
    from examples.tasks import check_waiting

    proposal = prepare(version, edit)
    with transaction.atomic():
        example = Example.objects.select_for_update().get(pk=version.example_id)
        _refuse_late(example, version)
        _refuse_same(example, proposal)
        made = proposal.version
        made.example, made.note, made.author = example, note.strip(), by
        made.number = 1 + (example.versions.aggregate(last=Max("number"))["last"] or 0)
        made.save(force_insert=True)
        example.current = made
        if example.status == Example.Status.ACCEPTED:
            example.status = Example.Status.CANDIDATE
        example.save(update_fields=["current", "status"])
        audit(by, "version made", f"example:{example.pk}", number=made.number, note=made.note)
        wake_on_commit(check_waiting)
    return made


def _refuse_late(example: Example, version: Version) -> None:
    if example.current_id != version.pk:
        newest = example.current.number if example.current else 0
        raise Overtaken(f"Version {newest} was made while you edited version {version.number}.")


def _refuse_same(example: Example, proposal: Proposal) -> None:
    """Raise NothingChanged where the example has this content and environment in one of its versions."""
    same = example.versions.filter(
        content_hash=proposal.content_hash, environment=proposal.environment
    ).first()
    if same is None:
        return
    if same.pk == example.current_id:
        raise NothingChanged(f"Nothing is different from version {same.number}, so there is nothing to save.")
    raise NothingChanged(
        f"This is the content of version {same.number}, which is kept. Change something else as well."
    )
