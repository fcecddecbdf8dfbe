"""GATE: what is recorded about the versions of a release, and the gate's report on them."""

from __future__ import annotations

from collections import defaultdict

from django.db.models import QuerySet

from examples.alternatives import alternatives_of
from examples.models import Check, Example, Release, Version
from examples.releasing.evidence import HumanRecord
from examples.releasing.gate import CheckFact, GateReport, VersionFacts, judge_all


def versions_of(release: Release) -> QuerySet[Version]:
    """Return the release's versions, by example."""
    return Version.objects.filter(release_items__release=release).order_by("example_id", "number")


def facts_of(versions: QuerySet[Version]) -> list[VersionFacts]:
    """Return what the gate must know of the versions, in four queries."""
    alternatives = alternatives_of(versions)
    checks: dict[int, dict[str, CheckFact]] = defaultdict(dict)
    rows = Check.objects.filter(version__in=versions.order_by().values("pk")).values_list(
        "version_id", "name", "state", "finding", "evidence"
    )
    for version_id, name, state, finding, evidence in rows.order_by():
        checks[version_id][name] = CheckFact(state, finding, evidence)
    return [
        VersionFacts(
            version_id=version.pk,
            example_id=version.example_id,
            label=f"{version.example.label} v{version.number}",
            checks=checks[version.pk],
            image_digest=version.environment.image_digest,
            licence=version.example.known_licence,
            alternatives=alternatives.get(version.pk, ()),
            retired=version.example.status_reason if version.example.status == Example.Status.RETIRED else "",
        )
        for version in versions.select_related("example__dataset", "environment").only(
            "number",
            "environment__image_digest",
            "example__licence",
            "example__status",
            "example__status_reason",
            "example__dataset__licence",
        )
    ]


def gate_report(release: Release, people: HumanRecord) -> GateReport:
    """Return the gate over a release's versions, as things stand now, in a fixed number of queries."""
    versions = versions_of(release)
    return judge_all(facts_of(versions), people.evidence(versions))
