"""FRAGMENTS: CodeSearchNet as JSON Lines, in its own form and in CodeXGLUE's AdvTest form (names masked).

https://github.com/github/CodeSearchNet#data-details; https://github.com/microsoft/CodeXGLUE (NL-code-search-Adv).
Records name no licence: it is that of each repository, which only a person can look up.
"""

from __future__ import annotations

import io
from collections.abc import Iterator, Mapping
from typing import Any

from examples.generation.fragments.base import LeftOut, Origin, Reason, SourceFile
from examples.importing.base import Problem, RecordInvalid, text_of
from examples.importing.containers import json_lines

FORMS = {
    "codesearchnet": {"code": "original_string", "name": "func_name", "repository": "repo"},
    "advtest": {"code": "function", "name": "identifier", "repository": "nwo"},
}
MASKED = "Func"  # what AdvTest calls every function


def recognises(keys: frozenset[str]) -> bool:
    """Return whether an object with these keys is a record of either form."""
    return any(keys.issuperset(names.values()) for names in FORMS.values())


def read_codesearchnet(stream: io.BufferedReader, *, licence: str = "") -> Iterator[SourceFile | LeftOut]:
    """Yield a file for each record, which is its function alone, and what could not be read."""
    for item in json_lines(stream):
        if isinstance(item, Problem):
            yield LeftOut(
                Reason.NOT_READ,
                f"Line {item.line} {item.message}.",
                "",
                line=item.line,
                key=f"line {item.line}",
            )
            continue
        try:
            yield _file(item.value, item.number, licence)
        except RecordInvalid as error:
            said = f"Line {item.line}: {error.field} {error.message}."
            yield LeftOut(Reason.NOT_READ, said, "", line=item.line, key=str(item.number))


def _file(value: Mapping[str, Any], number: int, licence: str) -> SourceFile:
    form = "advtest" if "function" in value else "codesearchnet"
    names = FORMS[form]
    code = text_of(value, names["code"])
    repository = text_of(value, names["repository"], required=False, limit=300)
    path = text_of(value, "path", required=False, limit=300)
    published = text_of(value, names["name"], limit=300)
    facts = {
        "form": form,
        "record": number,
        "path": path,
        "func_name": published,
        "url": text_of(value, "url", required=False),
        "sha": text_of(value, "sha", required=False),
    }
    name = MASKED if form == "advtest" else published.rpartition(".")[2]
    key = f"{form}-{value['idx']}" if "idx" in value else f"{form}-line-{number}"
    return SourceFile(path, code, Origin(repository, licence, facts), name=name, key=key)
