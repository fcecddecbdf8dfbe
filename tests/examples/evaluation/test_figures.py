"""What an evaluation says: from rows in a fixed number of queries to pass@k by group, outcomes, and runs against right."""

from __future__ import annotations

import pytest

from examples.evaluation.figures import (
    by_context,
    by_length,
    by_library,
    gap,
    outcome_shares,
    pass_at_ks,
    usual_ks,
)
from examples.evaluation.reporting import report_lines
from examples.evaluation.rows import UNCONFIRMED, Facts, Tally, tallies, tallies_of
from examples.models import Evaluation, Library
from runner.models import Execution, TestRow
from runner.outcome import Outcome
from tests.examples.evaluation.factories import judged, make_evaluation, make_sample
from tests.factories import make_version

PASSED, FAILED, TIMEOUT, LOAD = Outcome.PASSED, Outcome.FAILED, Outcome.TIMEOUT_CPU, Outcome.LOAD_ERROR


def tally(*outcomes: str, ran: int = 0, **facts: object) -> Tally:
    about = {"version_id": 1, "example_id": 1, "label": "EX-0001 v1", "title": "t"} | facts
    counted = {name: outcomes.count(name) for name in dict.fromkeys(outcomes)}
    return Tally(Facts(**about), counted, ran=ran)  # type: ignore[arg-type]


@pytest.fixture
def evaluation(db) -> Evaluation:
    """Four samples with outcomes, one of ours that failed and one not executed; a version that has none."""
    one, two = make_version("add"), make_version("plus")
    one.example.libraries.add(Library.objects.create(name="math"), Library.objects.create(name="re"))
    evaluation = make_evaluation([one, two])
    item = evaluation.items.first()
    samples = judged(item, PASSED, PASSED, FAILED, TIMEOUT, None)
    Execution.objects.filter(pk=samples[1].execution_id).update(tampered=True)
    for number, (assertion, outcome) in enumerate([(1, PASSED), (2, FAILED), (None, FAILED)], start=1):
        TestRow.objects.create(
            execution=samples[2].execution,
            number=number,
            test="test_add",
            assertion=assertion,
            outcome=outcome,
        )
    make_sample(item, 6)
    return evaluation


def test_a_tally_counts_what_was_judged_and_keeps_the_rest_apart(evaluation):
    first, second = tallies(evaluation)
    assert first.outcomes == {PASSED: 1, UNCONFIRMED: 1, FAILED: 1, TIMEOUT: 1}
    assert (first.n, first.passed, first.ran, first.left, first.unjudged) == (4, 1, 3, 1, 1)
    assert (second.n, second.passed, second.left) == (0, 0, 0)
    assert first.facts.libraries == ("math", "re")
    assert (first.facts.reference_lines, first.facts.context_lines) == (1, 1)
    assert first.facts.label.endswith(" v1")


def test_tallies_cost_the_same_queries_for_any_number_of_evaluations(evaluation, django_assert_num_queries):
    others = [make_evaluation([make_version(f"v{at}")]) for at in range(5)]
    for other in others:
        judged(other.items.get(), PASSED, FAILED)
    with django_assert_num_queries(2):
        found = tallies_of([evaluation, *others])
    assert len(found) == 6
    with django_assert_num_queries(3):
        tallies_of([evaluation, *others], detailed=True)


def test_pass_at_k_says_over_how_many_examples_it_is_and_where_it_is_undefined():
    found = [tally(PASSED, FAILED), tally(FAILED, FAILED), tally(PASSED), tally()]
    one, two, five = pass_at_ks(found, (1, 2, 5))
    assert (one.mean.value, one.mean.n, one.mean.total) == (0.5, 3, 4)
    assert (two.mean.value, two.mean.n) == (0.5, 2)
    assert (five.mean.value, five.mean.reason) == (None, "no example has 5 or more samples")
    assert usual_ks(found) == (1, 2, 5, 10)
    assert usual_ks([tally(*[PASSED] * 100)]) == (1, 2, 5, 10, 100)


def test_shares_are_of_judged_samples():
    shares = outcome_shares([tally(PASSED, FAILED, FAILED), tally(FAILED)])
    assert [(each.outcome, each.count, each.share) for each in shares] == [
        (FAILED, 3, 0.75),
        (PASSED, 1, 0.25),
    ]
    assert outcome_shares([tally()]) == []


def test_the_gap_is_between_what_runs_and_what_is_right():
    found = gap([tally(PASSED, FAILED, ran=2), tally(LOAD, FAILED, ran=1), tally()])
    assert (found.runs.value, found.right.value, found.gap.value) == (0.75, 0.25, 0.5)
    assert (found.gap.n, found.gap.total) == (2, 3)


def test_groups_by_library_length_and_context():
    found = [
        tally(PASSED, libraries=("re", "math"), reference_lines=5, context_lines=11),
        tally(FAILED, libraries=("re",), reference_lines=6, context_lines=30),
        tally(FAILED, reference_lines=41, context_lines=500),
    ]

    def read(groups):
        return {group.name: (group.figures[0].mean.value, group.figures[0].mean.n) for group in groups}

    assert read(by_library(found, [1])) == {"re": (0.5, 2), "math": (1.0, 1), "none": (0.0, 1)}
    assert read(by_length(found, [1])) == {"up to 5": (1.0, 1), "6 to 10": (0.0, 1), "above 40": (0.0, 1)}
    assert read(by_context(found, [1])) == {"11 to 30": (0.5, 2), "above 120": (0.0, 1)}
    assert [group.name for group in by_length(found, [1])] == ["up to 5", "6 to 10", "above 40"]


def test_the_report_has_the_limit_the_denominator_and_the_verdicts_that_differ(evaluation):
    evaluation.items.first().samples.filter(number__lte=3).update(recorded=True)
    text = "\n".join(report_lines(evaluation))
    assert "limit each version's own" in text
    assert "4 of 6 samples judged, 1 unjudged, 1 left" in text
    assert "pass@1    0.250000 over 1 of 2 examples, no interval" in text
    assert "pass@5    undefined: no example has 5 or more samples" in text
    assert "1 of 3 recorded verdicts are the same" in text
    assert "add sample 3: FAILED, recorded as passed" in text
