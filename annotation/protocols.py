"""PROTOCOL: the rules of a study: written as a draft, frozen when they come into force, changed by the next number."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db import IntegrityError, transaction

from annotation.models import Arm, Protocol, Study, User
from annotation.studies import StudyRefused, fill_slots, refuse_if_closed
from annotation.study.exclusions import CATALOGUE, value_of
from examples.models import audit

# What a protocol says, in the order of form and preview, and what each is called.
LABELS = {
    "solvers": "Solvers for each version (k)",
    "seed": "Seed of sample, order and arms",
    "sample_size": "Versions drawn",
    "strata": "Strata",
    "order": "Order",
    "shows_visible_tests": "Annotators see and run the visible tests",
    "arms": "Allowed help",
    "records_pastes": "Time and length of pastes are recorded",
    "active_limit_seconds": "Limit on active time",
    "idle_limit_seconds": "Idle limit",
    "give_up_after_seconds": "Giving up is possible after",
    "submissions": "Submissions allowed (m)",
    "difficulty_question": "Question about difficulty",
    "difficulty_levels": "Difficulty scale",
    "instruction_anchors": "What the grades of an instruction mean",
    "test_anchors": "What the grades of tests mean",
    "note_from": "A note is needed from grade",
    "asks_confidence": "Asks how sure they are",
    "asks_prior_exposure": "Asks whether they had seen the example before",
    "reveals_after_closing": "Shows reference and hidden tests after closing, for a second judgement",
    "guidelines": "Guidelines",
    "consent_text": "Consent text",
    "exclusion_rules": "Exclusion rules",
    "warm_up": "Warm-up in the real editor",
    "pass_mark": "Pass mark of the qualification",
    "gold_every": "One gold example after so many others",
}
# What an open study cannot change: its sample is drawn, and its order and arms follow from the seed.
FIXED = ("seed", "sample_size", "strata", "order")


@dataclass(frozen=True)
class Change:
    """A rule that two protocols have otherwise, in words."""

    label: str
    before: str
    after: str


def new_study(*, name: str, title: str, by: User | None, **rules: Any) -> Study:
    """Return a new draft of a study with its first protocol, also a draft; `rules` are fields of Protocol."""
    with transaction.atomic():
        study = Study.objects.create(name=name, title=title, created_by=by)
        Protocol.objects.create(study=study, created_by=by, **rules)
        audit(by, "make study", f"study:{study.pk}")
    return study


def write_draft(protocol: Protocol, rules: Mapping[str, Any], *, by: User) -> None:
    """Change rules of a protocol that is not in force yet. Raises StudyRefused once it is frozen."""
    changed = sorted(name for name, value in rules.items() if getattr(protocol, name) != value)
    with transaction.atomic():
        if not Protocol.objects.filter(pk=protocol.pk, frozen_at=None).update(**rules):
            raise StudyRefused(
                f"Protocol {protocol.number} is frozen. Write a change with its reason instead."
            )
        audit(by, "change protocol", f"study:{protocol.study_id}", number=protocol.number, changed=changed)


def propose_change(study: Study, rules: Mapping[str, Any], *, reason: str, by: User) -> Protocol:
    """Return the draft of the next protocol of an open or paused study, with these rules and the reason.

    There is one draft at a time: written again it is changed. Nothing holds before it is put into force. Raises
    StudyRefused without a reason, where nothing would change, and for what an open study cannot change.
    """
    refuse_if_closed(study)
    if study.state == Study.State.DRAFT:
        raise StudyRefused("The study is a draft: change its first protocol.")
    _refuse_impossible(study.protocol, rules)
    reason = _needed(reason)
    with transaction.atomic():
        draft = study.proposed or _next(study, {}, by=by, reason=reason, frozen_at=None)
        write_draft(draft, {**rules, "reason": reason}, by=by)
    study.refresh_from_db()
    draft.refresh_from_db()
    return draft


def put_into_force(study: Study, *, by: User, now: datetime) -> Protocol:
    """Freeze the draft of the next protocol: what begins from now on is held to it. Returns it.

    Attempts that have begun stay under their own protocol. Raises StudyRefused where there is no draft, it changes
    nothing, or the study is closed.
    """
    refuse_if_closed(study)
    draft = study.proposed
    if draft is None or study.state == Study.State.DRAFT:
        raise StudyRefused("No change is being written.")
    if not differences(study.protocol, draft):
        raise StudyRefused(f"Protocol {draft.number} changes nothing. Change something, or drop the draft.")
    _refuse_impossible(study.protocol, {name: getattr(draft, name) for name in LABELS})
    with transaction.atomic():
        if not Protocol.objects.filter(pk=draft.pk, frozen_at=None).update(frozen_at=now):
            raise StudyRefused("Somebody has changed the protocol meanwhile; look at it again.")
        audit(by, "protocol into force", f"study:{study.pk}", number=draft.number, reason=draft.reason)
        study.refresh_from_db()
        fill_slots(study)
    return study.protocol


def drop_change(study: Study, *, by: User) -> None:
    """Throw the draft of the next protocol away; nothing was ever held to it."""
    with transaction.atomic():
        dropped, _ = Protocol.objects.filter(study=study, frozen_at=None, number__gt=1).delete()
        if not dropped:
            raise StudyRefused("No change is being written.")
        audit(by, "drop protocol draft", f"study:{study.pk}")
    study.refresh_from_db()


def raise_solvers(study: Study, solvers: int, *, by: User, reason: str, now: datetime) -> int:
    """Raise k, and return how many slots that adds: of a draft in place, after that by a new protocol with the reason.

    Raises StudyRefused for a smaller or equal k, without a reason where one is due, while another change is being
    written, and in a closed study.
    """
    refuse_if_closed(study)
    protocol = study.protocol
    if solvers <= protocol.solvers:
        raise StudyRefused(f"k is {protocol.solvers} and can only be raised.")
    with transaction.atomic():
        if protocol.frozen_at is None:
            write_draft(protocol, {"solvers": solvers}, by=by)
        else:
            _next(study, {"solvers": solvers}, by=by, reason=_needed(reason), frozen_at=now)
        audit(by, "raise solvers", f"study:{study.pk}", before=protocol.solvers, after=solvers)
        study.refresh_from_db()
        return 0 if study.state == Study.State.DRAFT else fill_slots(study)


def differences(before: Protocol, after: Protocol) -> list[Change]:
    """Return what the later protocol says otherwise, in the order of the form."""
    return [
        Change(label, in_words(name, getattr(before, name)), in_words(name, getattr(after, name)))
        for name, label in LABELS.items()
        if getattr(before, name) != getattr(after, name)
    ]


def in_words(name: str, value: Any) -> str:
    """Return a rule's value as people read it."""
    if name == "exclusion_rules":
        return "; ".join(_rule_in_words(each) for each in value) or "none"
    if name == "arms":
        return ", ".join(Arm(each).label for each in value)
    if name == "strata":
        return "; ".join(_stratum_in_words(part) for part in value) or "none"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if value is None or value == "":
        return "none"
    if isinstance(value, list):
        return "; ".join(map(str, value))
    if name.endswith("_seconds"):
        return f"{value // 60} min" if value and value % 60 == 0 else f"{value} s"
    return f"{100 * value:.0f} %" if name == "pass_mark" else str(value)


