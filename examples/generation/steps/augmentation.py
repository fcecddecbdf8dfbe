"""AUGMENT: calls that the model proposes become assertions of what the reference gives for them."""

from __future__ import annotations

import ast
import json
import time
from dataclasses import replace

from examples.generation import calls as recorded
from examples.generation.making import draft_of, job_of
from examples.generation.rules import RuleBroken, code_of
from examples.generation.rules.base import parsed
from examples.generation.rules.tests import calls as uses
from examples.generation.work import TOO_DEEP, Work
from examples.llm.prompting import fenced
from examples.models import Round, Step
from runner.models import Execution

MOST, LONGEST = 8, 400
MARK = "benchwright-gives"


def take(work: Work) -> Round:
    """Keep the tests with a further function, executed; a round that broke a rule leaves the tests as they are."""
    began = time.monotonic()
    values = {
        "program": fenced(work.standing.program),
        "tests": fenced(work.standing.tests),
        "function": work.fragment.function,
    }
    call = work.put("augmentation", values, step=Step.AUGMENTATION)
    text, rule, message, execution = "", "", "", None
    try:
        text = code_of(recorded.reply_of(call))
        text = _with_more(work, expressions(text, work.fragment.function))
        draft = draft_of(work.fragment, program=work.standing.program, tests=text)
        execution = work.execute(job_of(draft))
        if not execution.passed:
            raise RuleBroken("no_new_test", "the reference does not give the same each time.")
    except RuleBroken as broken:
        rule, message = broken.rule, broken.message
    except RecursionError:
        rule, message = "syntax", TOO_DEEP
    return work.keep(
        step=Step.AUGMENTATION,
        subject=Round.Subject.TESTS,
        text=text,
        call=call,
        rule=rule,
        message=message,
        execution=execution,
        seconds=time.monotonic() - began,
    )


def expressions(code: str, function: str) -> list[str]:
    """Return the calls of the focal function among the statements of a block, as source, each once. Raises RuleBroken."""
    found = [
        ast.unparse(each.value)
        for each in parsed(code).body
        if isinstance(each, ast.Expr) and uses(each, function)
    ]
    if not found:
        raise RuleBroken("no_new_test", f"no line of the reply is a call of {function}.")
    return list(dict.fromkeys(found))[:MOST]


def _with_more(work: Work, wanted: list[str]) -> str:
    """Return the tests with what the reference gives for the calls. Raises RuleBroken where it gives nothing usable."""
    draft = draft_of(work.fragment, program=work.standing.program, tests=work.standing.tests)
    job = replace(job_of(draft), tests="", expected=(), block=asking(wanted))
    given = gives(work.execute(job))
    known = work.standing.tests
    lines = [
        f"    assert {call} {'is' if given[at] in ('None', 'True', 'False') else '=='} {given[at]}\n"
        for at, call in enumerate(wanted)
        if at in given and call not in known
    ]
    if not lines:
        raise RuleBroken(
            "no_new_test", "the reference gives nothing for these calls that can be written down."
        )
    name = "test_more"
    while f"def {name}(" in known:
        name += "_"
    return f"{known.rstrip()}\n\n\ndef {name}():\n{''.join(lines)}"


def asking(wanted: list[str]) -> str:
    """Return code that prints what each call gives; one that raises prints nothing."""
    made = ", ".join(f"lambda: {call}" for call in wanted)
    return (
        f"for _at, _call in enumerate([{made}]):\n"
        "    try:\n        _given = repr(_call())\n    except Exception:\n        continue\n"
        f'    print("\\n{MARK}", _at, __import__("json").dumps(_given))\n'
    )


def gives(execution: Execution) -> dict[int, str]:
    """Return the literals that an execution printed, by the number of the call.

    The output is a stranger's; what is no literal, or not written as Python writes it, is left out.
    """
    found: dict[int, str] = {}
    for line in execution.stdout.splitlines():
        words = line.split(" ", 2)
        if len(words) == 3 and words[0] == MARK and words[1].isdigit():
            literal = _literal(words[2])
            if literal:
                found[int(words[1])] = literal
    return found


def _literal(told: str) -> str:
    try:
        text = json.loads(told)
        value = ast.literal_eval(text)
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        return ""
    return text if repr(value) == text and len(text) <= LONGEST else ""
