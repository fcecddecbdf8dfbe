"""SECOND JUDGEMENT: reference and hidden tests shown once the verdict stands, and what their annotator then says."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any, NamedTuple

from django.db import IntegrityError, transaction
from django.db.models import Exists, OuterRef, QuerySet

from annotation.attempts import Refused
from annotation.models import Attempt, GoldItem, Reveal, Run, SecondJudgement, Slot, Study, User
from examples.models import Version, audit
from examples.showing import TestsShown, shown_tests, whole_reference
from runner.models import TestRow
from runner.outcome import Outcome

FAILED_SHOWN = 20


class NotRevealed(Refused):
    """Reference and hidden tests stay hidden from this person."""


class Hidden(StrEnum):
    """Why reference and hidden tests stay hidden."""

    NO = ""
    NOT_ASKED = "the protocol asks for no second judgement"
    NOT_CLOSED = "the verdict comes first"
    MAY_COME_AGAIN = "you could still be given this example in another study"


class Failed(NamedTuple):
    """An assertion that the last submission did not pass, and its line of the tests."""

    row: TestRow
    source: str


@dataclass(frozen=True)
class Revealed:
    """What is shown: the reference as a whole function, every test with the border of the visible ones, own results."""

    reference: str
    tests: TestsShown
    block: str
    submission: Run | None
    failed: tuple[Failed, ...]


def why_hidden(attempt: Attempt) -> Hidden:
    """Return why the attempt's annotator is not shown the reference, `Hidden.NO` where they may be."""
    if not attempt.protocol.reveals_after_closing:
        return Hidden.NOT_ASKED
    if attempt.state != Attempt.State.CLOSED:
        return Hidden.NOT_CLOSED
    if may_come_again(attempt.annotator, attempt.slot.version):
        return Hidden.MAY_COME_AGAIN
    return Hidden.NO


def may_come_again(person: User, version: Version) -> bool:
    """Whether the person works on the example elsewhere, or a study they take part in could still offer it to them.

    Any version of the example counts: what solves one nearly always solves the next.
    """
    example = {"slot__version__example": version.example_id}
    if Attempt.objects.open().filter(annotator=person, **example).exists():
        return True
    closed = Attempt.objects.filter(
        annotator=person,
        slot__study=OuterRef("study"),
        slot__version=OuterRef("version"),
        state=Attempt.State.CLOSED,
    )
    here = {
        "version__example": version.example_id,
        "study__people__person": person,
        "study__people__active": True,
    }
    places = Slot.objects.filter(~Exists(closed), **here).exclude(state=Slot.State.CLOSED)
    gold = GoldItem.objects.filter(~Exists(closed), **here)
    return any(each.exclude(study__state=Study.State.CLOSED).exists() for each in (places, gold))


def known_to(person: User | int) -> QuerySet[Version]:
    """Return the versions of every example whose reference was shown to the person (or that pk): none is offered again."""
    shown = Reveal.objects.filter(attempt__annotator=person)
    return Version.objects.filter(example__in=shown.values("attempt__slot__version__example"))


def reveal(attempt: Attempt, *, now: datetime) -> Reveal:
    """Record that reference and hidden tests are shown from now on; once for an attempt. Raises NotRevealed."""
    with transaction.atomic():
        Attempt.objects.select_for_update().get(
            pk=attempt.pk
        )  # a curator re-opens the verdict under the same lock
        attempt.refresh_from_db(fields=["state"])
        if why := why_hidden(attempt):
            raise NotRevealed(why)
        found, _ = Reveal.objects.get_or_create(attempt=attempt, defaults={"at": now})
    return found


def look(attempt: Attempt) -> Revealed:
    """Return what a revealed attempt shows to its annotator, and log the look. Raises NotRevealed."""
    if why_hidden(attempt) not in (Hidden.NO, Hidden.MAY_COME_AGAIN) or not hasattr(attempt, "reveal"):
        raise NotRevealed(Hidden.NOT_CLOSED)
    version = attempt.slot.version
    audit(attempt.annotator, "reference revealed", f"attempt:{attempt.pk}", version=version.pk)
    last = attempt.runs.filter(kind=Run.Kind.SUBMISSION).select_related("execution").last()
    tests = shown_tests(version)
    return Revealed(
        reference=whole_reference(version),
        tests=tests,
        block=version.block,
        submission=last,
        failed=tuple(_failed(last, tests.text.splitlines())) if last else (),
    )


def _failed(run: Run, lines: Sequence[str]) -> Iterator[Failed]:
    rows = run.execution.rows.exclude(assertion=None).exclude(outcome=Outcome.PASSED)
    for row in rows[:FAILED_SHOWN]:
        within = row.line is not None and row.line <= len(lines)
        yield Failed(
            row,
            lines[row.line - 1].strip() if within and row.line else f"{row.test}, assertion {row.assertion}",
        )


def judge_again(attempt: Attempt, *, answers: Mapping[str, Any], now: datetime) -> SecondJudgement:
    """Store the second judgement, once; the verdict stays as it is. Raises NotRevealed before the reveal, Refused after."""
    if not hasattr(attempt, "reveal"):
        raise NotRevealed(Hidden.NOT_CLOSED)
    try:
        with transaction.atomic():
            return SecondJudgement.objects.create(reveal=attempt.reveal, created_at=now, **answers)
    except IntegrityError:
        raise Refused("A second judgement was given already.") from None
