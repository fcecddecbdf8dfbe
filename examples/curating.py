"""CURATE: accept, retire, check again, repeat the reference; each with who and why, in the audit table."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from django.db import IntegrityError, transaction

from examples.checking.run import TITLES, request_checks
from examples.models import AuditEntry, Dataset, Example, Repeats, Version, audit
from examples.waking import wake_on_commit

BATCH = 200
MOST_REPEATS = 500
State = Version.CheckState


class NotAccepted(Exception):
    """The example may not be accepted; the message says why."""


class ReasonMissing(Exception):
    """Whoever retires an example must say why."""


class RepeatsOpen(Exception):
    """Somebody has asked for repeats of the version, and their result is not there yet."""


class ChecksOpen(Exception):
    """The version waits for its checks or is being checked, which repeats the reference anyway."""


@dataclass
class Done:
    """What a bulk action did: how many examples changed, and how many did not, by reason."""

    changed: int = 0
    refused: Counter[str] = field(default_factory=Counter)


def why_not(version: Version | None) -> str:
    """Return why an example with this current version may not be accepted, "" when it may."""
    if version is None:
        return "it has no version"
    if version.check_state == State.FAILED:
        return f"its checks failed ({titles(version.failed_checks)})"
    return {
        State.PENDING: "its checks have not run yet",
        State.RUNNING: "its checks are running",
        State.UNJUDGED: "its checks could not be judged; run them again",
    }.get(State(version.check_state), "")


def titles(failed_checks: str) -> str:
    """Return the titles of checks named in `Version.failed_checks`."""
    return ", ".join(TITLES.get(name, name) for name in failed_checks.split(",") if name)


def accept(example: Example, *, by: Any) -> None:
    """Accept an example whose checks all passed; a retired one comes back by this. Raises NotAccepted."""
    done = accept_all([example.pk], by=by)
    for reason in done.refused:
        raise NotAccepted(f"{example.label} cannot be accepted: {reason}.")


def retire(example: Example, *, reason: str, by: Any) -> None:
    """Retire an example, which keeps it out of studies and releases from now on. Raises ReasonMissing."""
    retire_all([example.pk], reason=reason, by=by)


def accept_all(ids: Sequence[int], *, by: Any) -> Done:
    """Accept those of the examples whose checks all passed, a batch at a time."""
    done = Done()
    for batch in _batches(ids):
        examples = Example.objects.filter(pk__in=batch).exclude(status=Example.Status.ACCEPTED)
        shown = examples.select_related("current").only(
            "current__check_state", "current__failed_checks", "current__number"
        )
        verdicts = {example.pk: (why_not(example.current), example.current) for example in shown}
        fit = [pk for pk, (reason, _) in verdicts.items() if not reason]
        done.refused.update(reason for reason, _ in verdicts.values() if reason)
        with transaction.atomic():
            # Under the condition once more: a check that began meanwhile is not overlooked.
            fit = list(
                Example.objects.filter(pk__in=fit, current__check_state=State.PASSED).values_list(
                    "pk", flat=True
                )
            )
            done.changed += Example.objects.filter(pk__in=fit).update(
                status=Example.Status.ACCEPTED, status_reason=""
            )
            _audit(by, "example accepted", fit)
    return done


def retire_all(ids: Sequence[int], *, reason: str, by: Any) -> Done:
    """Retire the examples, a batch at a time. Raises ReasonMissing."""
    reason = reason.strip()
    if not reason:
        raise ReasonMissing
    done = Done()
    for batch in _batches(ids):
        with transaction.atomic():
            open_ = Example.objects.filter(pk__in=batch).exclude(status=Example.Status.RETIRED)
            retired = list(open_.values_list("pk", flat=True))
            done.changed += open_.update(status=Example.Status.RETIRED, status_reason=reason)
            _audit(by, "example retired", retired, reason=reason)
    done.refused["they were retired before"] += len(ids) - done.changed
    return done


def check_all(ids: Sequence[int], *, by: Any) -> Done:
    """Let workers check the examples' current versions again; those being checked at this moment are left alone."""
    done = Done()
    for batch in _batches(ids):
        versions = dict(
            Example.objects.filter(pk__in=batch, current__isnull=False).values_list("pk", "current")
        )
        with transaction.atomic():
            done.changed += request_checks(list(versions.values()))
            _audit(by, "checks asked for", list(versions))
    done.refused["they are being checked now"] += len(ids) - done.changed
    _wake()
    return done


def ask_repeats(version: Version, *, times: int, by: Any) -> None:
    """Let a worker execute the version's reference `times` more, each cold under a new seed.

    The request is a row: a queue that loses the message costs seconds. Raises ValueError outside 1 to MOST_REPEATS,
    ChecksOpen before the checks are done, RepeatsOpen before other repeats are: their findings would be mixed.
    """
    from examples.tasks import repeat

    if not 1 <= times <= MOST_REPEATS:
        raise ValueError(f"ask for 1 to {MOST_REPEATS} repeats")
    if version.check_state in (State.PENDING, State.RUNNING):
        raise ChecksOpen
    try:
        with transaction.atomic():
            asked = Repeats.objects.create(version=version, times=times, asked_by=by)
            audit(by, "repeats asked for", f"version:{version.pk}", times=times)
            wake_on_commit(repeat, asked.pk)
    except IntegrityError as error:
        raise RepeatsOpen from error


def edit_dataset(dataset: Dataset, *, by: Any, **values: Any) -> bool:
    """Change title, licence, source or own CPU limit; a new licence decides the licence check anew at once.

    Returns whether the licence changed. A CPU limit holds from the next check of a version on.
    """
    from examples.checking.relicensing import decide_licence

    before = {name: getattr(dataset, name) for name in values}
    changed = {name: value for name, value in values.items() if before[name] != value}
    if not changed:
        return False
    with transaction.atomic():
        Dataset.objects.filter(pk=dataset.pk).update(**changed)
        audit(by, "dataset edited", f"dataset:{dataset.name}", before=_told(before, changed), after=changed)
        if "licence" in changed:
            decide_licence(
                Example.objects.filter(dataset=dataset, licence=""),
                changed["licence"],
                f"of dataset {dataset.name}",
            )
    return "licence" in changed


def set_licence(example: Example, licence: str, *, by: Any) -> None:
    """Set the example's own licence ("" falls back to its dataset's) and decide its licence check anew."""
    from examples.checking.relicensing import decide_licence

    with transaction.atomic():
        Example.objects.filter(pk=example.pk).update(licence=licence)
        audit(by, "licence set", f"example:{example.pk}", before=example.licence, after=licence)
        where = "of the example" if licence else f"of dataset {example.dataset.name}"
        decide_licence(Example.objects.filter(pk=example.pk), licence or example.dataset.licence, where)


def _told(before: dict[str, Any], changed: dict[str, Any]) -> dict[str, Any]:
    return {name: before[name] for name in changed}


def _batches(ids: Sequence[int]) -> Iterator[Sequence[int]]:
    """Yield the ids in pieces, so that no transaction keeps others waiting."""
    for start in range(0, len(ids), BATCH):
        yield ids[start : start + BATCH]


def _audit(by: Any, action: str, ids: Sequence[int], **detail: Any) -> None:
    AuditEntry.objects.bulk_create(
        AuditEntry(person=by, action=action, subject=f"example:{pk}", detail=detail) for pk in ids
    )


def _wake() -> None:
    """Wake a worker for what waits; the reconciler does it anyway, a few seconds later."""
    from examples.tasks import check_waiting

    wake_on_commit(check_waiting)
