"""EVIDENCE: what people found out about versions, for the gate and for the manifest of a release."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from django.db.models import Count, Exists, F, OuterRef, Q, QuerySet, Subquery

from annotation.figures import Line, line_of
from annotation.models import Adjudication, Attempt, Run, Slot, Study, Verdict, solvers_in_force
from annotation.results import rows_of_versions
from annotation.study.rates import Figure, study_rates
from examples.models import Release, Split, Version
from examples.releasing.evidence import HumanEvidence, HumanFigure, StudyCount
from examples.releasing.splitting import Placeable
from runner.outcome import Outcome

SEVERE = 2


class Decided(NamedTuple):
    """The latest decision on a version."""

    decision: str
    words: str
    reason: str


def evidence(versions: QuerySet[Version]) -> Mapping[int, HumanEvidence]:
    """Return the evidence on each version that somebody met or decided on, by version id, in four queries."""
    ids = versions.order_by().values("pk")
    studies, independent = _studies(ids), _independent(ids)
    decisions, disputes = _decisions(ids), _disputes(ids)
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
    """Return the rates over every closed attempt at the versions, in whatever study."""
    rates = study_rates(rows_of_versions(versions), submissions=1, levels=())
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


def open_disputes() -> QuerySet[Verdict]:
    """Return the verdicts that call instruction or tests severely flawed, on versions nobody has decided on since."""
    latest = Adjudication.objects.filter(version=OuterRef("attempt__slot__version")).order_by("-decided_at")
    severe = Q(test_quality__gte=SEVERE) | Q(instruction_quality__gte=SEVERE)
    return (
        Verdict.objects.filter(severe)
        .annotate(decided_at=Subquery(latest.values("decided_at")[:1]))
        .filter(Q(decided_at=None) | Q(created_at__gt=F("decided_at")))
    )


def independent_solves() -> QuerySet[Verdict]:
    """Return the verdicts on solved attempts of people who neither wrote the version nor knew it already."""
    return (
        Verdict.objects.filter(attempt__state=Attempt.State.CLOSED, solved=True)
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
    can_be_tried = Slot.objects.filter(version=here).exclude(state=Slot.State.CLOSED)
    return Version.objects.filter(
        Exists(Attempt.objects.filter(slot__version=here, state=Attempt.State.CLOSED)),
        ~Exists(independent_solves().filter(attempt__slot__version=here)),
        ~Exists(Adjudication.objects.filter(version=here)),
        ~Exists(flagged_submissions().filter(attempt__slot__version=here)),
        ~Exists(can_be_tried.exclude(study__state=Study.State.CLOSED)),
    )


def _studies(ids: Any) -> dict[int, tuple[StudyCount, ...]]:
    """Return how far each study is with each version; a study that never opened says nothing."""
    rows = (
        Slot.objects.filter(version__in=ids)
        .exclude(study__state=Study.State.DRAFT)
        .annotate(wanted=solvers_in_force("study"))
        .order_by("version_id", "study_id")
        .values_list("version_id", "study__title", "wanted")
        .annotate(closed=Count("attempts", filter=Q(attempts__state=Attempt.State.CLOSED)))
    )
    found: dict[int, list[StudyCount]] = defaultdict(list)
    for version, title, wanted, closed in rows:
        found[version].append(StudyCount(title, closed, wanted))
    return {version: tuple(counts) for version, counts in found.items()}


def _independent(ids: Any) -> dict[int, int]:
    """Return how many people solved each version who neither wrote it nor knew it already."""
    rows = (
        independent_solves()
        .filter(attempt__slot__version__in=ids)
        .order_by()
        .values_list("attempt__slot__version")
        .annotate(people=Count("attempt__annotator", distinct=True))
    )
    return dict(rows)


def _decisions(ids: Any) -> dict[int, Decided]:
    rows = Adjudication.objects.filter(version__in=ids).order_by("pk")
    return {
        each.version_id: Decided(each.decision, each.get_decision_display(), each.reason) for each in rows
    }


def _disputes(ids: Any) -> dict[int, list[str]]:
    """Return the open complaints about each version, one sentence each."""
    rows = (
        open_disputes()
        .filter(attempt__slot__version__in=ids)
        .order_by("pk")
        .values_list(
            "attempt__slot__version_id",
            "attempt__annotator__pseudonym",
            "instruction_quality",
            "test_quality",
        )
    )
    found: dict[int, list[str]] = defaultdict(list)
    for version, pseudonym, instruction, tests in rows:
        found[version].append(complaint(pseudonym, instruction, tests))
    return found


def complaint(pseudonym: str, instruction: int, tests: int) -> str:
    """Return in words what a verdict complains of."""
    said = [
        f"the {name} {grade} of 3"
        for name, grade in (("instruction", instruction), ("tests", tests))
        if grade >= SEVERE
    ]
    return f"{pseudonym} rates {' and '.join(said)}"


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
