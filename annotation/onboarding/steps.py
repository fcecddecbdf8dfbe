"""ONBOARDING: which steps a protocol asks for, how far a person is, and what comes next; enforced where slots are taken."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from annotation.models import (
    Acceptance,
    Admission,
    Attempt,
    Background,
    Protocol,
    Slot,
    StudyPerson,
)
from annotation.onboarding.gold import Score, later_items, qualification_of

What = Acceptance.What
LEFT_BEHIND = [Attempt.State.CLOSED, Attempt.State.DECLINED, Attempt.State.REPORTED]


class Step(StrEnum):
    """A step on the way to the work, in this order."""

    CONSENT = "consent"
    BACKGROUND = "background"
    GUIDELINES = "guidelines"
    WARM_UP = "warm-up"
    QUALIFICATION = "qualification"
    WORK = "work"
    NOT_QUALIFIED = "not qualified"  # the end of the way, unless a curator lets the person in


@dataclass(frozen=True)
class Standing:
    """Where a person stands: the steps that the protocol asks for, which of them are done, and the next one.

    `declined` says that they declined the consent text as it stands now; `score` is of the qualification so far.
    """

    steps: tuple[Step, ...]
    done: frozenset[Step]
    next: Step
    declined: bool = False
    score: Score | None = None


def next_step(member: StudyPerson) -> Step:
    """Return what the person has to do next; WORK where nothing stands before it."""
    return standing_of(member).next


def standing_of(member: StudyPerson) -> Standing:
    """Return how far the person is, without any query where the protocol asks for nothing."""
    protocol = member.study.protocol
    asked = steps_of(protocol)
    if asked == (Step.WORK,):
        return Standing(asked, frozenset(), Step.WORK)
    said = list(Acceptance.objects.filter(member=member))
    done = {step for step in asked if step != Step.WORK and _is_done(step, member, protocol, said)}
    score = qualification_of(member) if Step.QUALIFICATION in asked else None
    if score is not None and (score.passed or Admission.objects.filter(member=member).exists()):
        done.add(Step.QUALIFICATION)
    todo = next(step for step in asked if step not in done)
    if todo == Step.QUALIFICATION and score is not None and score.failed:
        todo = Step.NOT_QUALIFIED
    declined = Step.CONSENT in asked and _latest(said, What.CONSENT, protocol.consent_text) is False
    return Standing(asked, frozenset(done), todo, declined, score)


def steps_of(protocol: Protocol) -> tuple[Step, ...]:
    """Return the steps that a protocol asks for.

    Background questions ask for what is personal, so they come with a consent text (or where prior exposure is asked).
    Guidelines have to be confirmed where anything else comes before the work; otherwise they are a link.
    """
    steps = []
    if protocol.consent_text:
        steps.append(Step.CONSENT)
    if protocol.consent_text or protocol.asks_prior_exposure:
        steps.append(Step.BACKGROUND)
    if protocol.guidelines and (steps or protocol.warm_up or protocol.pass_mark is not None):
        steps.append(Step.GUIDELINES)
    if protocol.warm_up:
        steps.append(Step.WARM_UP)
    if protocol.pass_mark is not None:
        steps.append(Step.QUALIFICATION)
    return (*steps, Step.WORK)


def _is_done(step: Step, member: StudyPerson, protocol: Protocol, said: list[Acceptance]) -> bool:
    if step == Step.CONSENT:
        return _latest(said, What.CONSENT, protocol.consent_text) is True
    if step == Step.GUIDELINES:
        return _latest(said, What.GUIDELINES, protocol.guidelines) is True
    if step == Step.BACKGROUND:
        return Background.objects.filter(member=member).exists()
    if step == Step.WARM_UP:  # in whatever study: who knows the editor need not meet it again
        warmed = Attempt.objects.filter(annotator=member.person_id, slot__kind=Slot.Kind.WARM_UP)
        return warmed.filter(state__in=LEFT_BEHIND).exists()
    return False


def _latest(said: list[Acceptance], what: str, text: str) -> bool | None:
    """Return the last answer to exactly this text, None where there is none: another text is asked for anew."""
    answers = [each.accepted for each in said if each.what == what and each.sha256 == fingerprint(text)]
    return answers[-1] if answers else None


def fingerprint(text: str) -> str:
    """Return the sha256 by which a text is known that somebody accepted."""
    return hashlib.sha256(text.encode()).hexdigest()


def accept(member: StudyPerson, what: str, *, accepted: bool, now: datetime) -> Acceptance:
    """Record the answer to a text of the protocol in force, and return it."""
    protocol = member.study.protocol
    text = protocol.consent_text if what == What.CONSENT else protocol.guidelines
    return Acceptance.objects.create(
        member=member, what=what, sha256=fingerprint(text), accepted=accepted, protocol=protocol, at=now
    )


def next_gold(member: StudyPerson) -> int | None:
    """Return the gold version that is due in the midst of the work, None where none is.

    One comes after every `gold_every` examples of the study that the person began, as long as there are any left.
    """
    every = member.study.protocol.gold_every
    if not every:
        return None
    attempts = Attempt.objects.filter(annotator=member.person_id, slot__study=member.study_id)
    given = attempts.filter(slot__kind=Slot.Kind.GOLD).count()
    if attempts.counted().count() < (given + 1) * every:
        return _unfinished_gold(member)
    items = later_items(member).exclude(version__in=attempts.values("slot__version"))
    return _unfinished_gold(member) or items.values_list("version", flat=True).first()


def gold_ahead(member: StudyPerson, available: int) -> int:
    """Return how many gold examples will come among the next `available` ones, for a count that gives none of them away."""
    every = member.study.protocol.gold_every
    if not every:
        return 0
    attempts = Attempt.objects.filter(annotator=member.person_id, slot__study=member.study_id)
    given = attempts.filter(slot__kind=Slot.Kind.GOLD).count()
    due = (attempts.counted().count() + available) // every - given
    left = later_items(member).exclude(version__in=attempts.values("slot__version")).count()
    return max(min(due, left), 0)


def _unfinished_gold(member: StudyPerson) -> int | None:
    """Return a gold version that the person began and lost, which nobody else can have taken."""
    lost = Attempt.objects.filter(
        annotator=member.person_id,
        slot__study=member.study_id,
        slot__kind=Slot.Kind.GOLD,
        slot__paused=False,
        state__in=[Attempt.State.RELEASED, Attempt.State.REPORTED],
    )
    return lost.values_list("slot__version", flat=True).first()
