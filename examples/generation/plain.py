"""GENERATE without a model: program, tests and instruction of a fragment by rule; no cost, nothing invented; pure.

One assertion is enough here: the rule of three is there because models write assertions that say little, while an example
in a docstring was written by the function's author to show it. Whether it says enough is told by the checks.
"""

from __future__ import annotations

import ast
import builtins
import sys
from typing import NamedTuple

from examples.generation.docstrings import DocstringInvalid, instruction_of, without_examples
from examples.generation.doctests import DoctestsInvalid, Tests, convert_examples, has_examples
from examples.generation.leaks import refuse_leaks
from examples.generation.rules import RuleBroken
from examples.generation.slicing import Slice, slice_function
from examples.languages.python import source as python
from examples.masking import MaskingError, mask
from examples.visible import visible_part

# Which exception comes is part of what a caller is told, so naming one gives nothing away.
EXCEPTIONS = " ".join(
    name
    for name, each in vars(builtins).items()
    if isinstance(each, type) and issubclass(each, BaseException)
)


class PlainRefused(Exception):
    """A fragment from which nothing can be made by rule: a code that reports count by, and what was found where."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(f"{code}: {message}")
        self.code = code
        self.message = message


class Made(NamedTuple):
    """A text made by rule, and what was done, in a sentence."""

    text: str
    note: str


def plain_program(source: str, function: str) -> Made:
    """Return what the function needs of its source, its examples taken out of what a solver reads.

    Raises PlainRefused.
    """
    tests = _examples(source, function)
    try:
        made = slice_function(source, function, also=_needed(tests))
        program = without_examples(made.source, function)
    except DocstringInvalid as error:
        raise PlainRefused("docstring_form", str(error)) from error
    except (python.SourceInvalid, python.FunctionNotFound) as error:
        raise PlainRefused("no_function", f"{error}.") from error
    if made.unresolved:
        raise PlainRefused(made.unresolved[0].code, _told(made))
    kept = f"Kept {made.kept} of {made.total} statements of the source"
    return Made(program, f"{kept}; took the examples of {function} out of the docstring.")


def plain_tests(source: str, function: str) -> Made:
    """Return the examples of the function's docstring as a test function. Raises PlainRefused."""
    tests = _examples(source, function)
    passed_over = f", {tests.passed_over} passed over as the docstring says" if tests.passed_over else ""
    several = "" if tests.assertions == 1 else "s"
    note = f"{tests.examples} examples became {tests.assertions} assertion{several}{passed_over}."
    return Made(tests.source, note)


def plain_instruction(source: str, function: str) -> Made:
    """Return what the function's docstring says beside its examples, as an instruction.

    Raises PlainRefused, also where the docstring reveals the body or what a hidden test expects: it stands in the context.
    """
    try:
        made = instruction_of(source, function)
    except DocstringInvalid as error:
        raise PlainRefused("no_description", str(error)) from error
    _refuse_leaks(made.text, source, function)
    return Made(made.text + "\n", "Taken from the docstring, without its examples.")


def needs_of_examples(source: str, function: str, package: str = "") -> list[str]:
    """Return the names that the function's examples take from its module; none where they cannot become tests."""
    try:
        return _needed(_examples(source, function, package))
    except PlainRefused:
        return []


def _refuse_leaks(instruction: str, source: str, function: str) -> None:
    tests = _examples(source, function)
    shown = visible_part(tests.source, [tests.name]).text
    try:
        reference = mask(plain_program(source, function).text, function, test_names=[tests.name]).reference
        refuse_leaks(instruction, reference=reference, hidden=tests.source, shown=f"{shown}\n{EXCEPTIONS}")
    except MaskingError as error:
        raise PlainRefused("cannot_be_opened", f"{error}.") from error
    except RuleBroken as broken:
        raise PlainRefused(broken.rule, broken.message) from broken


def _needed(tests: Tests) -> list[str]:
    return [*tests.needs, *(each.member for each in tests.imports if each.member not in tests.needs)]


def _examples(source: str, function: str, package: str = "") -> Tests:
    tree = python.parse(source)
    focal = python.find(tree, function)
    docstring = ast.get_docstring(focal, clean=False) or ""
    if not has_examples(docstring):
        raise PlainRefused(
            "no_doctest", f"The docstring of {function} in line {focal.lineno} holds no example."
        )
    taken = {name for statement in tree.body for name in python.bound_names(statement)}
    name = f"test_{function.replace('.', '_').strip('_').lower()}"
    while name in taken:
        name += "_"
    try:
        return convert_examples(docstring, name=name, package=package or _packages(docstring, taken))
    except DoctestsInvalid as error:
        raise PlainRefused("no_assertion", str(error)) from error


def _packages(docstring: str, taken: set[str]) -> str:
    """Return the top package from which the examples import what the source binds itself; "" where there is none."""
    for line in docstring.splitlines():
        text = line.strip().removeprefix(">>>").strip()
        if line.strip().startswith(">>> from ") and " import " in text:
            module, _, names = text.removeprefix("from ").partition(" import ")
            if module.strip().partition(".")[0] in sys.stdlib_module_names:
                continue
            members = {each.strip(" ()").partition(" as ")[0] for each in names.split(",")}
            if members & taken:
                return module.strip().partition(".")[0]
    return ""


def _told(made: Slice) -> str:
    more = len(made.unresolved) - 1
    return made.unresolved[0].sentence + (f" {more} more like it." if more else "")
