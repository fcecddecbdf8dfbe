"""FRAGMENTS: which kind of source something is, told by its name and first bytes, and its files read."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from examples.generation.fragments.archives import FILE_LIMIT, read_archive
from examples.generation.fragments.base import LeftOut, Origin, SourceFile, SourceRefused
from examples.generation.fragments.checkouts import read_checkout
from examples.generation.fragments.codesearchnet import read_codesearchnet, recognises
from examples.importing.base import RecordInvalid, refuse_unstorable
from examples.importing.containers import FileBroken, opened

ARCHIVES = (b"PK\x03\x04", b"PK\x05\x06")
KINDS = "a .whl or .zip, CodeSearchNet's .jsonl or .jsonl.gz, or a .py file"


def read_path(path: Path, *, function: str = "", licence: str = "") -> Iterator[SourceFile | LeftOut]:
    """Yield the files of what lies at a path: a folder, or a file as `read_stream` takes it. Raises SourceRefused."""
    if path.is_dir():
        yield from read_checkout(path, licence=licence)
        return
    try:
        stream = path.open("rb")
    except OSError as error:
        raise SourceRefused(f"{path} cannot be opened: {error.strerror}. Name a folder, {KINDS}.") from error
    with stream:
        yield from read_stream(stream, path.name, function=function, licence=licence)


def read_stream(
    stream: BinaryIO, file_name: str, *, function: str = "", licence: str = ""
) -> Iterator[SourceFile | LeftOut]:
    """Yield the files of an archive, of CodeSearchNet's records, or the one Python file that it is. Raises SourceRefused.

    `function` is the only one wanted of a Python file; `licence` is used where the source itself names none.
    """
    head = stream.read(4)
    stream.seek(0)
    if head in ARCHIVES:
        yield from read_archive(stream, file_name=file_name, licence=licence)
    elif file_name.endswith(".py"):
        yield read_text(_decoded(stream, file_name), path=file_name, function=function, licence=licence)
    else:
        yield from _records(stream, file_name, licence)


def read_text(
    text: str, *, path: str, function: str = "", licence: str = "", repository: str = ""
) -> SourceFile:
    """Return pasted code as a file. Raises SourceRefused for what is empty, too long or cannot be stored."""
    if not text.strip():
        raise SourceRefused("There is no code. Paste a function with what it needs.")
    if len(text.encode(errors="replace")) > FILE_LIMIT:
        raise SourceRefused(
            f"The code is longer than {FILE_LIMIT >> 20} MiB. Paste the function and what it needs."
        )
    try:
        refuse_unstorable(text, "code")
    except RecordInvalid as error:
        raise SourceRefused(f"The code {error.message}. {error.remedy}") from error
    return SourceFile(path, text, Origin(repository, licence, {"form": "text", "file": path}), name=function)


def _decoded(stream: BinaryIO, file_name: str) -> str:
    data = stream.read(FILE_LIMIT + 1)
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise SourceRefused(f"{file_name} is not UTF-8: line {line}. Save it as UTF-8.") from error


def _records(stream: BinaryIO, file_name: str, licence: str) -> Iterator[SourceFile | LeftOut]:
    """Yield CodeSearchNet's records, once the first line is seen to be one."""
    records = opened(stream)
    refusal = SourceRefused(f"{file_name} is none of the sources that are read: {KINDS}.")
    try:
        first = json.loads(records.peek(1 << 16).partition(b"\n")[0])
    except FileBroken as error:
        raise SourceRefused(f"{file_name}: {error}.") from error
    except (ValueError, RecursionError) as error:
        raise refusal from error
    if not isinstance(first, dict) or not recognises(frozenset(first)):
        raise refusal
    yield from read_codesearchnet(records, licence=licence)