def _stratum_in_words(part: Mapping[str, Any]) -> str:
    values = ", ".join(str(value) for name, value in part.items() if name not in ("of", "drawn")) or "all"
    return f"{values}: {part['drawn']} of {part['of']}"


def _rule_in_words(declared: Mapping[str, Any]) -> str:
    rule = CATALOGUE[declared["rule"]]
    if not rule.parameter:
        return rule.label
    unit = " s" if rule.parameter == "seconds" else ""
    return rule.in_words(f"{rule.label} (below {{value}}{unit})", value_of(declared))


def _refuse_impossible(before: Protocol, rules: Mapping[str, Any]) -> None:
    """Raise for what an open study cannot change."""
    for name in FIXED:
        if name in rules and rules[name] != getattr(before, name):
            raise StudyRefused(f"{LABELS[name]}: fixed since the study opened. Make a new study for another.")
    if rules.get("solvers", before.solvers) < before.solvers:
        raise StudyRefused(f"k is {before.solvers} and can only be raised.")


def _needed(reason: str) -> str:
    if not reason.strip():
        raise StudyRefused("Say why the protocol changes; the reason is published with the figures.")
    return reason.strip()


def _next(
    study: Study, changes: Mapping[str, Any], *, by: User, reason: str, frozen_at: datetime | None
) -> Protocol:
    """Return the protocol after the one in force, with the changes. Raises StudyRefused while another is being written."""
    before = study.protocol
    rules = {name: getattr(before, name) for name in LABELS} | dict(changes)
    try:
        with transaction.atomic():
            return Protocol.objects.create(
                study=study,
                number=before.number + 1,
                reason=reason,
                frozen_at=frozen_at,
                created_by=by,
                **rules,
            )
    except IntegrityError as conflict:
        raise StudyRefused(
            f"Protocol {before.number + 1} is being written already: put it into force or drop it first."
        ) from conflict
