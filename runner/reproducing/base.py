"""What a published format is to the runner: samples with their jobs, and figures known of the published file."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, NamedTuple

from runner.sandbox.base import Job, Limits


class FileUnusable(Exception):
    """A file is not in the form that its format has; the text says where and why."""


class Sample(NamedTuple):
    """One program to run, and the verdict that was published with it (None where none was)."""

    id: str
    job: Job
    recorded: bool | None


class Known(NamedTuple):
    """How many samples whose id begins with `prefix` the published file has, and how many of them pass."""

    prefix: str
    samples: int
    passed: int
    within: int = 0


@dataclass(frozen=True)
class Format:
    """One published format: which files it takes, how they are read, under which limit, and what is known of them.

    `read` yields the samples in the order of the files. `cpu_seconds` is the limit the known figures hold for.
    """

    name: str
    title: str
    files: tuple[str, ...]
    read: Callable[[Sequence[Path], Limits], Iterator[Sample]]
    cpu_seconds: float
    known: tuple[Known, ...]
    environment: str = "plain"
    more_files: bool = False


def objects(path: Path) -> Iterator[dict[str, Any]]:
    """Yield the objects of a JSON Lines file or of a JSON list, plain or gzip. Raises FileUnusable."""
    with _opened(path) as file:
        try:
            if file.read(1) == "[":
                file.seek(0)
                for number, item in enumerate(json.load(file), 1):
                    yield _object(item, f"{path}, record {number}")
                return
            file.seek(0)
            for number, line in enumerate(file, 1):
                if line.strip():
                    yield _object(json.loads(line), f"{path}, line {number}")
        except (ValueError, EOFError, OSError) as error:
            raise FileUnusable(f"{path}: {error}") from error


def field(item: dict[str, Any], name: str, kind: type, path: Path) -> Any:
    """Return a field of a record. Raises FileUnusable where it is absent or of another kind."""
    value = item.get(name)
    if not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool):
        raise FileUnusable(f"{path}: a record has no field {name} of kind {kind.__name__}: {str(item)[:120]}")
    return value


def _opened(path: Path) -> IO[str]:
    try:
        with path.open("rb") as file:
            packed = file.read(2) == b"\x1f\x8b"
        return gzip.open(path, "rt", encoding="utf-8") if packed else path.open(encoding="utf-8")
    except OSError as error:
        raise FileUnusable(f"{path}: {error.strerror}") from error


def _object(item: object, where: str) -> dict[str, Any]:
    if not isinstance(item, dict):
        raise FileUnusable(f"{where}: not an object")
    return item
