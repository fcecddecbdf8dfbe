"""FAIRNESS: each flaw is found where it is, and not where something else is; undefined says why, with its n."""

from __future__ import annotations

from itertools import count

import pytest

from annotation.fairness.answers import same_but_for_order
from annotation.fairness.findings import Flaw, answers
from annotation.fairness.matrix import matrix
from annotation.fairness.rows import Failure, Grade, Ran, Solution, Subject, Word

_numbers = count(1)
TESTS = ("test_odd", "test_even")


def ran(*failures, outcome="", tests=None, image="i", revealed=True):
    """Return an execution in which tests failed as told: "test_even", or ("test_even", "left", "right")."""
    made = []
    for each in failures:
        test, *values = (each,) if isinstance(each, str) else each
        made.append(Failure(test, 1, 7, tuple(values)))
    outcomes = dict.fromkeys(TESTS, "PASSED") | {each.test: "FAILED" for each in made} | (tests or {})
    whole = outcome or ("FAILED" if made else "PASSED")
    return Ran(next(_numbers), "finished", whole, outcomes, tuple(made), revealed, image)


def by(person, *executions, word=Word.NONE, accepted=False):
    return Solution(f"{next(_numbers):064x}", (person,) if person else (), word, accepted, executions)


def subject(*solutions, grades=(), reference=None):
    own = Solution("", ran=tuple(reference or (ran(), ran())))
    said = tuple(Grade(name, "solved", grade, 0) for name, grade in grades)
    return Subject(1, 1, "EX-0001 v1", "Median", TESTS, (own, *solutions), said)


def found(given, flaw):
    return next(each for each in answers(given) if each.flaw is flaw)


def sentences(given, flaw):
    return [each.sentence for each in found(given, flaw).findings]


def flaws(given):
    return {each.flaw for each in answers(given) if each.findings}


MEAN = ("test_even", "300.0", "250")


def test_people_who_agree_against_the_reference_show_that_it_is_wrong():
    given = subject(by("A-1", ran(MEAN)), by("A-2", ran(MEAN)), by("A-3", ran(("test_even", "350", "250"))))
    answered = found(given, Flaw.WRONG_REFERENCE)
    assert (answered.n, answered.undefined) == (3, "")
    assert [each.people for each in answered.findings] == [("A-1", "A-2")]
    assert answered.findings[0].evidence["answers"][0]["values"] == ["300.0", "250"]
    assert answered.findings[0].executions


@pytest.mark.parametrize(
    "solutions",
    [
        [by("A-1", ran(MEAN)), by("A-2", ran(MEAN)), by("A-3", ran())],
        [by("A-1", ran(MEAN)), by("A-2", ran(("test_even", "350", "250")))],
        [by("A-1", ran(MEAN)), by("A-1", ran(MEAN))],
        [by("A-1", ran(MEAN)), by("A-2", ran(MEAN), word=Word.WRONG)],
        [
            by("A-1", ran(("test_even", "[2, 1]", "[1, 2]"))),
            by("A-2", ran(("test_even", "[2, 1]", "[1, 2]"))),
        ],
    ],
    ids=["somebody answers as it does", "no two agree", "one person twice", "one is wrong", "by order alone"],
)
def test_what_else_makes_people_fail_does_not_make_the_reference_wrong(solutions):
    assert Flaw.WRONG_REFERENCE not in flaws(subject(*solutions))


def test_a_reference_that_does_not_pass_each_time_is_flaky_and_not_wrong():
    given = subject(by("A-1", ran(MEAN)), by("A-2", ran(MEAN)), reference=[ran(), ran("test_even")])
    assert Flaw.WRONG_REFERENCE not in flaws(given)
    assert Flaw.FLAKY in flaws(given)


def test_without_values_agreement_is_undefined_and_says_what_to_do():
    hidden = ran("test_even", revealed=False)
    given = subject(by("A-1", hidden), by("A-2", hidden))
    assert found(given, Flaw.WRONG_REFERENCE).undefined.startswith("the values of 2 failures are not known")
    alone = subject(by("A-1", hidden))
    assert found(alone, Flaw.WRONG_REFERENCE).undefined == "it takes solutions of two people"
    assert found(alone, Flaw.WRONG_REFERENCE).n == 1


def test_a_test_that_rejects_what_a_curator_found_right_is_over_strict():
    given = subject(by("A-1", ran("test_even"), word=Word.RIGHT), by("A-2", ran("test_odd")))
    assert sentences(given, Flaw.OVER_STRICT) == [
        "test_even rejects 1 solution judged right, at line 7 of the tests."
    ]
    assert Flaw.OVER_STRICT not in flaws(subject(by("A-1", ran("test_even"), word=Word.WRONG)))
    assert found(subject(by("A-1", ran("test_even"))), Flaw.OVER_STRICT).undefined


