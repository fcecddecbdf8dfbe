"""ADJUDICATE: try a fix: an edit of a version, all recorded solutions executed against it, before it becomes a version."""

from __future__ import annotations

from typing import NamedTuple

from django.db import IntegrityError, transaction
from django.db.models.functions import Now

from annotation.adjudication import DecisionRefused, decide, why_not
from annotation.carrying import carries, carry
from annotation.models import Adjudication, Fix, Trial, User
from annotation.solutions import recorded
from annotation.trials import NotExecuted, ask_trials, trials_of
from examples.editing import Edit, edit_of, prepare
from examples.models import Version, audit
from examples.proposing import NothingChanged, Overtaken, propose_version

TEXTS = ("instruction", "context", "reference", "tests", "block", "visible")


class Accepted(NamedTuple):
    """What came of accepting a fix: the version, and how many verdicts hold for it too (None: new solves are needed)."""

    version: Version
    carried: int | None


def try_fix(version: Version, edit: Edit, *, note: str, by: User) -> Fix:
    """Keep the edit as a fix that is tried, ask for all executions it takes, and return it; no version is made.

    The reference and every recorded solution are executed against it, and against the version as it stands where that
    was not done yet, so that both can be compared. The same edit tried again is the same fix. Raises DecisionRefused,
    EditInvalid, NothingChanged, Overtaken, NotExecuted.
    """
    if refusal := why_not(version, by):
        raise DecisionRefused(refusal)
    proposal = prepare(version, edit)
    as_it_is = prepare(version, edit_of(version)).content_hash
    if (proposal.content_hash, edit.environment.pk) == (as_it_is, version.environment_id):
        raise NothingChanged(
            f"Nothing is different from version {version.number}, so there is nothing to try."
        )
    _refuse_late(version)
    if not edit.environment.image_digest:
        raise NotExecuted(f"Environment {edit.environment.name} is not built yet. Build it first.")
    same = Fix.objects.filter(
        base=version,
        content_hash=proposal.content_hash,
        environment=edit.environment,
        state=Fix.State.TRIED,
    )
    fix = same.first()
    if fix is None:
        try:
            with transaction.atomic():
                fix = Fix.objects.create(
                    base=version,
                    edit={name: getattr(edit, name) for name in TEXTS},
                    environment=edit.environment,
                    content_hash=proposal.content_hash,
                    note=note.strip(),
                    made_by=by,
                )
                audit(by, "fix tried", f"version:{version.pk}", fix=fix.pk)
        except IntegrityError:  # the same edit, in another tab
            fix = same.get()
    execute_fix(fix, by=by)
    return fix


def execute_fix(fix: Fix, *, by: User) -> int:
    """Ask for what was not executed yet of the fix and of its base, and return how many; what stayed unjudged again."""
    solutions = recorded(fix.base)
    asked = ask_trials(fix.base, solutions, by=by, fix=fix, target=draft_of(fix))
    return asked + ask_trials(fix.base, solutions, by=by)


def edit_of_fix(fix: Fix) -> Edit:
    """Return the edit as it was sent."""
    return Edit(environment=fix.environment, **fix.edit)


def draft_of(fix: Fix) -> Version:
    """Return the content of the fix as an unsaved version of the same example, with the limits of its base."""
    made = prepare(fix.base, edit_of_fix(fix)).version
    made.example, made.number = fix.base.example, fix.base.number + 1
    made.cpu_limit_seconds = fix.base.cpu_limit_seconds
    return made


def accept_fix(fix: Fix, *, severity: int, reason: str, by: User) -> Accepted:
    """Make the fix the next version of its example; with it the decision that its base needed one. Raises DecisionRefused.

    Where instruction and context are as they were, the verdicts hold for it too, flagged `carried`; else it needs new
    solves. Everything must have been executed, and the reference must pass. Raises Overtaken, NothingChanged as well.
    """
    _refuse_unready(fix)
    target = draft_of(fix)
    with transaction.atomic():
        if not Fix.objects.select_for_update().filter(pk=fix.pk, state=Fix.State.TRIED).exists():
            raise DecisionRefused("Somebody has decided on this fix meanwhile.")
        decide(fix.base, decision=Adjudication.Decision.REPAIR, severity=severity, reason=reason, by=by)
        made = propose_version(fix.base, edit_of_fix(fix), note=fix.note, by=by)
        Fix.objects.filter(pk=fix.pk).update(
            state=Fix.State.ACCEPTED, made=made, reason=reason.strip(), ended_by=by, ended_at=Now()
        )
        carried = carry(fix, made) if carries(fix, target) else None
        audit(by, "fix accepted", f"version:{fix.base_id}", fix=fix.pk, made=made.pk, carried=carried)
    fix.refresh_from_db()
    return Accepted(made, carried)


def discard_fix(fix: Fix, *, reason: str, by: User) -> None:
    """End the fix without a version; it stays on the record with what was executed. Raises DecisionRefused."""
    if refusal := why_not(fix.base, by):
        raise DecisionRefused(refusal)
    if not reason.strip():
        raise DecisionRefused("Give a reason: the next curator need not try it again.")
    with transaction.atomic():
        ended = Fix.objects.filter(pk=fix.pk, state=Fix.State.TRIED).update(
            state=Fix.State.DISCARDED, reason=reason.strip(), ended_by=by, ended_at=Now()
        )
        if not ended:
            raise DecisionRefused("Somebody has decided on this fix meanwhile.")
        audit(by, "fix discarded", f"version:{fix.base_id}", fix=fix.pk)
    fix.refresh_from_db()


def _refuse_late(version: Version) -> None:
    current = version.example.current
    if current is not None and current.pk != version.pk:
        raise Overtaken(
            f"Version {current.number} is the current one. Try a fix of that; this one stays as it was."
        )


def _refuse_unready(fix: Fix) -> None:
    """Raise where not everything was executed, or the reference does not pass."""
    trials = list(trials_of(fix.base, fix).select_related("execution"))
    done = {trial.sha256 for trial in trials}
    if any(trial.execution.is_open for trial in trials) or any(
        each.sha256 not in done for each in recorded(fix.base)
    ):
        raise DecisionRefused("Not everything was executed yet: execute what is missing, then decide.")
    reference = next((each for each in trials if each.program == Trial.Program.REFERENCE), None)
    if reference is None or not reference.execution.passed:
        raise DecisionRefused(
            "The reference does not pass the fix, so its checks would fail. Mend one of the two."
        )
