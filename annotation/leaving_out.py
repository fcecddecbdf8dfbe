"""STUDY: why an attempt is left out of figures: what always leaves it out, then the rules its own protocol declared."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from django.db.models import Count, Q, QuerySet

from annotation.models import Admission, Attempt, Protocol, Slot, Study
from annotation.onboarding.gold import scores_of
from annotation.study.exclusions import Facts, why_left_out


@dataclass(frozen=True)
class Declared:
    """The rules of some protocols, and what is known of people in their studies that the rules look at."""

    rules: Mapping[int, tuple[Mapping[str, Any], ...]]
    gold: Mapping[tuple[int, int], float]
    qualified: Mapping[tuple[int, int], bool]

    def reason(self, facts: Facts, *, protocol: int, study: int, person: int) -> str:
        """Return the reason of the first rule of the protocol that holds, "" for none."""
        rules = self.rules[protocol]
        if not rules:
            return ""
        known = Facts(
            outcome=facts.outcome,
            prior_exposure=facts.prior_exposure,
            arm=facts.arm,
            aids=facts.aids,
            counted_seconds=facts.counted_seconds,
            gold_share=self.gold.get((study, person)),
            qualified=self.qualified.get((study, person)),
        )
        return why_left_out(known, rules)


def declared_for(attempts: QuerySet[Attempt]) -> Declared:
    """Return the rules of the attempts' protocols, in a query; what they need of people costs more only if they ask."""
    protocols = Protocol.objects.filter(pk__in=attempts.order_by().values("protocol"))
    rows = list(protocols.values_list("pk", "study", "exclusion_rules"))
    asking: dict[str, set[int]] = defaultdict(set)
    for _, study, rules in rows:
        for each in rules:
            asking[each["rule"]].add(study)
    return Declared(
        rules={pk: tuple(rules) for pk, _, rules in rows},
        gold=_gold_shares(asking["gold_below"]),
        qualified=_qualified(asking["not_qualified"]),
    )


def _gold_shares(studies: Iterable[int]) -> dict[tuple[int, int], float]:
    """Return the share of gold examples mixed into the work that each person solved, where they closed any."""
    if not studies:
        return {}
    closed = Attempt.objects.filter(
        slot__study__in=studies, slot__kind=Slot.Kind.GOLD, state=Attempt.State.CLOSED
    )
    rows = closed.order_by().values_list("slot__study", "annotator")
    counts = rows.annotate(total=Count("pk"), solved=Count("pk", filter=Q(verdict__solved=True)))
    return {(study, person): solved / total for study, person, total, solved in counts}


def _qualified(studies: Iterable[int]) -> dict[tuple[int, int], bool]:
    """Return who passed the qualification or was admitted (True), and who failed it (False); others are not in it."""
    found: dict[tuple[int, int], bool] = {}
    for study in Study.objects.filter(pk__in=studies).prefetch_related("protocols"):
        people = list(study.people.values_list("person", flat=True))
        for person, score in scores_of(study, people).items():
            if score.passed or score.failed:
                found[study.pk, person] = score.passed
    admitted = Admission.objects.filter(member__study__in=studies)
    for study_id, person in admitted.values_list("member__study", "member__person"):
        found[study_id, person] = True
    return found