def test_an_accepted_alternative_counts_as_right_until_somebody_says_it_is_wrong():
    assert Flaw.OVER_STRICT in flaws(subject(by("", ran("test_even"), accepted=True)))
    wrong = by("", ran("test_even"), accepted=True, word=Word.WRONG)
    assert Flaw.OVER_STRICT not in flaws(subject(wrong))


def test_answers_that_differ_in_order_alone_are_over_strict_without_a_word_of_a_curator():
    given = subject(by("A-1", ran(("test_even", "[['b'], ['a']]", "[['a'], ['b']]"))))
    assert "in its order alone" in sentences(given, Flaw.OVER_STRICT)[0]


def test_solutions_that_part_under_a_vague_instruction_show_that_it_is_under_specified():
    one, other = by("A-1", ran(("test_odd", "'B'", "'B.'"))), by("A-2", ran(("test_odd", "'Bea'", "'B.'")))
    given = subject(one, other, grades=[("A-1", 2), ("A-2", 0)])
    answered = found(given, Flaw.UNDERSPECIFIED)
    assert answered.findings[0].sentence.startswith("2 people read the instruction in 2 ways")
    assert answered.findings[0].evidence["grades"] == {"A-1": 2}
    assert answered.n == 2
    assert Flaw.UNDERSPECIFIED not in flaws(subject(one, other, grades=[("A-1", 1), ("A-2", 0)]))
    assert Flaw.UNDERSPECIFIED in flaws(subject(one, by("A-2", ran()), grades=[("A-1", 3)]))
    assert Flaw.UNDERSPECIFIED not in flaws(subject(by("A-1", ran()), by("A-2", ran()), grades=[("A-1", 3)]))
    assert found(subject(one, other), Flaw.UNDERSPECIFIED).undefined == "there is no verdict yet"


def test_the_same_code_with_different_outcomes_is_flaky_within_one_image():
    given = subject(by("A-1", ran(), ran("test_even")))
    assert "it is test_even that differs" in sentences(given, Flaw.FLAKY)[0]
    silent = Ran(next(_numbers), "finished", "PASSED", {}, (), True, "i")
    assert Flaw.FLAKY not in flaws(subject(by("A-1", ran(), silent)))
    moved = subject(by("A-1", ran(), ran("test_even", image="other")))
    assert Flaw.FLAKY not in flaws(moved)
    assert (
        found(subject(by("A-1", ran()), reference=[ran()]), Flaw.FLAKY).undefined
        == "nothing was executed twice"
    )


def test_what_stayed_unjudged_is_neither_an_outcome_nor_a_flake():
    lost = Ran(next(_numbers), "unjudged")
    given = subject(by("A-1", ran(), lost))
    assert flaws(given) == set()
    assert given.unjudged == 1
    assert matrix(given).rows[1].cells[0].ran == 1


def test_a_test_that_lets_every_wrong_solution_pass_tells_nothing_apart():
    given = subject(by("A-1", ran("test_even")), by("A-2", ran("test_even")))
    assert sentences(given, Flaw.NO_DISCRIMINATION) == [
        "test_odd lets all 2 wrong solutions pass that reached it."
    ]
    parted = subject(by("A-1", ran("test_even")), by("A-2", ran("test_odd")))
    assert Flaw.NO_DISCRIMINATION not in flaws(parted)
    none = found(subject(by("A-1", ran())), Flaw.NO_DISCRIMINATION)
    assert (none.n, none.undefined) == (0, "no solution is known to be wrong")
    unreached = subject(by("A-1", ran("test_even", tests={"test_odd": "NOT_RUN"})))
    assert Flaw.NO_DISCRIMINATION not in flaws(unreached)


def test_tests_that_a_wrong_solution_passes_are_named():
    given = subject(by("A-1", ran(), word=Word.WRONG))
    assert "passes every test" in sentences(given, Flaw.ACCEPTS_WRONG)[0]
    assert found(subject(by("A-1", ran())), Flaw.ACCEPTS_WRONG).undefined


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("[1, 2]", "[2, 1]", True),
        ("[[1, 2], [3]]", "[[3], [2, 1]]", True),
        ("{'a': [1, 2]}", "{'a': [2, 1]}", True),
        ("[1, 1, 2]", "[1, 2, 2]", False),
        ("[1, 2]", "[1, 2]", False),
        ("[1, 2]", "[1, 2, 3]", False),
        ("<Turn 1>", "<Turn 2>", False),
        ("[1, …", "[2, …", False),
        ("300.0", "250", False),
    ],
)
def test_values_are_the_same_but_for_order_only_where_they_hold_the_same(one, other, same):
    assert same_but_for_order(one, other) is same
