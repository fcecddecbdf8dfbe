"""GENERATE: where a fragment stands, by its rounds, and what comes next; pure.

Nothing else decides: a worker that takes a fragment over reads the rounds and goes on.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum, auto

from examples.generation.dropping import without_failing
from examples.generation.failing import first_failure, program_at_fault
from examples.models import Round, Step

Subject = Round.Subject


class Act(Enum):
    """What to do next."""

    STANDALONE = auto()
    WRITE_TESTS = auto()
    JUDGE = auto()
    DROP = auto()
    REPAIR = auto()
    AUGMENT = auto()
    INSTRUCT = auto()
    ACCEPT = auto()


@dataclass(frozen=True)
class Ending:
    """Why a fragment goes no further: a rule's code or one of ours, and what was found."""

    code: str
    message: str


@dataclass(frozen=True)
class Ways:
    """What a run does: at most so many further questions of a kind, whether tests are added, whether a model is asked."""

    rounds: int
    augment: bool
    asks: bool


@dataclass(frozen=True)
class Standing:
    """The rounds of a fragment in their order, each with its execution."""

    rounds: Sequence[Round]

    @property
    def number(self) -> int:
        """The number of the next round."""
        return self.rounds[-1].number + 1 if self.rounds else 1

    @property
    def last(self) -> Round | None:
        """The last round, broken or not."""
        return self.rounds[-1] if self.rounds else None

    def latest(self, *subjects: str) -> Round | None:
        """Return the last round of these subjects that broke no rule."""
        fit = [each for each in self.rounds if each.subject in subjects and not each.rule]
        return fit[-1] if fit else None

    @property
    def program(self) -> str:
        """The program as it stands, "" where there is none yet."""
        found = self.latest(Subject.PROGRAM)
        return found.text if found else ""

    @property
    def tests(self) -> str:
        """The tests as they stand, "" where there are none yet."""
        found = self.latest(Subject.TESTS)
        return found.text if found else ""

    @property
    def instruction(self) -> str:
        """The instruction as it stands, "" where there is none yet."""
        found = self.latest(Subject.INSTRUCTION)
        return found.text if found else ""

    @property
    def code(self) -> Round | None:
        """The round that changed program or tests last; its execution is theirs."""
        return self.latest(Subject.PROGRAM, Subject.TESTS)

    def since_edit(self, step: str) -> list[Round]:
        """Return the rounds of a step since a curator last edited: an edit begins the counting anew."""
        edits = [at for at, each in enumerate(self.rounds) if each.edited_by_id is not None]
        return [each for each in self.rounds[edits[-1] + 1 if edits else 0 :] if each.step == step]


def next_act(standing: Standing, ways: Ways) -> Act | Ending:
    """Return what comes next for a fragment."""
    if not standing.program:
        return _asked_again(standing, Step.STANDALONE, Act.STANDALONE, ways)
    if not standing.tests:
        return _asked_again(standing, Step.WRITE_TESTS, Act.WRITE_TESTS, ways)
    code = standing.code
    if code is None or code.execution is None:
        return Act.JUDGE
    if not code.execution.passed:
        return _mended(standing, code, ways)
    if ways.asks and ways.augment and not standing.since_edit(Step.AUGMENTATION):
        return Act.AUGMENT
    if not standing.instruction:
        return _asked_again(standing, Step.ACCEPTANCE, Act.INSTRUCT, ways)
    return Act.ACCEPT


def _asked_again(standing: Standing, step: Step, act: Act, ways: Ways) -> Act | Ending:
    """Return the act, or the ending where the last answer broke a rule and no question is left."""
    broken = [each for each in standing.since_edit(step) if each.rule]
    if len(broken) > (ways.rounds if ways.asks else 0):
        return Ending(broken[-1].rule, broken[-1].message)
    return act


def _mended(standing: Standing, code: Round, ways: Ways) -> Act | Ending:
    """Return how to go on from an execution that did not pass."""
    failed = code.execution
    assert failed is not None
    if ways.asks:
        just_executed = standing.last is code
        if just_executed and not program_at_fault(failed) and without_failing(standing.tests, failed):
            return Act.DROP
        asked = [each for each in standing.since_edit(Step.REPAIR) if each.call_id is not None]
        if len(asked) < ways.rounds:
            return Act.REPAIR
        if asked and asked[-1].rule:
            return Ending(asked[-1].rule, asked[-1].message)
    return Ending("tests_fail", first_failure(failed, standing.tests))
