"""What tests of this app start from: a usable version, an open study with slots, an attempt."""

from __future__ import annotations

from datetime import datetime, timedelta
from itertools import count
from typing import Any

from django.utils import timezone

from annotation.assignment import take_slot
from annotation.forms.protocol import ProtocolForm
from annotation.models import Attempt, Beat, Run, Slot, Study, StudyPerson, User
from examples.masking import mask
from examples.models import Dataset, Example, Version
from runner.models import Environment, Execution
from runner.outcome import Outcome
from tests.factories import study_with_protocol

SOURCE = '''"""Prices in a shop."""

RATE = 0.2


def with_tax(net: float) -> float:
    """Return the price with tax, rounded to cents."""
    return round(net * (1 + RATE), 2)


def test_with_tax():
    assert with_tax(100) == 120.0
    assert with_tax(0) == 0.0
    secret_value = 19.99
    assert with_tax(secret_value) == 23.99
'''
WRONG = "def with_tax(net: float) -> float:\n    return net\n"
RIGHT = "def with_tax(net: float) -> float:\n    return round(net * (1 + RATE), 2)\n"
_numbers = count(1)


def make_version(*, source: str = SOURCE, focal: str = "with_tax", **fields: Any) -> Version:
    """Return the current version, checks passed, of a new example."""
    number = next(_numbers)
    dataset, _ = Dataset.objects.get_or_create(name="shop", defaults={"title": "Shop", "licence": "MIT"})
    environment, _ = Environment.objects.get_or_create(name="plain")
    masked = mask(source, focal)
    example = Example.objects.create(dataset=dataset, key=f"shop-{number}", title=f"Price number {number}")
    stored = {
        "instruction": "Complete `with_tax`: the price with tax.",
        "focal_name": focal,
        "context": masked.context,
        "gap": masked.gap,
        "reference": masked.reference,
        "segments": [vars(each) for each in masked.tests],
        "block": masked.block,
        "expected": list(masked.expected),
        "visible": 1,
        "content_hash": f"{number:064d}",
        "check_state": Version.CheckState.PASSED,
        "cpu_limit_seconds": 2.0,
    }
    version = Version.objects.create(example=example, number=1, environment=environment, **stored | fields)
    example.current = version
    example.save(update_fields=["current"])
    return version


def make_study(
    *, people: list[User], versions: int | list[Version] = 1, state: str = "open", **fields: Any
) -> Study:
    """Return a study with its people and k slots per version; `fields` are its own or its protocol's."""
    chosen = [make_version() for _ in range(versions)] if isinstance(versions, int) else versions
    opened = None if state == "draft" else timezone.now()
    fields = {"name": f"study-{next(_numbers)}", "title": "Prices", "opened_at": opened, **fields}
    study = study_with_protocol(state=state, **fields)
    StudyPerson.objects.bulk_create(StudyPerson(study=study, person=person) for person in people)
    Slot.objects.bulk_create(
        Slot(study=study, version=version, number=number)
        for version in chosen
        for number in range(1, study.protocol.solvers + 1)
    )
    return study


def posted_protocol(**changes: object) -> dict[str, object]:
    """Return what the form of a new protocol sends, as it stands, with changes; None takes a field out."""
    form = ProtocolForm()
    data = {name: form.get_initial_for_field(field, name) for name, field in form.fields.items()} | changes
    return {name: value for name, value in data.items() if value is not None and value is not False}


def make_attempt(person: User, *, now: datetime | None = None, **fields: Any) -> Attempt:
    """Return the person's open attempt in a new study of theirs."""
    attempt = take_slot(make_study(people=[person], **fields), person, now or timezone.now())
    assert isinstance(attempt, Attempt)
    return attempt


def finish(run: Run, outcome: Outcome = Outcome.PASSED, *, tampered: bool = False) -> None:
    """Let a run's execution have come to an outcome, as a worker would leave it."""
    Execution.objects.filter(pk=run.execution_id).update(
        state=Execution.State.FINISHED, outcome=outcome, tampered=tampered, finished_at=timezone.now()
    )


def leave_unjudged(run: Run) -> None:
    """Let a run's execution have failed by our fault."""
    Execution.objects.filter(pk=run.execution_id).update(
        state=Execution.State.UNJUDGED, reason="no worker", finished_at=timezone.now()
    )


def work_for(attempt: Attempt, *, minutes: float, until: datetime) -> None:
    """Add beats of somebody who types without a break, every 15 s, and start the attempt at the first of them."""
    start = until - timedelta(minutes=minutes)
    Attempt.objects.filter(pk=attempt.pk).update(started_at=start)
    Beat.objects.bulk_create(
        Beat(
            attempt=attempt, at=start + timedelta(seconds=15 * at), tab="t", visible=True, ms_since_input=500
        )
        for at in range(int(minutes * 4) + 1)
    )
    attempt.refresh_from_db()
