"""FAIRNESS: what is wrong with a version, found from its matrix and what people graded; pure.

Each question has an answer with its n: what was found, nothing, or undefined with the reason. Nothing here decides: a
finding is what a curator looks at first.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from annotation.fairness.answers import same_but_for_order
from annotation.fairness.matrix import Matrix, Row, failure_of, matrix
from annotation.fairness.rows import Failure, Ran, Solution, Subject, Word

VAGUE = 2
AGREEING = 2


class Flaw(StrEnum):
    """What can be found."""

    OVER_STRICT = "over_strict"
    WRONG_REFERENCE = "wrong_reference"
    UNDERSPECIFIED = "underspecified"
    FLAKY = "flaky"
    NO_DISCRIMINATION = "no_discrimination"
    ACCEPTS_WRONG = "accepts_wrong"


@dataclass(frozen=True, slots=True)
class Finding:
    """Something found, in one sentence, with the solutions (hashes), people and executions it rests on.

    `evidence` is plain values: which test, assertion and line, which answers by whom.
    """

    flaw: Flaw
    sentence: str
    solutions: tuple[str, ...] = ()
    people: tuple[str, ...] = ()
    executions: tuple[int, ...] = ()
    evidence: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Answered:
    """A question to a version: what was found among n, or why it is undefined ("": it is defined)."""

    flaw: Flaw
    n: int
    of: str
    findings: tuple[Finding, ...] = ()
    undefined: str = ""


@dataclass(frozen=True, slots=True)
class Answer:
    """What some people's solutions answer at one assertion, where the reference answers otherwise."""

    values: tuple[str, ...]
    at: Failure
    solutions: tuple[Solution, ...]

    @property
    def people(self) -> tuple[str, ...]:
        """Who answers so, each once."""
        return tuple(dict.fromkeys(person for each in self.solutions for person in each.people))

    @property
    def for_order_only(self) -> bool:
        """Whether what was compared differs in order alone."""
        return len(self.values) == 2 and same_but_for_order(*self.values)

    def as_evidence(self) -> dict[str, Any]:
        """Return it as plain values."""
        return {
            "values": list(self.values),
            "people": list(self.people),
            "solutions": [each.sha256 for each in self.solutions],
        }


def answers(subject: Subject) -> list[Answered]:
    """Return the answer to every question about a version, in the order of `Flaw`."""
    table = matrix(subject)
    return [ask(subject, table) for ask in QUESTIONS.values()]


def over_strict(subject: Subject, table: Matrix) -> Answered:
    """Find tests that reject a solution judged right, or answers that are right but for an order that may be free."""
    right = [each for each in subject.solutions if each.right]
    found = [
        _finding(
            Flaw.OVER_STRICT,
            f"{test} rejects {_count(rejected, 'solution')} judged right{_place(rejected, test)}.",
            rejected,
            test=test,
        )
        for test in table.tests
        if (rejected := [one for one, cell in table.column(test) if one.right and cell.rejects])
    ]
    seen = {(each.evidence["test"]) for each in found}
    for test in table.tests:
        ordered = [one for one in _answers(subject, test) if one.for_order_only and test not in seen]
        solutions = [each for one in ordered for each in one.solutions]
        if solutions:
            found.append(
                _finding(
                    Flaw.OVER_STRICT,
                    f"{test} rejects {_count(solutions, 'solution')} whose answer differs from what is expected in its order"
                    f" alone{_place(solutions, test)}.",
                    solutions,
                    test=test,
                    answers=[one.as_evidence() for one in ordered],
                )
            )
    undefined = "" if right or found else "no solution was judged right by a curator"
    return Answered(Flaw.OVER_STRICT, len(right), "solutions judged right", tuple(found), undefined)


def wrong_reference(subject: Subject, table: Matrix) -> Answered:
    """Find assertions at which people agree with each other against the reference, and nobody with it.

    At least two people have to give one and the same answer; it must not differ from what is expected by order alone,
    which is the tests' strictness, and more people must give it than any other.
    """
    human = [each for each in subject.human if each.word is not Word.WRONG and each.judged]
    own = {each.sha256 for each in human}
    people = {person for each in human for person in each.people}
    if len(people) < AGREEING:
        return Answered(
            Flaw.WRONG_REFERENCE,
            len(people),
            "people whose solutions were executed",
            undefined="it takes solutions of two people",
        )
    found, untold = [], 0
    for test in table.tests:
        column = table.column(test)
        if not all(cell.accepts for one, cell in column if one.is_reference):
            continue  # where it does not pass each time, agreeing against it says nothing
        with_it = [one for one, cell in column if one.sha256 in own and cell.accepts]
        given = sorted(_answers(subject, test), key=lambda one: -len(one.people))
        untold += sum(1 for one in human if (at := failure_of(one, test)) and not at.known)
        if with_it or not given or len(given[0].people) < AGREEING or given[0].for_order_only:
            continue
        if len(given) > 1 and len(given[1].people) >= len(given[0].people):
            continue
        first = given[0]
        said = " against ".join(first.values)
        found.append(
            _finding(
                Flaw.WRONG_REFERENCE,
                f"{len(first.people)} of {len(people)} people answer alike, and not as the reference does, at line"
                f" {first.at.line} of {test}: {said}. Nobody answers as the reference.",
                first.solutions,
                test=test,
                assertion=first.at.assertion,
                line=first.at.line,
                answers=[one.as_evidence() for one in given],
            )
        )
    undefined = (
        f"the values of {untold} failures are not known; execute what is missing"
        if untold and not found
        else ""
    )
    return Answered(
        Flaw.WRONG_REFERENCE, len(people), "people whose solutions were executed", tuple(found), undefined
    )


