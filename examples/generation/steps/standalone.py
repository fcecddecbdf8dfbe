"""STANDALONE: the fragment as a module that runs by itself (called sandboxing in the paper)."""

from __future__ import annotations

from examples.generation.adaptations import adaptations
from examples.generation.plain import plain_program
from examples.generation.rules import RuleBroken, check_program, code_of
from examples.generation.slicing import slice_function
from examples.generation.work import Work
from examples.languages.python import source as python
from examples.llm.prompting import fenced
from examples.models import GenerationRun, Round, Step


def take(work: Work) -> Round:
    """Keep the program: by rule where nothing is missing, else as the model writes it. Raises plain.PlainRefused."""
    source, function = work.fragment.source, work.fragment.function
    if work.run.path == GenerationRun.Path.PLAIN:
        made = plain_program(source, function)
        return _keep(work, made.text, made.note)
    if not work.standing.rounds and runs_by_itself(work):
        return _keep(work, source, "Nothing that it needs is missing, so no model was asked.")
    return work.ask(
        "standalone",
        {"source": fenced(source), "function": function, "provided": work.provided},
        step=Step.STANDALONE,
        subject=Round.Subject.PROGRAM,
        extract=code_of,
        check=lambda text: check_program(text, source=source, function=function, allowed=work.allowed),
        details=lambda text: {"adaptations": [each.as_json() for each in adaptations(source, text)]},
    )


def runs_by_itself(work: Work) -> bool:
    """Return whether a source keeps every rule of a program as it is, and no name in it is left undefined."""
    source, function = work.fragment.source, work.fragment.function
    if work.fragment.touches:
        return False
    try:
        check_program(source, source=source, function=function, allowed=work.allowed)
        return not slice_function(source, function).unresolved
    except (RuleBroken, python.SourceInvalid, python.FunctionNotFound):
        return False


def _keep(work: Work, text: str, note: str) -> Round:
    changed = [each.as_json() for each in adaptations(work.fragment.source, text)]
    return work.keep(
        step=Step.STANDALONE, subject=Round.Subject.PROGRAM, text=text, note=note, adaptations=changed
    )
