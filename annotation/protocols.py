"""PROTOCOL: the rules of a study: written as a draft, frozen when they come into force, changed by the next number."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from django.db import IntegrityError, transaction

from annotation.models import Protocol, Study, User
from annotation.studies import StudyRefused, fill_slots, refuse_if_closed
from examples.models import audit

KEPT = ("id", "study", "number", "reason", "frozen_at", "created_by", "created_at")
RULES = tuple(field.name for field in Protocol._meta.concrete_fields if field.name not in KEPT)


def new_study(*, name: str, title: str, by: User | None, **rules: Any) -> Study:
    """Return a new draft of a study with its first protocol, also a draft; `rules` are fields of Protocol."""
    with transaction.atomic():
        study = Study.objects.create(name=name, title=title, created_by=by)
        Protocol.objects.create(study=study, created_by=by, **rules)
        audit(by, "make study", f"study:{study.pk}")
    return study


def write_draft(protocol: Protocol, rules: Mapping[str, Any], *, by: User) -> None:
    """Change rules of a protocol that is not in force yet. Raises StudyRefused once it is frozen."""
    with transaction.atomic():
        if not Protocol.objects.filter(pk=protocol.pk, frozen_at=None).update(**rules):
            raise StudyRefused(
                f"Protocol {protocol.number} is frozen; write a change with its reason instead."
            )
        audit(
            by, "change protocol", f"study:{protocol.study_id}", number=protocol.number, changed=sorted(rules)
        )


def raise_solvers(study: Study, solvers: int, *, by: User, reason: str, now: datetime) -> int:
    """Raise k, and return how many slots that adds: of a draft in place, after that by a new protocol with the reason.

    Raises StudyRefused for a smaller or equal k, without a reason where one is due, and in a closed study.
    """
    refuse_if_closed(study)
    protocol = study.protocol
    if solvers <= protocol.solvers:
        raise StudyRefused(f"k is {protocol.solvers} and can only be raised.")
    with transaction.atomic():
        if protocol.frozen_at is None:
            write_draft(protocol, {"solvers": solvers}, by=by)
        else:
            _next(study, {"solvers": solvers}, by=by, reason=reason, frozen_at=now)
        audit(by, "raise solvers", f"study:{study.pk}", before=protocol.solvers, after=solvers)
        study.refresh_from_db()
        return 0 if study.state == Study.State.DRAFT else fill_slots(study)


def _next(
    study: Study, changes: Mapping[str, Any], *, by: User, reason: str, frozen_at: datetime | None
) -> Protocol:
    """Return the protocol after the one in force, with the changes. Raises StudyRefused while another is being written."""
    if not reason.strip():
        raise StudyRefused("Say why the protocol changes; the reason is published with the figures.")
    before = study.protocol
    rules = {name: getattr(before, name) for name in RULES} | dict(changes)
    try:
        with transaction.atomic():
            return Protocol.objects.create(
                study=study,
                number=before.number + 1,
                reason=reason.strip(),
                frozen_at=frozen_at,
                created_by=by,
                **rules,
            )
    except IntegrityError as conflict:
        raise StudyRefused(
            f"Protocol {before.number + 1} is being written already: put it into force or drop it first."
        ) from conflict
