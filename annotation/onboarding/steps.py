"""ONBOARDING: which steps a protocol asks for, how far a person is, and what comes next; enforced where slots are taken."""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Sequence
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
    Study,
    StudyPerson,
)
from annotation.onboarding.gold import Score, later_items, scores_of

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
    return standings(member.study, [member])[member.pk]


def standings(study: Study, members: Sequence[StudyPerson]) -> dict[int, Standing]:
    """Return how far each of a study's people is, by the number of their membership, in six queries at most."""
    protocol = study.protocol
    asked = steps_of(protocol)
    if asked == (Step.WORK,):
        return {member.pk: Standing(asked, frozenset(), Step.WORK) for member in members}
    said: dict[int, list[Acceptance]] = defaultdict(list)
    for each in Acceptance.objects.filter(member__in=members):
        said[each.member_id].append(each)
    people = [member.person_id for member in members]
    answered = set(Background.objects.filter(member__in=members).values_list("member", flat=True))
    warmed = Attempt.objects.filter(annotator__in=people, slot__kind=Slot.Kind.WARM_UP, state__in=LEFT_BEHIND)
    warm = set(warmed.values_list("annotator", flat=True)) if Step.WARM_UP in asked else set()
    scores = scores_of(study, people) if Step.QUALIFICATION in asked else {}
    admitted = set(Admission.objects.filter(member__in=members).values_list("member", flat=True))
    return {
        member.pk: _standing(
            protocol,
            asked,
            Facts(
                said[member.pk],
                member.pk in answered,
                member.person_id in warm,
                scores.get(member.person_id),
                member.pk in admitted,
            ),
        )
        for member in members
    }


@dataclass(frozen=True)
class Facts:
    """What is stored of a person's way into a study; `warm` in whatever study: who knows the editor need not meet it again."""

    said: list[Acceptance]
    answered: bool
    warm: bool
    score: Score | None
    admitted: bool


def _standing(protocol: Protocol, asked: tuple[Step, ...], facts: Facts) -> Standing:
    consent = _latest(facts.said, What.CONSENT, protocol.consent_text)
    reached = {
        Step.CONSENT: consent is True,
        Step.BACKGROUND: facts.answered,
        Step.GUIDELINES: _latest(facts.said, What.GUIDELINES, protocol.guidelines) is True,
        Step.WARM_UP: facts.warm,
        Step.QUALIFICATION: facts.admitted or (facts.score is not None and facts.score.passed),
        Step.WORK: False,
    }
    todo = next(step for step in asked if not reached[step])
    if todo == Step.QUALIFICATION and facts.score is not None and facts.score.failed:
        todo = Step.NOT_QUALIFIED
    done = frozenset(step for step in asked if reached[step])
    return Standing(asked, done, todo, Step.CONSENT in asked and consent is False, facts.score)


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
        slot__version__in=later_items(member).values("version"),
        state__in=[Attempt.State.RELEASED, Attempt.State.REPORTED],
    )
    return lost.values_list("slot__version", flat=True).first()
