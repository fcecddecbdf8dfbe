"""REPAIR: leave out what is wrong where enough remains; else ask for the part at fault, the failure shown."""

from __future__ import annotations

from examples.generation.adaptations import adaptations
from examples.generation.dropping import without_failing
from examples.generation.failing import describe_failure, program_at_fault
from examples.generation.rules import check_program, check_tests, code_of
from examples.generation.work import Work
from examples.llm.prompting import fenced
from examples.models import Round, Step
from runner.models import Execution

DROPPED = "Left out what does not hold on the reference: {count}."


def drop(work: Work) -> Round:
    """Keep the tests without the assertions that failed."""
    before = work.standing.tests
    kept = without_failing(before, _failed(work))
    count = before.count("assert ") - kept.count("assert ")
    said = DROPPED.format(count="1 assertion" if count == 1 else f"{count} assertions")
    return work.keep(step=Step.REPAIR, subject=Round.Subject.TESTS, text=kept, note=said)


def take(work: Work) -> Round:
    """Ask for the program where it lacks something, else for the tests."""
    return _program(work) if program_at_fault(_failed(work)) else _tests(work)


def _program(work: Work) -> Round:
    before, source, function = work.standing.program, work.fragment.source, work.fragment.function
    return work.ask(
        "repair_program",
        {
            "program": fenced(before),
            "failure": fenced(describe_failure(_failed(work), work.standing.tests), "text"),
            "function": function,
            "provided": work.provided,
        },
        step=Step.REPAIR,
        subject=Round.Subject.PROGRAM,
        extract=code_of,
        check=lambda text: check_program(
            text, source=source, function=function, allowed=work.allowed, before=before
        ),
        details=lambda text: {"adaptations": [each.as_json() for each in adaptations(source, text)]},
    )


def _tests(work: Work) -> Round:
    program, before, function = work.standing.program, work.standing.tests, work.fragment.function
    return work.ask(
        "repair_tests",
        {
            "program": fenced(program),
            "tests": fenced(before),
            "failure": fenced(describe_failure(_failed(work), before), "text"),
            "function": function,
        },
        step=Step.REPAIR,
        subject=Round.Subject.TESTS,
        extract=code_of,
        check=lambda text: check_tests(
            text, program=program, function=function, allowed=work.allowed, before=before
        ),
    )


def _failed(work: Work) -> Execution:
    code = work.standing.code
    assert code is not None
    assert code.execution is not None
    return code.execution
