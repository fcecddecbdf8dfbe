"""Exclusion rules, arms and protocols, from rows in the database to figures: each attempt is held to its own protocol."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from django.urls import reverse

from annotation.codebook import codebook
from annotation.exporting import export
from annotation.models import Admission, Attempt, GoldItem, Protocol, Slot, Verdict
from annotation.protocols import propose_change, put_into_force
from annotation.results import rows_of, study_results
from tests.annotation.test_pages import browser
from tests.factories import make_attempt, make_beats, make_study, make_version

NOON = datetime(2026, 11, 29, 12, tzinfo=UTC)
EVERY = [
    {"rule": "knew_it"},
    {"rule": "seen_before"},
    {"rule": "not_qualified"},
    {"rule": "gold_below", "share": 0.5},
    {"rule": "counted_below", "seconds": 20},
    {"rule": "aid_outside_arm"},
]


@pytest.fixture
def version(db):
    return make_version()


def reason_of(attempt: Attempt) -> str:
    (row,) = rows_of(Attempt.objects.filter(pk=attempt.pk))
    return row.excluded_reason


def gold(study, person, *, solved: bool, kind: str, purpose: str) -> None:
    """Add a closed attempt of the person on a gold example of the study."""
    version = make_version(f"gold{Slot.objects.count()}")
    GoldItem.objects.create(study=study, version=version, purpose=purpose, marked_by=person)
    slot = Slot.objects.create(study=study, version=version, number=1001, kind=kind)
    study.slots.filter(pk=slot.pk).update(state="closed", annotator=person)
    attempt = Attempt.objects.create(
        slot=slot, annotator=person, protocol=study.protocol, state="closed", started_at=NOON, ended_at=NOON
    )
    Verdict.objects.create(
        attempt=attempt,
        outcome="solved",
        solved=solved,
        difficulty="trivial",
        instruction_quality=0,
        test_quality=0,
    )


def test_every_rule_reads_its_fact_from_the_database(version, ann, ben):
    study = make_study(versions=[version], people=[ann, ben], exclusion_rules=EVERY, pass_mark=1.0)
    attempt = make_attempt(study, version, ann, seconds=300, started_at=NOON)
    make_beats(attempt)
    verdict = Verdict.objects.get(attempt=attempt)
    assert reason_of(attempt) == ""
    Verdict.objects.update(aids="search")
    assert reason_of(attempt) == "used help outside the arm"
    Attempt.objects.update(arm="search")
    assert reason_of(attempt) == ""
    Verdict.objects.update(prior_exposure="seen")
    assert reason_of(attempt) == "had seen this code or its solution"
    Verdict.objects.filter(pk=verdict.pk).update(outcome="knew_it")
    assert reason_of(attempt) == "knew it already"


def test_an_attempt_too_short_to_have_read_the_example_is_left_out_and_one_without_beats_is_not(version, ann):
    study = make_study(versions=[version], people=[ann], exclusion_rules=EVERY)
    attempt = make_attempt(study, version, ann, seconds=15, started_at=NOON)
    assert reason_of(attempt) == ""
    make_beats(attempt)
    assert reason_of(attempt) == "under 20 s of counted time"


def test_gold_examples_leave_out_whoever_solves_too_few_of_them(version, ann, ben):
    study = make_study(versions=[version], people=[ann, ben], exclusion_rules=EVERY)
    attempts = [make_attempt(study, version, person) for person in (ann, ben)]
    gold(study, ann, solved=False, kind="gold", purpose="later")
    assert [reason_of(each) for each in attempts] == [
        "by somebody who solved under 50 % of the gold examples",
        "",
    ]
    gold(study, ann, solved=True, kind="gold", purpose="later")
    assert reason_of(attempts[0]) == ""
    Protocol.objects.update(exclusion_rules=[])
    gold(study, ann, solved=False, kind="gold", purpose="later")
    assert reason_of(attempts[0]) == ""


def test_who_failed_the_qualification_is_left_out_unless_a_curator_admitted_them(version, ann, curator):
    study = make_study(versions=[version], people=[ann], exclusion_rules=EVERY, pass_mark=1.0)
    attempt = make_attempt(study, version, ann)
    gold(study, ann, solved=False, kind="qualification", purpose="qualification")
    assert reason_of(attempt) == "by somebody who did not qualify"
    Admission.objects.create(member=study.people.get(), reason="known to be good", admitted_by=curator)
    assert reason_of(attempt) == ""


def test_an_attempt_is_held_to_the_rules_it_began_under(version, ann, ben, curator):
    study = make_study(versions=[version], people=[ann, ben], exclusion_rules=[])
    before = make_attempt(study, version, ann, outcome="knew_it")
    propose_change(study, {"exclusion_rules": [{"rule": "knew_it"}]}, reason="forgotten", by=curator)
    put_into_force(study, by=curator, now=NOON)
    after = make_attempt(study, version, ben, outcome="knew_it")
    assert [reason_of(each) for each in (before, after)] == ["", "knew it already"]
    found = study_results(study)
    assert (found.rates.solved.rate.total, found.nothing_left_out.total) == (1, 2)
    assert found.rates.solved.exclusions == {"knew it already": 1}


def test_arms_and_protocols_have_their_rates_on_page_api_and_in_rows(ann, ben, curator):
    versions = [make_version(f"v{at}") for at in range(3)]
    study = make_study(versions=versions, people=[ann, ben], arms=["none", "assistant"])
    for at, version in enumerate(versions):
        make_attempt(study, version, ann, solved=at > 0)
        Attempt.objects.filter(pk=make_attempt(study, version, ben).pk).update(arm="assistant")
    found = study_results(study)
    assert [(arm, rate.count, rate.total) for arm, rate in found.by_arm] == [
        ("none", 2, 3),
        ("assistant", 3, 3),
    ]
    assert [number for number, _ in found.by_protocol] == [1]
    page = browser(curator).get(reverse("study_results", args=[study.name])).content.decode()
    assert "Allowed help" in page
    assert "code assistant" in page
    assert "Protocol the attempt began under" not in page
    head, *rows = b"".join(export(study, "attempts", "csv")).decode().splitlines()
    column = head.split(",").index("arm")
    assert sorted(row.split(",")[column] for row in rows) == ["assistant"] * 3 + ["none"] * 3


def test_a_scale_that_changed_keeps_the_figures_of_today_and_says_how_many_are_of_another(
    version, ann, ben, curator
):
    study = make_study(versions=[version], people=[ann, ben])
    make_attempt(study, version, ann, difficulty="very hard")
    propose_change(
        study, {"difficulty_levels": ["trivial", "hard"], "submissions": 3}, reason="x", by=curator
    )
    put_into_force(study, by=curator, now=NOON)
    make_attempt(study, version, ben, difficulty="hard")
    found = study_results(study)
    assert {each.name: (each.rate.count, each.rate.total) for each in found.rates.difficulty} == {
        "trivial": (0, 1),
        "hard": (1, 1),
    }
    assert (found.rated_otherwise, len(found.rates.within)) == (1, 2)
    assert [(number, rate.total) for number, rate in found.by_protocol] == [(1, 1), (2, 1)]
    told = codebook(study)
    assert "- Difficulty scale: trivial; requires effort; very hard → trivial; hard" in told
    assert "Reason: x" in told


def test_the_page_shows_the_figures_of_time_under_three_idle_limits(version, ann, curator):
    study = make_study(versions=[version], people=[ann], idle_limit_seconds=60)
    attempt = make_attempt(study, version, ann, seconds=300, started_at=NOON)
    make_beats(attempt)
    attempt.beats.update(ms_since_input=None)
    assert [line.idle_limit for line in study_results(study).under_limits] == [60, 120, 300]
    seconds = [line.counted_seconds for line in study_results(study).under_limits]
    assert seconds == sorted(seconds)
    assert seconds[0] < seconds[2]
    page = browser(curator).get(reverse("study_results", args=[study.name])).content.decode()
    assert "60 s<small>as in the protocol</small>" in page
