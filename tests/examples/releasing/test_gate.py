"""The gate: each condition lets a good version through and blocks a bad one with finding and way out."""

from __future__ import annotations

from dataclasses import replace

import pytest

from examples.releasing.evidence import HumanEvidence, StudyCount
from examples.releasing.gate import CONDITIONS, CheckFact, VersionFacts, judge_all

GOOD = VersionFacts(
    version_id=1,
    example_id=7,
    label="EX-0007 v1",
    checks={
        **{
            name: CheckFact("passed", "fine")
            for name in ("empty_body", "tests_ran", "stable", "network", "licence")
        },
        "reference": CheckFact("passed", "5 of 5", {"passed": 5, "of": 5}),
        "environment": CheckFact("passed", "pinned", {"digest": "sha256:1"}),
    },
    image_digest="sha256:1",
    licence="MIT",
)
SOLVED = HumanEvidence(studies=(StudyCount("S-01", 2, 2),), independent=1)


def blocking(facts: VersionFacts, people: HumanEvidence) -> list[str]:
    report = judge_all([facts], {1: people})
    assert all(each.finding and each.way_out for line in report.closed for each in line.blocked)
    return [line.condition.slug for line in report.closed]


def with_check(name: str, check: CheckFact | None) -> VersionFacts:
    checks = {**GOOD.checks, name: check}
    return replace(GOOD, checks={key: value for key, value in checks.items() if value})


def test_a_good_version_passes_every_condition():
    report = judge_all([GOOD], {1: SOLVED})
    assert report.is_open
    assert [line.met for line in report.lines] == [1] * len(CONDITIONS)


@pytest.mark.parametrize(
    "slug", ["reference", "empty_body", "tests_ran", "stable", "network", "environment", "licence"]
)
def test_a_check_that_failed_waits_or_was_not_made_blocks(slug):
    assert blocking(with_check(slug, CheckFact("failed", "bad")), SOLVED) == [slug]
    assert blocking(with_check(slug, CheckFact("unjudged", "no engine")), SOLVED) == [slug]
    assert blocking(with_check(slug, CheckFact("running", "")), SOLVED) == [slug]
    assert blocking(with_check(slug, None), SOLVED) == [slug]


@pytest.mark.parametrize("evidence", [{"passed": 4, "of": 5}, {"passed": 3, "of": 3}, {}])
def test_fewer_than_five_of_five_executions_of_the_reference_block(evidence):
    assert blocking(with_check("reference", CheckFact("passed", "ok", evidence)), SOLVED) == ["reference"]


def test_an_unknown_digest_blocks_and_so_does_an_image_built_after_the_checks():
    assert blocking(replace(GOOD, image_digest=""), SOLVED) == ["environment"]
    assert blocking(replace(GOOD, image_digest="sha256:2"), SOLVED) == ["environment"]


def test_an_unknown_licence_blocks_although_the_check_once_passed():
    assert blocking(replace(GOOD, licence=""), SOLVED) == ["licence"]


def test_a_version_in_no_study_or_with_an_attempt_missing_blocks():
    assert blocking(GOOD, HumanEvidence(independent=1)) == ["solvers"]
    assert blocking(GOOD, replace(SOLVED, studies=(StudyCount("S-01", 1, 2),))) == ["solvers"]


def test_one_study_that_has_its_k_is_enough():
    two = replace(SOLVED, studies=(StudyCount("S-01", 1, 5), StudyCount("S-02", 1, 1)))
    assert blocking(GOOD, two) == []


def test_what_nobody_independent_solved_blocks_until_a_curator_decides_with_a_reason():
    unsolved = replace(SOLVED, independent=0)
    assert blocking(GOOD, unsolved) == ["solved"]
    decided = replace(
        unsolved, decision="solvable as it stands", decision_reason="my own solution", found_solvable=True
    )
    assert blocking(GOOD, decided) == []
    assert blocking(GOOD, replace(decided, decision_reason="")) == ["solved"]


def test_an_open_complaint_blocks_and_so_does_a_decision_against_the_version():
    assert blocking(GOOD, replace(SOLVED, disputes=("A-01 rates the tests 2 of 3",))) == ["dispute"]
    against = replace(SOLVED, decision="to be retired", decision_reason="over-strict")
    assert blocking(GOOD, against) == ["dispute"]


def test_a_retired_example_blocks():
    assert blocking(replace(GOOD, retired="a duplicate"), SOLVED) == ["in_use"]


def test_a_release_without_versions_stays_locked():
    assert not judge_all([], {}).is_open
