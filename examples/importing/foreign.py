"""IMPORT: files and records of other kinds that people bring, each told what it is and what to do instead."""

from __future__ import annotations

import csv
from collections.abc import Mapping
from typing import Any, NamedTuple

from examples.importing.base import Problem


class Kind(NamedTuple):
    """A foreign kind: its mark, what it is, what to do."""

    mark: Any
    message: str
    remedy: str


CONVERT = "Convert it to JSON Lines in one of the formats of docs/formats.md."
UTF_8 = "Save it as UTF-8."
FILES = (
    Kind(b"\xff\xfe\x00\x00", "is UTF-32, not UTF-8 (byte 0xff at 0)", UTF_8),
    Kind(b"\xff\xfe", "is UTF-16, not UTF-8 (byte 0xff at 0)", UTF_8),
    Kind(b"\xfe\xff", "is UTF-16, not UTF-8 (byte 0xfe at 0)", UTF_8),
    Kind(b"PAR1", "is Parquet", CONVERT),
    Kind(b"PK\x03\x04", "is a zip archive", "Unpack it and import the file in it."),
    Kind(b"\x1f\x8b", "is gzip inside gzip", "Unpack it once."),
    Kind(b"\x28\xb5\x2f\xfd", "is compressed with zstd", "Unpack it, or use gzip."),
    Kind(b"BZh", "is compressed with bzip2", "Unpack it, or use gzip."),
    Kind(b"\xfd7zXZ", "is compressed with xz", "Unpack it, or use gzip."),
)
NO_TESTS = "It can serve as raw material: write tests first, then import it in Benchwright's own format."
RECORDS = (
    Kind(
        {"stop_tokens", "tests", "prompt"},
        "holds MultiPL-E records, which have no reference solution and are not Python",
        "Only examples with a reference in Python can be checked.",
    ),
    Kind({"code_tokens", "docstring_tokens"}, "holds CodeSearchNet records, which have no tests", NO_TESTS),
    Kind(
        {"function_tokens", "docstring_tokens"},
        "holds CodeXGLUE AdvTest records, which have no tests",
        NO_TESTS,
    ),
    Kind(
        {"base_input", "plus_input"},
        "holds HumanEval+ inputs without expected values",
        "Import HumanEval+ in OriginFmt, whose records have a `test`.",
    ),
    Kind(
        {"task_id", "completion"},
        "holds model samples, not examples",
        "Bring samples in where a model is evaluated on examples that are in already.",
    ),
    Kind(
        {"eval_script", "orig_context"},
        "holds RepoST records, whose script shows the reference beside the gap",
        "They are data for the runner; take the original out before they can be examples.",
    ),
    Kind({"code", "test_list"}, "holds MBPP records, which this version does not read", CONVERT),
    Kind({"methods_info", "skeleton"}, "holds ClassEval records, which open a whole class", CONVERT),
    Kind({"buggy", "correct"}, "holds QuixBugs records, which are programs to repair", CONVERT),
)


def foreign_file(head: bytes) -> Problem | None:
    """Return what is wrong with a file that begins so, or None where it may be ours."""
    for kind in FILES:
        if head.startswith(kind.mark):
            return Problem(0, 0, "file", kind.message, kind.remedy)
    if not head.strip():
        return Problem(0, 0, "file", "is empty", "Choose a file with records.")
    if b"\0" in head:
        return Problem(0, 0, "file", f"is not text (NUL at byte {head.index(0)})", CONVERT)
    text = head.decode("utf-8-sig", errors="replace").lstrip()
    if not text.startswith(("{", "[", "//", "#")) and _is_table(text):
        columns = ", ".join(next(csv.reader([text.partition("\n")[0].strip()]))[:6])
        return Problem(0, 1, "file", f"is a table (CSV, columns {columns})", CONVERT)
    return None


def _is_table(text: str) -> bool:
    """Return whether the first line reads as column names with commas, semicolons or tabs between."""
    first = text.partition("\n")[0].strip()
    return any(
        mark in first and all(len(cell) < 60 for cell in first.split(mark)) and "{" not in first
        for mark in ",;\t"
    )


def foreign_record(value: Mapping[str, Any]) -> Problem | None:
    """Return what kind of record this is when it is of a known kind that cannot come in, else None."""
    for kind in RECORDS:
        if (
            kind.mark <= value.keys()
            and not {"revised_instruction", "canonical_solution", "format"} & value.keys()
        ):
            return Problem(0, 1, "file", kind.message, kind.remedy)
    mini = RECORDS[3]
    if mini.mark <= value.keys() and "test" not in value:
        return Problem(0, 1, "file", mini.message, mini.remedy)
    return None
