"""WRITE TESTS: functions that call the focal one and assert what it gives; the program is never written again."""

from __future__ import annotations

from examples.generation.plain import plain_tests
from examples.generation.rules import check_tests, code_of
from examples.generation.work import Work
from examples.llm.prompting import fenced
from examples.models import GenerationRun, Round, Step


def take(work: Work) -> Round:
    """Keep the tests: from the docstring's examples, or as the model writes them. Raises plain.PlainRefused."""
    program, function = work.standing.program, work.fragment.function
    if work.run.path == GenerationRun.Path.PLAIN:
        made = plain_tests(work.fragment.source, function)
        return work.keep(step=Step.WRITE_TESTS, subject=Round.Subject.TESTS, text=made.text, note=made.note)
    return work.ask(
        "write_tests",
        {"program": fenced(program), "function": function},
        step=Step.WRITE_TESTS,
        subject=Round.Subject.TESTS,
        extract=code_of,
        check=lambda text: check_tests(text, program=program, function=function, allowed=work.allowed),
    )
