"""FAIRNESS: the plain rows that matrix and findings are made of; pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

PASSED, NOT_RUN, UNJUDGED = "PASSED", "NOT_RUN", "unjudged"


@dataclass(frozen=True, slots=True)
class Failure:
    """An assertion, or a whole test (`assertion` None), that did not pass; `line` counts in the tests.

    `values` are what was compared and `message` what was said; both empty where the execution hid them.
    """

    test: str
    assertion: int | None
    line: int | None
    values: tuple[str, ...] = ()
    message: str = ""

    @property
    def answer(self) -> tuple[str, ...]:
        """What the solution answered there: the values that were compared, else how it raised; () where unknown."""
        return self.values or ((self.message.strip().splitlines() or [""])[-1],) if self.known else ()

    @property
    def known(self) -> bool:
        """Whether anything of the answer is known."""
        return bool(self.values or self.message.strip())


@dataclass(frozen=True, slots=True)
class Ran:
    """One execution of a program: its state, its outcome ("" before there is one), each test's, what failed first in it.

    `revealed` says whether values were kept, `image` in which image it ran.
    """

    execution: int
    state: str
    outcome: str = ""
    tests: Mapping[str, str] = field(default_factory=dict)
    failures: tuple[Failure, ...] = ()
    revealed: bool = False
    image: str = ""

    @property
    def judged(self) -> bool:
        """Whether there is an outcome."""
        return bool(self.outcome)

    @property
    def passed(self) -> bool:
        """Whether it PASSED."""
        return self.outcome == PASSED


class Word(StrEnum):
    """A curator's word on a solution."""

    RIGHT = "right"
    WRONG = "wrong"
    NONE = ""


@dataclass(frozen=True, slots=True)
class Solution:
    """A distinct solution (`sha256` "" is the reference): who wrote it, what a curator said of it, what came of it.

    `accepted` says that it is an accepted alternative, which is a curator's word as well.
    """

    sha256: str
    people: tuple[str, ...] = ()
    word: Word = Word.NONE
    accepted: bool = False
    ran: tuple[Ran, ...] = ()

    @property
    def is_reference(self) -> bool:
        """Whether it is the version's own solution."""
        return not self.sha256

    @property
    def name(self) -> str:
        """How it is called: reference, or the beginning of its hash."""
        return self.sha256[:8] or "reference"

    @property
    def judged(self) -> tuple[Ran, ...]:
        """The executions with an outcome."""
        return tuple(each for each in self.ran if each.judged)

    @property
    def right(self) -> bool:
        """Whether a curator found it right."""
        return self.word is Word.RIGHT or (self.accepted and self.word is not Word.WRONG)

    @property
    def passed(self) -> bool | None:
        """Whether it passes; None where it was not executed, or not with the same outcome each time."""
        outcomes = {each.passed for each in self.judged}
        return outcomes.pop() if len(outcomes) == 1 else None

    @property
    def wrong(self) -> bool:
        """Whether it is wrong: by a curator's word, or, without one, by what was executed."""
        return self.word is Word.WRONG or (self.word is Word.NONE and not self.right and self.passed is False)

    @property
    def best(self) -> Ran | None:
        """The execution that says most: one whose values are known, else one that was judged, else the last."""
        told = [each for each in self.judged if each.revealed]
        known = told or self.judged or self.ran
        return known[-1] if known else None


@dataclass(frozen=True, slots=True)
class Grade:
    """What a verdict says of instruction and tests."""

    pseudonym: str
    outcome: str
    instruction_quality: int
    test_quality: int


@dataclass(frozen=True, slots=True)
class Subject:
    """A version with everything that fairness is found from; `missing` counts solutions whose values are not known."""

    version_id: int
    example_id: int
    label: str
    title: str
    tests: tuple[str, ...]
    solutions: tuple[Solution, ...]
    grades: tuple[Grade, ...] = ()

    @property
    def reference(self) -> Solution | None:
        """The version's own solution."""
        return next((each for each in self.solutions if each.is_reference), None)

    @property
    def human(self) -> tuple[Solution, ...]:
        """What people wrote."""
        return tuple(each for each in self.solutions if each.people)

    @property
    def missing(self) -> int:
        """How many solutions were never executed with their values kept."""
        return sum(not any(ran.revealed for ran in each.ran) for each in self.solutions if each.sha256)

    @property
    def open(self) -> int:
        """How many executions are still to come."""
        return sum(ran.state in ("queued", "running") for each in self.solutions for ran in each.ran)

    @property
    def unjudged(self) -> int:
        """How many executions could not be judged, by our fault."""
        return sum(ran.state == UNJUDGED for each in self.solutions for ran in each.ran)
