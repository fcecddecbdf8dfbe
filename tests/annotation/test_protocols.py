"""Protocols: frozen at the start, changed by the next number with a reason, kept by the attempts that began under them."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.db import IntegrityError, transaction
from django.utils import timezone

from annotation.assignment import take_slot
from annotation.attempts import progress_of
from annotation.connection import connection_of
from annotation.drawing import draw, draw_versions
from annotation.forms.protocol import ProtocolForm
from annotation.models import Attempt, Protocol, Study
from annotation.protocols import (
    differences,
    drop_change,
    new_study,
    propose_change,
    put_into_force,
    raise_solvers,
    write_draft,
)
from annotation.studies import StudyRefused, add_people, choose, open_study
from annotation.wording import read_as
from examples.models import AuditEntry, Example, Library
from tests.annotation.factories import make_attempt, make_study, make_version, posted_protocol
from tests.factories import make_attempt as closed_attempt

NOW = timezone.now()


def words_of(protocol: Protocol) -> str:
    """Return all that annotators read, in one line."""
    parts = read_as(protocol)
    return " ".join(" ".join([part.title, *part.sentences, part.markdown]) for part in parts)


def test_a_protocol_is_frozen_when_its_study_opens(curator, ann):
    study = new_study(name="s", title="S", by=curator, solvers=2)
    add_people(study, [ann], by=curator)
    write_draft(study.protocol, {"submissions": 3}, by=curator)
    study.slots.create(version=make_version(), number=1)
    open_study(study, by=curator, now=NOW)
    study.refresh_from_db()
    assert (study.protocol.frozen_at, study.protocol.submissions, study.proposed) == (NOW, 3, None)
    with pytest.raises(StudyRefused, match="frozen"):
        write_draft(study.protocol, {"submissions": 1}, by=curator)


def test_attempts_stay_under_the_protocol_they_began_with(curator, ann, ben):
    study = make_study(people=[ann, ben], active_limit_seconds=600, submissions=1)
    before = take_slot(study, ann, NOW)
    propose_change(study, {"active_limit_seconds": 1200, "submissions": 3}, reason="too short", by=curator)
    assert study.protocol.number == 1
    put_into_force(study, by=curator, now=NOW)
    after = take_slot(study, ben, NOW)
    assert [attempt.protocol.number for attempt in (before, after)] == [1, 2]
    told = [progress_of(Attempt.objects.get(pk=attempt.pk)) for attempt in (before, after)]
    assert [(each.limit_seconds, each.submissions.allowed) for each in told] == [(600, 1), (1200, 3)]
    assert study.protocol.reason == "too short"


def test_a_change_needs_a_reason_and_has_to_change_something(curator, ann):
    study = make_study(people=[ann])
    with pytest.raises(StudyRefused, match="Say why"):
        propose_change(study, {"submissions": 2}, reason="  ", by=curator)
    propose_change(study, {"submissions": 1}, reason="no change", by=curator)
    with pytest.raises(StudyRefused, match="changes nothing"):
        put_into_force(study, by=curator, now=NOW)
    propose_change(study, {"submissions": 2}, reason="a slip is human", by=curator)
    assert [(p.number, p.reason) for p in study.protocols.all()] == [(1, ""), (2, "a slip is human")]
    drop_change(study, by=curator)
    with pytest.raises(StudyRefused, match="No change"):
        put_into_force(study, by=curator, now=NOW)
    assert study.protocols.count() == 1


def test_an_open_study_keeps_its_seed_and_never_lowers_k(curator, ann):
    study = make_study(people=[ann], solvers=2)
    with pytest.raises(StudyRefused, match="Seed"):
        propose_change(study, {"seed": 9}, reason="why not", by=curator)
    with pytest.raises(StudyRefused, match="only be raised"):
        propose_change(study, {"solvers": 1}, reason="cheaper", by=curator)
    propose_change(study, {"solvers": 3}, reason="two differ", by=curator)
    with pytest.raises(StudyRefused, match="being written"):
        raise_solvers(study, 4, by=curator, reason="more", now=NOW)
    put_into_force(study, by=curator, now=NOW)
    assert study.slots.count() == 3


def test_the_database_keeps_one_draft_and_a_reason_for_each_change(ann):
    study = make_study(people=[ann])
    for fields in (
        {"number": 2, "reason": ""},
        {"number": 1},
        {"number": 2, "reason": "x", "records_pastes": True},
    ):
        with pytest.raises(IntegrityError), transaction.atomic():
            Protocol.objects.create(study=study, **fields)
    Protocol.objects.create(study=study, number=2, reason="x")
    with pytest.raises(IntegrityError), transaction.atomic():
        Protocol.objects.create(study=study, number=3, reason="x")


def test_what_two_protocols_have_otherwise_is_said_in_words(ann):
    study = make_study(people=[ann])
    before = study.protocol
    after = Protocol(
        study=study,
        active_limit_seconds=2400,
        pass_mark=0.6,
        arms=["none", "assistant"],
        exclusion_rules=[{"rule": "counted_below", "seconds": 20}],
    )
    assert [(each.label, each.before, each.after) for each in differences(before, after)] == [
        ("Allowed help", "no help", "no help, code assistant"),
        ("Limit on active time", "30 min", "40 min"),
        (
            "Exclusion rules",
            "the annotator knew the example already",
            "the counted time is too short to have read the example (below 20 s)",
        ),
        ("Pass mark of the qualification", "none", "60 %"),
    ]


def test_annotators_read_every_rule_that_concerns_them():
    plain = words_of(Protocol())
    assert "You have 30 minutes of active time for each example." in plain
    assert "one submission" in plain
    assert "Consent" not in plain
    assert "solved by 2 people who see nothing of one another" in words_of(Protocol(solvers=2))
    assert "You alone solve" in words_of(Protocol(solvers=1))
    rich = words_of(
        Protocol(
            consent_text="We *store* what you write.",
            arms=["none", "search"],
            records_pastes=True,
            active_limit_seconds=90,
            give_up_after_seconds=300,
            submissions=3,
            shows_visible_tests=False,
            asks_confidence=True,
            asks_prior_exposure=True,
            reveals_after_closing=True,
            pass_mark=0.75,
            gold_every=4,
            warm_up=True,
            note_from=3,
        )
    )
    for said in (
        "We *store* what you write.", "drawn for each example", "Web search. ", "the length are stored", "90 seconds of active",
        "give up after 5 minutes", "3 submissions", "All tests stay hidden", "how sure", "had seen the example",
        "judge once more", "at least 75 %", "one in 5 examples", "warm-up", "A grade of 3 needs",
    ):  # fmt: skip
        assert said in rich
    assert "Code assistant." not in rich


def test_the_form_gives_back_the_protocol_it_was_filled_from(ann):
    given = {
        "arms": ["none", "assistant"], "pass_mark": 0.6, "gold_every": 5, "give_up_after_seconds": 120,
        "exclusion_rules": [{"rule": "not_qualified"}, {"rule": "gold_below", "share": 0.25}],
        "difficulty_levels": ["easy", "hard"],
    }  # fmt: skip
    study = make_study(people=[ann], **given)
    form = ProtocolForm(instance=study.protocol)
    data = {name: form.get_initial_for_field(field, name) for name, field in form.fields.items()}
    again = ProtocolForm(
        {name: value for name, value in data.items() if value is not None and value is not False}
    )
    assert again.is_valid(), again.errors
    assert {name: again.rules()[name] for name in given} == given
    assert again.rules()["test_anchors"] == Protocol().test_anchors


@pytest.mark.parametrize(
    ("changes", "field", "remedy"),
    [
        ({"solvers": 0}, "solvers", "At least one person"),
        ({"submissions": 0}, "submissions", "at least one submission"),
        ({"arms": None}, "arms", "Tick at least one"),
        ({"levels": "one"}, "levels", "two to seven"),
        ({"test_lines": "a\nb"}, "test_lines", "four lines"),
        ({"active_minutes": 10, "give_up_minutes": 10}, "give_up_minutes", "before the limit of 10 minutes"),
        ({"active_minutes": 1}, "idle_limit_seconds", "at most the limit on active time, 60 s"),
        ({"records_pastes": True}, "consent_text", "leave pastes out"),
        ({"rule_gold_below": True, "rule_gold_below_value": ""}, "rule_gold_below_value", "Give the number"),
        ({"rule_gold_below": True}, "rule_gold_below", "leave the rule out"),
        ({"rule_not_qualified": True}, "rule_not_qualified", "give a pass mark"),
        ({"rule_seen_before": True}, "rule_seen_before", "tick"),
    ],
)
def test_the_form_names_the_field_and_the_remedy(db, changes, field, remedy):
    form = ProtocolForm(posted_protocol(**changes))
    assert not form.is_valid()
    assert remedy in " ".join(form.errors[field])


def test_what_the_form_of_a_new_study_sends_untouched_is_valid(db):
    form = ProtocolForm(posted_protocol())
    assert form.is_valid(), form.errors
    assert form.rules()["exclusion_rules"] == [{"rule": "knew_it"}]


def library(version, name: str):
    Library.objects.get_or_create(name=name)[0].examples.add(version.example)


def test_a_sample_is_drawn_in_proportion_and_the_protocol_says_how(curator, ann):
    for number in range(12):
        library(make_version(), "numpy" if number % 3 else "attrs")
    study = make_study(people=[ann], versions=0, state="draft", seed=5)
    choice = choose(Example.objects.all())
    drawn = draw_versions(study, choice, size=6, by=["dataset", "library"], person=curator)
    assert study.protocol.sample_size == 6
    assert study.protocol.strata == [
        {"dataset": "shop", "library": "attrs", "of": 4, "drawn": 2},
        {"dataset": "shop", "library": "numpy", "of": 8, "drawn": 4},
    ]
    assert sorted(study.slots.values_list("version", flat=True)) == list(drawn.versions)
    assert draw(choice, size=6, by=["dataset", "library"], seed=5) == drawn
    assert draw(choice, size=6, by=["dataset", "library"], seed=6).versions != drawn.versions
    assert AuditEntry.objects.get(action="draw versions").detail["of"] == 12


def test_a_sample_can_follow_the_difficulty_that_was_said_before(curator, ann, ben):
    versions = [make_version() for _ in range(4)]
    earlier = make_study(people=[ann, ben], versions=versions)
    for version, level in zip(versions[:2], ("trivial", "very hard"), strict=True):
        closed_attempt(earlier, version, ann, difficulty=level)
    found = draw(choose(Example.objects.all()), size=4, by=["difficulty"], seed=0)
    assert {part["difficulty"]: part["of"] for part in found.parts} == {
        "trivial": 1,
        "very hard": 1,
        "not rated yet": 2,
    }


def test_a_sample_out_of_reach_or_too_late_is_refused(curator, ann):
    make_version()
    choice = choose(Example.objects.all())
    study = make_study(people=[ann], versions=0, state="draft")
    with pytest.raises(StudyRefused, match="1 of those that match"):
        draw_versions(study, choice, size=2, by=[], person=curator)
    with pytest.raises(StudyRefused, match="before the study opened"):
        draw_versions(make_study(people=[ann]), choice, size=1, by=[], person=curator)


def test_arms_are_balanced_over_the_places_of_every_version(ann, ben):
    study = make_study(people=[ann, ben], versions=6, solvers=2, arms=["none", "assistant"], seed=3)
    for _ in range(6):
        for person in (ann, ben):
            attempt = take_slot(study, person, NOW)
            attempt.slot.__class__.objects.filter(pk=attempt.slot_id).update(state="closed", lease_end=None)
            Attempt.objects.filter(pk=attempt.pk).update(state="closed", ended_at=NOW)
    by_version: dict[int, set[str]] = {}
    for version, arm in Attempt.objects.values_list("slot__version", "arm"):
        by_version.setdefault(version, set()).add(arm)
    assert all(arms == {"none", "assistant"} for arms in by_version.values())
    assert len(by_version) == 6


def test_an_attempt_taken_up_again_keeps_its_protocol_and_arm(ann, curator):
    attempt = make_attempt(ann, arms=["search"])
    study = Study.objects.get(pk=attempt.slot.study_id)
    Attempt.objects.filter(pk=attempt.pk).update(state="released", ended_at=NOW)
    study.slots.update(state="free", annotator=None, lease_end=None)
    propose_change(study, {"arms": ["none"]}, reason="no search after all", by=curator)
    put_into_force(study, by=curator, now=NOW)
    again = take_slot(study, ann, NOW + timedelta(minutes=1))
    assert (again.pk, again.protocol.number, again.arm) == (attempt.pk, 1, "search")


def test_a_plan_that_falls_apart_says_why_and_what_helps(ann, ben, curator):
    joined = connection_of(make_study(people=[ann, ben], versions=4, solvers=2))
    assert (joined.holds, joined.why_not, joined.done) == (True, "", ())
    apart = connection_of(make_study(people=[ann, ben], versions=4, solvers=1))
    assert (apart.holds, apart.planned) == (False, 2)
    assert "Raise k to 2" in apart.why_not


def test_what_is_closed_shows_its_groups(ann, ben):
    versions = [make_version() for _ in range(3)]
    study = make_study(people=[ann, ben], versions=versions, solvers=2)
    closed_attempt(study, versions[0], ann)
    closed_attempt(study, versions[1], ben)
    assert [(group.people, group.versions) for group in connection_of(study).done] == [
        ((ann.pseudonym,), 1),
        ((ben.pseudonym,), 1),
    ]
    closed_attempt(study, versions[0], ben)
    assert [(group.people, group.versions) for group in connection_of(study).done] == [
        ((ann.pseudonym, ben.pseudonym), 2)
    ]
