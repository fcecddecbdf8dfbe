"""ADJUDICATE: what decisions amount to, who flips, and why a version is in the queue; pure."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from annotation.cases import Kind, Said, kinds_of
from annotation.fairness.rows import Ran
from annotation.flips import Flip, flip_of, lines, tally
from annotation.readings import State, standing

ONE, TWO, THREE = 1, 2, 3


def decisions(*made):
    return [
        SimpleNamespace(pk=at, decided_by_id=person, decision=what)
        for at, (person, what) in enumerate(made, 1)
    ]


def test_without_a_second_reader_the_last_decision_holds():
    assert standing([]).state is State.NONE
    held = standing(decisions((ONE, "repair"), (TWO, "solvable")))
    assert (held.state, held.decision.decision) == (State.DECIDED, "solvable")


@pytest.mark.parametrize(
    ("made", "state"),
    [
        ([], State.WAITS),
        ([(ONE, "repair")], State.WAITS),
        ([(ONE, "repair"), (ONE, "solvable")], State.WAITS),
        ([(ONE, "repair"), (TWO, "solvable")], State.DISAGREE),
        ([(ONE, "repair"), (TWO, "repair")], State.DECIDED),
        ([(ONE, "repair"), (TWO, "solvable"), (ONE, "solvable")], State.DECIDED),
        ([(ONE, "repair"), (TWO, "solvable"), (THREE, "solvable")], State.DECIDED),
        ([(ONE, "repair"), (TWO, "repair"), (THREE, "solvable"), (ONE, "solvable")], State.DECIDED),
    ],
)
def test_a_second_reader_keeps_a_case_open_until_two_people_agree(made, state):
    assert standing(decisions(*made), second=True, after=None).state is state


def test_decisions_from_before_the_one_that_stood_do_not_count():
    made = decisions((TWO, "repair"), (ONE, "repair"))
    assert standing(made, second=True, after=2).state is State.WAITS


def ran(outcome="", state="finished", **tests):
    return Ran(1, state, outcome, tests)


PASSED, FAILED, LOST = ran("PASSED"), ran("FAILED"), ran(state="unjudged")


@pytest.mark.parametrize(
    ("before", "after", "flip"),
    [
        ([FAILED], PASSED, Flip.PASSES),
        ([PASSED], FAILED, Flip.FAILS),
        ([PASSED], ran("TIMEOUT_CPU"), Flip.FAILS),
        ([PASSED, PASSED], PASSED, Flip.SAME),
        ([FAILED], ran("TIMEOUT_CPU"), Flip.SAME),
        ([PASSED, FAILED], FAILED, Flip.UNSTABLE),
        ([PASSED], LOST, Flip.UNJUDGED),
        ([LOST], FAILED, Flip.UNJUDGED),
        ([LOST, PASSED], FAILED, Flip.FAILS),
        ([PASSED], None, Flip.OPEN),
        ([PASSED], ran(state="queued"), Flip.OPEN),
        ([], PASSED, Flip.OPEN),
    ],
)
def test_a_flip_is_an_outcome_that_changed_and_never_our_fault(before, after, flip):
    assert flip_of(before, after) is flip


def test_tests_that_came_or_went_stand_beside_those_that_stayed():
    made = lines(
        ["a"],
        {"a": [ran("FAILED", t1="FAILED", t2="PASSED")]},
        {"a": ran("PASSED", t1="PASSED", t3="PASSED")},
        old=["t1", "t2"],
        new=["t1", "t3"],
    )
    assert [(each.test, each.before, each.after) for each in made[0].tests] == [
        ("t1", "FAILED", "PASSED"),
        ("t2", "PASSED", ""),
        ("t3", "", "PASSED"),
    ]
    assert [each.test for each in made[0].tests if each.differs] == ["t1"]
    assert tally(made)[Flip.PASSES] == 1


@pytest.mark.parametrize(
    ("verdicts", "kinds"),
    [
        ([Said("solved", True, 0, 0), Said("gave_up", False, 1, 1)], []),
        ([Said("solved", True, 0, 0), Said("solved", True, 0, 2)], [Kind.PEOPLE, Kind.TESTS]),
        ([Said("solved", True, 1, 2), Said("solved", True, 2, 2)], [Kind.TESTS, Kind.INSTRUCTION]),
        (
            [Said("solved", True, 0, 0), Said("tests_wrong", False, 0, 1)],
            [Kind.PEOPLE, Kind.EXECUTION, Kind.TESTS],
        ),
        ([Said("underspecified", False, 1, 0)], [Kind.EXECUTION, Kind.INSTRUCTION]),
        ([Said("environment_broken", False, 0, 0)], [Kind.EXECUTION]),
        ([Said("solved", False, 0, 0)], [Kind.EXECUTION]),
        ([], []),
    ],
)
def test_a_version_is_in_the_queue_for_what_was_said_of_it(verdicts, kinds):
    assert list(kinds_of(verdicts)) == kinds
