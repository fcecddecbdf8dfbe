"""IMPORT: Exec-CSN as CodeBenchGen publishes it: a JSON list, https://github.com/yiqingxyq/CodeBenchGen.

Only `code`, `func_name`, `revised_instruction`, `docstring`, `repo_name` and `idx` are used. `test_code` and the
masked text are re-tokenised and not always the same program, and `result` is what another machine saw.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping
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
from examples.languages.python.tests import test_classes
from examples.masking import Masked, MaskingError, mask
from examples.visible import count_assertions, default_count

NAME = "exec-csn"
REQUIRED = ("idx", "code", "func_name", "revised_instruction")


def recognises(keys: frozenset[str]) -> bool:
    """Return whether an object with these keys is one of this format's records, perhaps an incomplete one."""
    return len(keys & {"code", "func_name", "revised_instruction", "orig_func", "idx"}) >= 3


def parse(item: Mapping[str, Any]) -> Record:
    """Return the record. Raises RecordInvalid."""
    key = key_of(item, "idx")
    code = text_of(item, "code")
    name = text_of(item, "func_name", limit=NAME_LIMIT)
    instruction = text_of(item, "revised_instruction", limit=INSTRUCTION_LIMIT)
    repository = text_of(item, "repo_name", required=False, limit=NAME_LIMIT)
    docstring = text_of(item, "docstring", required=False)
    tree = parsed(code, "code")
    classes = test_classes(tree)
    if classes:
        remedy = "Write the tests as functions called test_* at the top level."
        raise RecordInvalid("code", f"tests are methods of a class ({', '.join(classes)})", remedy)
    masked = _masked(code, name, tree)
    total = count_assertions(tree, masked.expected)
    libraries = libraries_of(tree)
    return Record(
        key=key,
        title=title_of(name, repository),
        repository=repository,
        licence="",
        focal_name=name,
        language="python",
        instruction=instruction,
        context=masked.context,
        gap=masked.gap,
        reference=masked.reference,
        tests=masked.tests,
        block=masked.block,
        expected=masked.expected,
        visible=default_count(tree, masked.expected),
        total=total,
        needs=third_party(libraries),
        libraries=libraries,
        provenance={"format": NAME, "idx": item["idx"], "repo_name": repository, "docstring": docstring},
    )


def _masked(code: str, name: str, tree: ast.Module) -> Masked:
    try:
        return mask(code, name, tree=tree)
    except python.FunctionNotFound as error:
        raise RecordInvalid(
            "func_name", str(error), "Name the function as Class.method or function."
        ) from error
    except MaskingError as error:
        raise RecordInvalid("func_name", str(error), "Choose a function with a body of its own.") from error