def underspecified(subject: Subject, table: Matrix) -> Answered:
    """Find assertions at which solutions part, on a version whose instruction somebody graded 2 or 3 of 3."""
    grades = subject.grades
    vague = [each for each in grades if each.instruction_quality >= VAGUE]
    if not grades:
        return Answered(Flaw.UNDERSPECIFIED, 0, "verdicts", undefined="there is no verdict yet")
    found = []
    if vague:
        for test in table.tests:
            given = _answers(subject, test)
            with_it = [
                one
                for one, cell in table.column(test)
                if one.people and one.word is not Word.WRONG and cell.accepts
            ]
            ways = len(given) + bool(with_it)
            people = {person for one in given for person in one.people}
            people |= {person for one in with_it for person in one.people}
            if not given or ways < 2 or len(people) < AGREEING:
                continue
            parted = [each for one in given for each in one.solutions]
            found.append(
                _finding(
                    Flaw.UNDERSPECIFIED,
                    f"{len(people)} people read the instruction in {ways} ways{_place(parted, test)}, and"
                    f" {', '.join(_graded(each.pseudonym, each.instruction_quality) for each in vague)}.",
                    [*parted, *with_it],
                    test=test,
                    answers=[one.as_evidence() for one in given],
                    as_the_reference=[person for one in with_it for person in one.people],
                    grades={each.pseudonym: each.instruction_quality for each in vague},
                )
            )
    untold = [one for one in subject.human for at in _failures(one, table.tests) if not at.known]
    undefined = (
        f"the values of {_count(untold, 'failure')} are not known; execute what is missing"
        if vague and untold and not found
        else ""
    )
    return Answered(Flaw.UNDERSPECIFIED, len(grades), "verdicts", tuple(found), undefined)


def flaky(subject: Subject, _table: Matrix) -> Answered:
    """Find programs that came to different outcomes in the same image: the same code, executed again."""
    found, repeated = [], 0
    for solution in subject.solutions:
        by_image: dict[str, list[Ran]] = defaultdict(list)
        for ran in solution.judged:
            by_image[ran.image].append(ran)
        for runs in by_image.values():
            repeated += len(runs) > 1
            tests = [test for test in subject.tests if _differs(runs, test)]
            if not tests and len({each.outcome for each in runs}) < 2:
                continue
            counts = _counted(each.outcome for each in runs)
            found.append(
                Finding(
                    Flaw.FLAKY,
                    f"The same code ({solution.name}) came to different outcomes in {len(runs)} executions: {counts};"
                    f" it is {', '.join(tests) or 'the whole'} that differs.",
                    (solution.sha256,),
                    solution.people,
                    tuple(each.execution for each in runs),
                    {"tests": tests, "outcomes": [each.outcome for each in runs]},
                )
            )
    undefined = "" if repeated else "nothing was executed twice"
    return Answered(Flaw.FLAKY, repeated, "programs executed more than once", tuple(found), undefined)


def no_discrimination(subject: Subject, table: Matrix) -> Answered:
    """Find tests that no wrong solution fails: they tell right from wrong for nobody who tried.

    Without a curator's word a solution is wrong that fails a test of which nothing else was found.
    """
    doubted = _doubted(subject, table)
    wrong = [
        row.solution
        for row in table.rows
        if not row.solution.is_reference
        and row.solution.wrong
        and (row.solution.word is Word.WRONG or _fails_one(row, table.tests, doubted))
    ]
    if not wrong:
        return Answered(
            Flaw.NO_DISCRIMINATION, 0, "wrong solutions", undefined="no solution is known to be wrong"
        )
    found, hashes = [], {each.sha256 for each in wrong}
    for test in table.tests:
        reached = [(one, cell) for one, cell in table.column(test) if one.sha256 in hashes and cell.outcomes]
        accepted = [one for one, cell in reached if cell.accepts]
        if accepted and len(accepted) == len(reached):
            found.append(
                _finding(
                    Flaw.NO_DISCRIMINATION,
                    f"{test} lets all {_count(accepted, 'wrong solution')} pass that reached it.",
                    accepted,
                    test=test,
                )
            )
    return Answered(Flaw.NO_DISCRIMINATION, len(wrong), "wrong solutions", tuple(found))


