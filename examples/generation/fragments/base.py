"""What finding hands on: a file as it was read, a candidate in it, or what was left out and why; pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any


class Reason(StrEnum):
    """Why a fragment, or a file of them, is left out; the value is the code that reports count by."""

    NOT_READ = "not_read"
    NOT_UTF8 = "not_utf8"
    PYTHON_2 = "python_2"
    NOT_PYTHON = "not_python"
    NO_FUNCTION = "no_function"
    TEST_CODE = "test_code"
    STUB = "stub"
    TOO_SHORT = "too_short"
    TOO_LONG = "too_long"
    NETWORK = "network"
    GPU = "gpu"
    SUBPROCESS = "subprocess"
    FILES = "files"
    DUPLICATE = "duplicate"
    NO_DOCTEST = "no_doctest"


@dataclass(frozen=True)
class Origin:
    """Where files come from.

    repository  a name people know: `nikcub/floyd`, `toolz 1.2.0`
    licence     as the wheel's metadata or the repository says it; "" where nothing does
    facts       what else is kept as provenance: form, file name, commit
    """

    repository: str = ""
    licence: str = ""
    facts: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class SourceFile:
    """A file's text. `module` is its dotted name where it belongs to a package, `name` the only function wanted.

    `siblings` are the other modules of its package, by dotted name: imports among them may be put in their place.
    """

    path: str
    text: str
    origin: Origin
    module: str = ""
    name: str = ""
    key: str = ""
    siblings: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Candidate:
    """A function of a file that may become an example; `line` is where it starts in the file, from 1."""

    file: SourceFile
    name: str
    line: int
    structure: str

    @property
    def key(self) -> str:
        """The name that the example will have in its dataset: the record's own, or path and function."""
        return self.file.key or f"{self.file.path}::{self.name}"


@dataclass(frozen=True)
class LeftOut:
    """A function or file that is no candidate: the code, and a sentence that says what was found and at which line."""

    reason: Reason
    sentence: str
    path: str
    name: str = ""
    line: int = 0
    key: str = ""


class SourceRefused(ValueError):
    """A whole source that cannot be read; the message says what is wrong with it, and what helps."""
