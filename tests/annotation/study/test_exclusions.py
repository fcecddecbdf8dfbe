"""Exclusion rules: what holds, what reason is given, and that the unknown leaves nothing out."""

import pytest

from annotation.study.exclusions import CATALOGUE, Facts, in_sentences, value_of, why_left_out

EVERY = [
    {"rule": "knew_it"},
    {"rule": "seen_before"},
    {"rule": "not_qualified"},
    {"rule": "gold_below", "share": 0.5},
    {"rule": "counted_below", "seconds": 20},
    {"rule": "aid_outside_arm"},
]


@pytest.mark.parametrize(
    ("facts", "reason"),
    [
        (Facts(outcome="knew_it"), "knew it already"),
        (Facts(prior_exposure="seen"), "had seen this code or its solution"),
        (Facts(qualified=False), "by somebody who did not qualify"),
        (Facts(gold_share=0.49), "by somebody who solved under 50 % of the gold examples"),
        (Facts(counted_seconds=19.9), "under 20 s of counted time"),
        (Facts(arm="none", aids="search"), "used help outside the arm"),
        (Facts(arm="search", aids="assistant"), "used help outside the arm"),
    ],
)
def test_each_rule_names_its_own_reason_and_only_where_it_is_declared(facts, reason):
    assert why_left_out(facts, EVERY) == reason
    assert why_left_out(facts, []) == ""


@pytest.mark.parametrize(
    "facts",
    [
        Facts(),
        Facts(outcome="solved", prior_exposure="similar", qualified=True),
        Facts(gold_share=0.5, counted_seconds=20),
        Facts(arm="assistant", aids="search"),
        Facts(arm="none", aids="none"),
    ],
)
def test_what_is_unknown_or_just_within_leaves_nothing_out(facts):
    assert why_left_out(facts, EVERY) == ""


def test_of_two_rules_the_first_of_the_catalogue_names_the_reason_in_whatever_order_they_were_declared():
    both = Facts(outcome="knew_it", counted_seconds=1)
    assert why_left_out(both, EVERY) == why_left_out(both, EVERY[::-1]) == "knew it already"


@pytest.mark.parametrize(
    "declared",
    [
        {},
        {"rule": "mood"},
        {"rule": "gold_below"},
        {"rule": "gold_below", "share": 2},
        {"rule": "counted_below", "seconds": True},
    ],
)
def test_what_is_no_rule_is_refused(declared):
    with pytest.raises(ValueError, match="rule"):
        value_of(declared)


def test_annotators_read_a_sentence_for_every_rule():
    assert len(in_sentences(EVERY)) == len(CATALOGUE)
    assert "You solve fewer than 50 % of the check examples that are mixed into the work." in in_sentences(
        EVERY
    )
