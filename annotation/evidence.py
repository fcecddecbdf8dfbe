"""EVIDENCE: what people found out about versions, for the gate and for the manifest of a release."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from django.db.models import Count, Exists, F, OuterRef, Q, QuerySet, Subquery

from annotation.carrying import carried_independent, carried_rows, carried_studies
from annotation.figures import Line, line_of
from annotation.models import (
    COUNTED,
    Adjudication,
    Attempt,
    Run,
    SecondReading,
    Slot,
    Study,
    Verdict,
    solvers_in_force,
)
from annotation.readings import Standing, State, standing
from annotation.results import rows_of_versions
from annotation.study.rates import Figure, study_rates
from annotation.withdrawing import asked_to_be_left_out
from examples.models import Release, Split, Version
from examples.releasing.evidence import HumanEvidence, HumanFigure, StudyCount
from examples.releasing.splitting import Placeable
from runner.outcome import Outcome

SEVERE = 2
# What an annotator closes with who holds the example, and not themselves, to be at fault.
BLAMING = (
    Verdict.Outcome.UNDERSPECIFIED,
    Verdict.Outcome.TESTS_WRONG,
    Verdict.Outcome.ENVIRONMENT_BROKEN,
)


class Decided(NamedTuple):
    """The decision that holds of a version."""

    decision: str
    words: str
    reason: str


def evidence(versions: QuerySet[Version]) -> Mapping[int, HumanEvidence]:
    """Return the evidence on each version that somebody met or decided on, by version id, in seven queries."""
    ids = versions.order_by().values("pk")
    studies, independent = _studies(ids), _independent(ids)
    readings = standings(ids)
    decisions, disputes = _decisions(readings), _disputes(ids, readings)
    return {
        version: _joined(
            studies.get(version, ()),
            independent.get(version, 0),
            decisions.get(version),
            disputes.get(version, ()),
        )
        for version in {*studies, *independent, *decisions, *disputes}
    }


def figures(versions: QuerySet[Version]) -> Sequence[HumanFigure]:
    """Return the rates over every closed attempt at the versions, in whatever study, and over those carried to them."""
    rows = [*rows_of_versions(versions), *carried_rows(versions)]
    rates = study_rates(rows, submissions=1, levels=())
    return [as_figure(each) for each in (rates.solved, rates.versions_by_one, rates.versions_by_majority)]


@dataclass(frozen=True, slots=True)
class SplitLine:
    """A split of a draft: its versions, its repositories (or examples without one), and what people solved of it."""

    split: Split
    versions: int
    groups: int
    solved: Line


def splits_of(release: Release) -> list[SplitLine]:
    """Return the splits of a draft, in a fixed number of queries."""
    items: dict[int, dict[int, str]] = defaultdict(dict)
    places = release.items.order_by("position").values_list(
        "split_id", "version_id", "version__example_id", "version__example__repository"
    )
    for split, version, example, repository in places:
        items[split][version] = Placeable(version, example, repository).group
    rows = rows_of_versions(Version.objects.filter(release_items__release=release))
    return [
        SplitLine(
            split,
            len(items[split.pk]),
            len(set(items[split.pk].values())),
            line_of(
                study_rates(
                    [row for row in rows if row.version_id in items[split.pk]], submissions=1, levels=()
                ).solved
            ),
        )
        for split in release.splits.all()
    ]


def as_figure(figure: Figure) -> HumanFigure:
    """Return a figure of a study as a release keeps it."""
    rate = figure.rate
    return HumanFigure(
        name=figure.name,
        count=rate.count,
        total=rate.total,
        denominator=figure.denominator,
        wilson=(rate.wilson.low, rate.wilson.high) if rate.wilson else None,
        cluster=(rate.cluster.low, rate.cluster.high) if rate.cluster else None,
        cluster_reason=rate.cluster_reason,
        exclusions=dict(figure.exclusions),
    )


def complaints() -> Q:
    """Return which verdicts hold the example to be at fault: by a grade of 2 or 3, or by how they were closed."""
    return Q(test_quality__gte=SEVERE) | Q(instruction_quality__gte=SEVERE) | Q(outcome__in=BLAMING)


def open_disputes() -> QuerySet[Verdict]:
    """Return the verdicts that hold the example to be at fault, on versions nobody has decided on since."""
    return undecided().filter(complaints())


def undecided() -> QuerySet[Verdict]:
    """Return the verdicts on versions that nobody has decided on since."""
    latest = Adjudication.objects.filter(version=OuterRef("attempt__slot__version")).order_by("-decided_at")
    counted = Verdict.objects.filter(attempt__slot__kind__in=COUNTED)  # gold measures people, not examples
    return counted.annotate(decided_at=Subquery(latest.values("decided_at")[:1])).filter(
        Q(decided_at=None) | Q(created_at__gt=F("decided_at"))
    )


def standings(versions: Any) -> dict[int, Standing]:
    """Return what the decisions on versions (ids, or a query of them) amount to, by version id, in two queries."""
    decisions: dict[int, list[Adjudication]] = defaultdict(list)
    for each in Adjudication.objects.filter(version__in=versions).select_related("decided_by").order_by("pk"):
        decisions[each.version_id].append(each)
    asked = SecondReading.objects.filter(version__in=versions).order_by("pk")
    second = {each.version_id: each.after_id for each in asked}
    return {
        version: standing(decisions.get(version, []), second=version in second, after=second.get(version))
        for version in {*decisions, *second}
    }


def independent_solves() -> QuerySet[Verdict]:
    """Return the verdicts on solved attempts of people who neither wrote the version nor knew it already.

    Warm-up and gold examples are none, nor is what its person asked to be left out.
    """
    return (
        Verdict.objects.filter(
            ~asked_to_be_left_out(study="attempt__slot__study", person="attempt__annotator"),
            attempt__slot__kind__in=COUNTED,
            attempt__state=Attempt.State.CLOSED,
            solved=True,
        )
        .exclude(outcome=Verdict.Outcome.KNEW_IT)
        .exclude(attempt__slot__version__author=F("attempt__annotator"))
    )


def flagged_submissions() -> QuerySet[Run]:
    """Return the submissions that PASSED, could not be confirmed, and await a curator."""
    return Run.objects.filter(
        kind=Run.Kind.SUBMISSION,
        execution__outcome=Outcome.PASSED,
        execution__tampered=True,
        ruling=None,
    )


def unsolved_versions() -> QuerySet[Version]:
    """Return the versions that people tried, nobody independent solved, nobody decided on, and nobody can try any more."""
    here = OuterRef("pk")
    places = Slot.objects.filter(version=here).of_the_study()
    can_be_tried = places.filter(paused=False).exclude(state=Slot.State.CLOSED)
    return Version.objects.filter(
        Exists(Attempt.objects.filter(slot__version=here, state=Attempt.State.CLOSED).counted()),
        ~Exists(independent_solves().filter(attempt__slot__version=here)),
        ~Exists(Adjudication.objects.filter(version=here)),
        ~Exists(flagged_submissions().filter(attempt__slot__version=here)),
        ~Exists(can_be_tried.exclude(study__state=Study.State.CLOSED)),
    )


def _studies(ids: Any) -> dict[int, tuple[StudyCount, ...]]:
    """Return how far each study is with each version; a study that never opened says nothing."""
    rows = (
        Slot.objects.filter(version__in=ids, kind__in=COUNTED)
        .exclude(study__state=Study.State.DRAFT)
        .annotate(wanted=solvers_in_force("study"))
        .order_by("version_id", "study_id")
        .values_list("version_id", "study__title", "wanted")
        .annotate(closed=Count("attempts", filter=Q(attempts__state=Attempt.State.CLOSED)))
    )
    found: dict[int, dict[str, StudyCount]] = defaultdict(dict)
    for version, title, wanted, closed in rows:
        found[version][title] = StudyCount(title, closed, wanted)
    for version, title, wanted, carried in carried_studies(ids):
        here = found[version].get(title, StudyCount(title, 0, wanted))
        found[version][title] = StudyCount(title, here.closed + carried, here.wanted)
    return {version: tuple(counts.values()) for version, counts in found.items()}


def _independent(ids: Any) -> dict[int, int]:
    """Return how many people solved each version who neither wrote it nor knew it already."""
    rows = (
        independent_solves()
        .filter(attempt__slot__version__in=ids)
        .order_by()
        .values_list("attempt__slot__version")
        .annotate(people=Count("attempt__annotator", distinct=True))
    )
    found = Counter(dict(rows))
    found.update(carried_independent(ids))
    return dict(found)


def _decisions(readings: Mapping[int, Standing]) -> dict[int, Decided]:
    return {
        version: Decided(held.decision, Adjudication.Decision(held.decision).label, held.reason)
        for version, each in readings.items()
        if isinstance(held := each.decision, Adjudication)
    }


def _disputes(ids: Any, readings: Mapping[int, Standing]) -> dict[int, list[str]]:
    """Return what is open about each version, one sentence each: complaints, and a second reader that is awaited."""
    rows = (
        open_disputes()
        .filter(attempt__slot__version__in=ids)
        .order_by("pk")
        .values_list(
            "attempt__slot__version_id",
            "attempt__annotator__pseudonym",
            "instruction_quality",
            "test_quality",
            "outcome",
        )
    )
    found: dict[int, list[str]] = defaultdict(list)
    for version, pseudonym, instruction, tests, outcome in rows:
        found[version].append(complaint(pseudonym, instruction, tests, outcome))
    for version, each in readings.items():
        if each.is_open:
            found[version].append(f"the case {each.state}" if each.state is State.WAITS else str(each.state))
    return found


def complaint(pseudonym: str, instruction: int, tests: int, outcome: str = "") -> str:
    """Return in words what a verdict complains of."""
    said = [
        f"the {name} {grade} of 3"
        for name, grade in (("instruction", instruction), ("tests", tests))
        if grade >= SEVERE
    ]
    words = [f"rates {' and '.join(said)}"] if said else []
    if outcome in BLAMING:
        words.append(f"closed with “{Verdict.Outcome(outcome).label}”")
    return f"{pseudonym} {' and '.join(words)}"


def _joined(
    studies: tuple[StudyCount, ...], independent: int, decided: Decided | None, disputes: Sequence[str]
) -> HumanEvidence:
    if decided is None:
        return HumanEvidence(studies=studies, independent=independent, disputes=tuple(disputes))
    return HumanEvidence(
        studies=studies,
        independent=independent,
        decision=decided.words,
        decision_reason=decided.reason,
        found_solvable=decided.decision == Adjudication.Decision.SOLVABLE,
        disputes=tuple(disputes),
    )
