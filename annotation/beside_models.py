"""STUDY: a study's people beside the models of a leaderboard: the rows of both, for `annotation.study.beside_models`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import QuerySet

from annotation.models import Attempt, Study
from annotation.results import rows_of
from annotation.study.beside_models import Beside, People, beside, majority_level, people_on
from annotation.study.intervals import Rate
from examples.evaluation.pass_at_k import Count, Mean, mean_pass_at_k
from examples.evaluation.rows import Tally
from examples.evaluation.writing import mean_as_json
from examples.jobs import limits_of
from examples.models import Evaluation, EvaluationItem, Version


@dataclass(frozen=True)
class ModelBeside:
    """A model beside the people.

    by_level   pass@1 over the versions that most people gave a level, for each level in order
    otherwise  how many of the versions with attempts it was judged on under another limit or in another environment: these
               are no part of any figure here
    """

    evaluation: Evaluation
    figures: Beside
    by_level: tuple[Mean, ...]
    otherwise: int


@dataclass(frozen=True)
class PeopleBeside:
    """A study's people, and each model on the versions they attempted."""

    study: Study
    people: People
    levels: tuple[str, ...]
    models: tuple[ModelBeside, ...]


def studies_on(studies: QuerySet[Study], evaluations: Sequence[Evaluation]) -> list[Study]:
    """Return the studies with a closed attempt at a version of these evaluations, the newest first."""
    items = EvaluationItem.objects.filter(evaluation__in=evaluations)
    closed = Attempt.objects.filter(state=Attempt.State.CLOSED, slot__version__in=items.values("version"))
    closed = closed.counted()
    return list(studies.filter(pk__in=closed.values("slot__study")).order_by("-pk"))


def people_beside(
    study: Study, evaluations: Sequence[Evaluation], tallies: dict[int, list[Tally]], *, ks: Sequence[int]
) -> PeopleBeside:
    """Return the study's people beside each model, on the versions that all the evaluations have, in five queries."""
    versions = _versions(evaluations)
    attempts = Attempt.objects.filter(slot__study=study, slot__version__in=list(versions))
    rows = rows_of(attempts)
    levels = tuple(study.protocol.difficulty_levels)
    level_of = majority_level(rows, levels)
    attempted = {row.version_id for row in rows}
    models = []
    for evaluation in evaluations:
        counts = {each.facts.version_id: each.count for each in tallies[evaluation.pk]}
        counts = {version: counts[version] for version in versions if version in attempted}
        alike = {
            version: count
            for version, count in counts.items()
            if _judged_alike(evaluation, versions[version])
        }
        models.append(
            ModelBeside(
                evaluation,
                beside(rows, alike, ks),
                tuple(_at_level(alike, level_of, level) for level in levels),
                len(counts) - len(alike),
            )
        )
    people = people_on(rows, set(versions), submissions=study.protocol.submissions)
    return PeopleBeside(study, people, levels, tuple(models))


def as_json(found: PeopleBeside) -> dict[str, Any]:
    """Return people and models as plain values, each figure apart."""
    return {
        "study": found.study.name,
        "versions": found.people.versions,
        "left_out": dict(found.people.left_out),
        "solved_at_first_submission": _rate_as_json(found.people.at_first),
        "solved_within": {str(number): _rate_as_json(rate) for number, rate in found.people.within},
        "models": [
            {
                "evaluation": each.evaluation.name,
                "pass_at": {str(k): mean_as_json(value) for k, value in each.figures.figures},
                "first_submission_less_pass_at_1": mean_as_json(each.figures.people_less_model),
                "versions_judged_otherwise": each.otherwise,
            }
            for each in found.models
        ],
    }


def _versions(evaluations: Sequence[Evaluation]) -> dict[int, Version]:
    """Return the versions that all the evaluations have, with what their limits follow from."""
    items = EvaluationItem.objects.filter(evaluation__in=evaluations)
    shown = items.select_related("version__example__dataset").only(
        "evaluation",
        "version__cpu_limit_seconds",
        "version__environment",
        "version__example__dataset__cpu_limit_seconds",
    )
    seen: dict[int, set[int]] = {}
    versions = {}
    for item in shown:
        seen.setdefault(item.version_id, set()).add(item.evaluation_id)
        versions[item.version_id] = item.version
    return {pk: version for pk, version in versions.items() if len(seen[pk]) == len(evaluations)}


def _judged_alike(evaluation: Evaluation, version: Version) -> bool:
    """Return whether its samples of the version had the limit and the environment that people's submissions have."""
    limit = evaluation.cpu_limit_seconds
    same_limit = limit is None or limit == limits_of(version).cpu_seconds
    return same_limit and evaluation.environment_id in (None, version.environment_id)


def _at_level(counts: dict[int, Count], level_of: dict[int, str], level: str) -> Mean:
    return mean_pass_at_k([count for version, count in counts.items() if level_of.get(version) == level], 1)


def _rate_as_json(rate: Rate) -> dict[str, Any]:
    """Return a rate with both intervals."""
    wilson, cluster = rate.wilson, rate.cluster
    return {
        "count": rate.count,
        "total": rate.total,
        "wilson": [wilson.low, wilson.high] if wilson else None,
        "over_annotators": [cluster.low, cluster.high] if cluster else None,
        "reason": rate.cluster_reason,
    }
