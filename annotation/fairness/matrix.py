"""FAIRNESS: the matrix of a version: distinct solutions by tests; pure."""

from __future__ import annotations

from dataclasses import dataclass

from annotation.fairness.rows import NOT_RUN, PASSED, Failure, Solution, Subject


@dataclass(frozen=True, slots=True)
class Cell:
    """A solution under one test: the distinct outcomes it had, in how many executions, and where it failed first."""

    outcomes: tuple[str, ...]
    ran: int
    failure: Failure | None

    @property
    def outcome(self) -> str:
        """The one outcome; "" where there is none, or more than one."""
        return self.outcomes[0] if len(self.outcomes) == 1 else ""

    @property
    def differs(self) -> bool:
        """Whether the same code came to different outcomes."""
        return len(self.outcomes) > 1

    @property
    def rejects(self) -> bool:
        """Whether the test rejects the solution, each time."""
        return self.outcome not in ("", PASSED, NOT_RUN)

    @property
    def accepts(self) -> bool:
        """Whether the test lets it pass, each time."""
        return self.outcome == PASSED


@dataclass(frozen=True, slots=True)
class Row:
    """A solution and its cells, one for each test."""

    solution: Solution
    cells: tuple[Cell, ...]


@dataclass(frozen=True, slots=True)
class Matrix:
    """A version's tests and its solutions under them: the reference first, then those judged right, unjudged, wrong."""

    tests: tuple[str, ...]
    rows: tuple[Row, ...]

    def column(self, test: str) -> list[tuple[Solution, Cell]]:
        """Return each solution with its cell under a test."""
        at = self.tests.index(test)
        return [(row.solution, row.cells[at]) for row in self.rows]


def matrix(subject: Subject) -> Matrix:
    """Return the matrix of a version. A test that a solution never reached has no outcome there."""
    ranked = sorted(
        subject.solutions, key=lambda one: (not one.is_reference, not one.right, one.word == "wrong")
    )
    return Matrix(
        subject.tests,
        tuple(Row(one, tuple(_cell(one, test) for test in subject.tests)) for one in ranked),
    )


def _cell(solution: Solution, test: str) -> Cell:
    judged = solution.judged
    outcomes = tuple(dict.fromkeys(each.tests[test] for each in judged if test in each.tests))
    return Cell(outcomes, len(judged), failure_of(solution, test))


def failure_of(solution: Solution, test: str) -> Failure | None:
    """Return where a solution failed first in a test, from an execution whose values are known if there is one."""
    found = [
        each
        for ran in sorted(solution.judged, key=lambda ran: not ran.revealed)
        for each in ran.failures
        if each.test == test
    ]
    return next((each for each in found if each.assertion is not None), found[0] if found else None)
