"""EVALUATE: what came of a model's samples, example by example, in a fixed number of queries."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from django.db.models import Count, Exists, OuterRef, Q, Value

from examples.evaluation.pass_at_k import Count as Judged
from examples.models import Evaluation, EvaluationItem, Example, ModelSample
from runner.models import Execution, TestRow
from runner.outcome import Outcome

UNCONFIRMED = "could not be confirmed"


@dataclass(frozen=True)
class Facts:
    """What groups are made by: the version's example, what it imports, and its lengths in lines that are not blank."""

    version_id: int
    example_id: int
    label: str
    title: str
    libraries: tuple[str, ...] = ()
    reference_lines: int = 0
    context_lines: int = 0


@dataclass(frozen=True)
class Tally:
    """What came of one version's samples.

    outcomes  judged samples by outcome; one that passed and is flagged is UNCONFIRMED, and counts as not passed
    ran       how many came to an assertion that decided: passed, or failed at an assertion
    left      samples without outcome: not executed yet, queued or running
    unjudged  samples that we failed to judge; like those left they are no part of n
    """

    facts: Facts
    outcomes: Mapping[str, int] = field(default_factory=dict)
    ran: int = 0
    left: int = 0
    unjudged: int = 0

    @property
    def n(self) -> int:
        """How many samples were judged."""
        return sum(self.outcomes.values())

    @property
    def passed(self) -> int:
        """How many samples passed and were not flagged."""
        return self.outcomes.get(Outcome.PASSED, 0)

    @property
    def count(self) -> Judged:
        """The two numbers that pass@k is made of."""
        return Judged(self.n, self.passed)


def tallies(evaluation: Evaluation) -> list[Tally]:
    """Return the tally of each version of the evaluation, in its order."""
    return tallies_of([evaluation], detailed=True)[evaluation.pk]


def tallies_of(evaluations: Sequence[Evaluation], *, detailed: bool = False) -> dict[int, list[Tally]]:
    """Return the tallies of each evaluation, by its id, in two queries; three where `detailed`.

    Without details there are no lengths, libraries and numbers of samples that ran.
    """
    ids = [each.pk for each in evaluations]
    items = _items(ids, detailed=detailed)
    libraries = _libraries(ids) if detailed else {}
    counted = defaultdict[int, list[dict[str, Any]]](list)
    for row in _counted(ids, detailed=detailed):
        counted[row["item"]].append(row)
    found: dict[int, list[Tally]] = {pk: [] for pk in ids}
    for item in items:
        facts = _facts(item, libraries.get(item["version__example"], ()))
        found[item["evaluation"]].append(_tally(facts, counted[item["pk"]]))
    return found


def _items(ids: Sequence[int], *, detailed: bool) -> list[dict[str, Any]]:
    columns = [
        "pk",
        "evaluation",
        "version",
        "version__example",
        "version__number",
        "version__example__title",
    ]
    if detailed:
        columns += ["version__reference", "version__context"]
    rows = EvaluationItem.objects.filter(evaluation__in=ids).order_by("evaluation", "position")
    return list(rows.values(*columns))


def _libraries(ids: Sequence[int]) -> dict[int, tuple[str, ...]]:
    rows = Example.libraries.through.objects.filter(example__versions__evaluation_items__evaluation__in=ids)
    found = defaultdict[int, set[str]](set)
    for example, name in rows.values_list("example", "library__name").distinct():
        found[example].add(name)
    return {example: tuple(sorted(names)) for example, names in found.items()}


def _counted(ids: Sequence[int], *, detailed: bool) -> list[dict[str, Any]]:
    """Return how many samples of each item came to what."""
    samples = ModelSample.objects.filter(item__evaluation__in=ids).order_by()
    failed = TestRow.objects.filter(
        execution=OuterRef("execution"), assertion__isnull=False, outcome=Outcome.FAILED
    )
    asserted = Q(execution__outcome=Outcome.FAILED) & Exists(failed)
    samples = samples.annotate(asserted=asserted if detailed else Value(value=False))
    columns = ("item", "execution__state", "execution__outcome", "execution__tampered", "asserted")
    return list(samples.values(*columns).annotate(count=Count("pk")))


def _facts(item: dict[str, Any], libraries: tuple[str, ...]) -> Facts:
    return Facts(
        version_id=item["version"],
        example_id=item["version__example"],
        label=f"EX-{item['version__example']:04d} v{item['version__number']}",
        title=item["version__example__title"],
        libraries=libraries,
        reference_lines=_lines(item.get("version__reference", "")),
        context_lines=_lines(item.get("version__context", "")),
    )


def _lines(text: str) -> int:
    return sum(1 for line in text.splitlines() if line.strip())


def _tally(facts: Facts, rows: Iterable[dict[str, Any]]) -> Tally:
    outcomes = Counter[str]()
    ran = left = unjudged = 0
    for row in rows:
        count = row["count"]
        if row["execution__state"] == Execution.State.UNJUDGED:
            unjudged += count
        elif row["execution__state"] != Execution.State.FINISHED:
            left += count
        else:
            outcome = row["execution__outcome"]
            flagged = outcome == Outcome.PASSED and row["execution__tampered"]
            outcomes[UNCONFIRMED if flagged else outcome] += count
            ran += count if outcome == Outcome.PASSED or row["asserted"] else 0
    return Tally(facts, dict(outcomes), ran, left, unjudged)
