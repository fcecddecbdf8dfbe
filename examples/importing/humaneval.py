"""IMPORT: HumanEval (Chen et al. 2021) and what is published in its form, such as HumanEval+ in "OriginFmt".

The program is `prompt + canonical_solution`, then a line break, `test`, a line break and `check(entry_point)`. The
whole of `test` is the test: what stands there beside `check` are its inputs and helpers, which nobody is to see.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from examples.importing.base import (
    INSTRUCTION_LIMIT,
    NAME_LIMIT,
    Record,
    RecordInvalid,
    key_of,
    libraries_of,
    parsed,
    text_of,
    third_party,
    title_of,
)
from examples.languages.python import source as python
from examples.masking import Masked, MaskingError, Segment, line_ended, mask
from examples.visible import count_assertions, default_count

NAME = "humaneval"
CHECK = "check"
REQUIRED = ("task_id", "prompt", "entry_point", "canonical_solution", "test")


def recognises(keys: frozenset[str]) -> bool:
    """Return whether an object with these keys is one of this format's records, perhaps an incomplete one."""
    return "entry_point" in keys or len(keys & set(REQUIRED)) >= 3


def parse(item: Mapping[str, Any]) -> Record:
    """Return the record. Raises RecordInvalid."""
    key = key_of(item, "task_id")
    prompt = text_of(item, "prompt")
    name = text_of(item, "entry_point", limit=NAME_LIMIT)
    solution = text_of(item, "canonical_solution")
    test = text_of(item, "test")
    code = prompt + solution
    tree = parsed(code, "canonical_solution")
    tests = parsed(test, "test")
    if not any(isinstance(node, python.FUNCTIONS) and node.name == CHECK for node in tests.body):
        raise RecordInvalid(
            "test", "defines no function check", "Define check(candidate) with the assertions."
        )
    masked = _behind(prompt, _masked(code, name, tree))
    instruction = ast.get_docstring(python.find(tree, name)) or prompt.strip()
    text_of({"prompt": instruction}, "prompt", limit=INSTRUCTION_LIMIT)  # its escapes are characters by now
    total = count_assertions(tests, [CHECK])
    call = f"\n{CHECK}({name})"
    end = len(masked.context.encode())
    libraries = libraries_of(tree, tests)
    return Record(
        key=key,
        title=title_of(name, ""),
        repository="",
        licence="",
        focal_name=name,
        language="python",
        instruction=instruction,
        context=masked.context,
        gap=masked.gap,
        reference=masked.reference,
        tests=(Segment(end, "\n" + test, "function", CHECK), Segment(end, call, "block")),
        block=line_ended(call),
        expected=(CHECK,),
        visible=default_count(tests, [CHECK]),
        total=total,
        needs=third_party(libraries),
        libraries=libraries,
        provenance={"format": NAME, "task_id": item["task_id"]},
    )


def _behind(prompt: str, masked: Masked) -> Masked:
    """Return the masked code, its gap no earlier than the prompt's end: what the prompt gives is not for an answer to say.

    HumanEval/115 imports a module before its text, which is therefore no docstring, and its solutions need that import.
    """
    given = len(prompt.encode()) - masked.gap
    body = masked.reference.encode()
    if not 0 < given < len(body):
        return masked
    given += len(body[given:]) - len(body[given:].lstrip())
    if given == len(body):
        return masked
    data = masked.context.encode()
    context = data[: masked.gap] + body[:given] + data[masked.gap :]
    return replace(masked, context=context.decode(), gap=masked.gap + given, reference=body[given:].decode())


def _masked(code: str, name: str, tree: ast.Module) -> Masked:
    try:
        return mask(code, name, tree=tree, test_names=[CHECK])
    except python.FunctionNotFound as error:
        raise RecordInvalid(
            "entry_point", str(error), "Name the function that the prompt leaves open."
        ) from error
    except MaskingError as error:
        raise RecordInvalid("canonical_solution", str(error), "Give the function a body.") from error