def accepts_wrong(subject: Subject, _table: Matrix) -> Answered:
    """Find solutions that a curator judged wrong and all tests let pass."""
    wrong = [each for each in subject.solutions if each.word is Word.WRONG]
    passing = [each for each in wrong if each.passed]
    found = [
        _finding(Flaw.ACCEPTS_WRONG, f"{each.name} was judged wrong, and passes every test.", [each])
        for each in passing
    ]
    undefined = "" if wrong else "no solution was judged wrong by a curator"
    return Answered(Flaw.ACCEPTS_WRONG, len(wrong), "solutions judged wrong", tuple(found), undefined)


QUESTIONS: dict[Flaw, Callable[[Subject, Matrix], Answered]] = {
    Flaw.OVER_STRICT: over_strict,
    Flaw.WRONG_REFERENCE: wrong_reference,
    Flaw.UNDERSPECIFIED: underspecified,
    Flaw.FLAKY: flaky,
    Flaw.NO_DISCRIMINATION: no_discrimination,
    Flaw.ACCEPTS_WRONG: accepts_wrong,
}
TITLES = {
    Flaw.OVER_STRICT: "over-strict tests",
    Flaw.WRONG_REFERENCE: "wrong reference",
    Flaw.UNDERSPECIFIED: "under-specified",
    Flaw.FLAKY: "flaky",
    Flaw.NO_DISCRIMINATION: "tests that tell nothing apart",
    Flaw.ACCEPTS_WRONG: "tests that accept what is wrong",
}


def _answers(subject: Subject, test: str) -> list[Answer]:
    """Return the different answers that people's solutions give where a test rejects them, those not known left out.

    Solutions that a curator judged wrong say nothing of what can be read into an instruction.
    """
    found: dict[tuple[object, ...], list[Solution]] = defaultdict(list)
    places: dict[tuple[object, ...], Failure] = {}
    for one in subject.human:
        at = failure_of(one, test)
        if one.word is Word.WRONG or at is None or not at.known or one.passed is None:
            continue
        key = (at.assertion, at.line, at.answer)
        found[key].append(one)
        places[key] = at
    return [Answer(places[key].answer, places[key], tuple(each)) for key, each in found.items()]


def _doubted(subject: Subject, table: Matrix) -> set[str]:
    """Return the tests that something was found of, so that failing them says little of a solution."""
    asked = (over_strict, wrong_reference, underspecified, flaky)
    found = [finding.evidence for ask in asked for finding in ask(subject, table).findings]
    return {test for each in found for test in each.get("tests", [each.get("test", "")])}


def _fails_one(row: Row, tests: Sequence[str], doubted: set[str]) -> bool:
    return any(cell.rejects and test not in doubted for test, cell in zip(tests, row.cells, strict=True))


def _differs(runs: Sequence[Ran], test: str) -> bool:
    """Return whether a test came to different outcomes among the executions that reached it."""
    return len({each.tests[test] for each in runs if test in each.tests}) > 1


def _failures(solution: Solution, tests: Sequence[str]) -> list[Failure]:
    return [at for test in tests if (at := failure_of(solution, test)) is not None]


def _finding(flaw: Flaw, sentence: str, solutions: Sequence[Solution], **evidence: Any) -> Finding:
    """Return a finding that rests on solutions: by whom, and in which executions."""
    return Finding(
        flaw,
        sentence,
        tuple(each.sha256 for each in solutions),
        tuple(dict.fromkeys(person for each in solutions for person in each.people)),
        tuple(each.best.execution for each in solutions if each.best),
        evidence,
    )


def _place(solutions: Sequence[Solution], test: str) -> str:
    lines = sorted({at.line for each in solutions if (at := failure_of(each, test)) and at.line})
    return (
        f", at line{'' if len(lines) == 1 else 's'} {', '.join(map(str, lines))} of the tests"
        if lines
        else ""
    )


def _graded(pseudonym: str, grade: int) -> str:
    return f"{pseudonym} grades it {grade} of 3"


def _count(things: Sequence[object], word: str) -> str:
    return f"{len(things)} {word}{'' if len(things) == 1 else 's'}"


def _counted(outcomes: Iterable[str]) -> str:
    counts: dict[str, int] = defaultdict(int)
    for each in outcomes:
        counts[each] += 1
    return ", ".join(f"{count} x {outcome}" for outcome, count in sorted(counts.items()))
