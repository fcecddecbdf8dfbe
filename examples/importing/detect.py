"""IMPORT: tell which format a file has, and read it; a file that is none of ours is refused with what it is."""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import chain, islice
from typing import Any, BinaryIO

from examples.importing import benchwright, exec_csn, humaneval
from examples.importing.base import Problem, Record, RecordInvalid
from examples.importing.containers import CHUNK, FileBroken, Item, json_lines, json_list, opened
from examples.importing.foreign import foreign_file, foreign_record

PEEKED = 20
READABLE = "Benchwright reads Exec-CSN (JSON list), HumanEval (JSON Lines, also .gz) and its own JSON Lines."


@dataclass(frozen=True)
class Format:
    """A format's name, the test for an object's keys, and its parser."""

    name: str
    recognises: Callable[[frozenset[str]], bool]
    parse: Callable[[Mapping[str, Any]], Record]


FORMATS = tuple(
    Format(module.NAME, module.recognises, module.parse) for module in (benchwright, humaneval, exec_csn)
)


def read(stream: BinaryIO) -> Iterator[Record | Problem]:
    """Yield every record of a file, gzip or not, and a problem for each that cannot come in, in order, in flat memory.

    A file that is refused as a whole yields one problem with number 0.
    """
    try:
        yield from _read(opened(stream))
    except FileBroken as error:
        remedy = "Make the file anew and import again; the records before are in."
        yield Problem(0, 0, "file", str(error), remedy)


def _read(stream: io.BufferedReader) -> Iterator[Record | Problem]:
    head = stream.peek(CHUNK)[:CHUNK]
    refused = foreign_file(head)
    if refused:
        yield refused
        return
    text = head.decode("utf-8-sig", errors="ignore").lstrip()
    if text.startswith("["):
        items = json_list(stream)
    elif _is_spread_object(text):
        yield from _one_object(text)
        return
    else:
        items = json_lines(stream)
    peeked = list(islice(items, PEEKED))
    chosen = _format_of(peeked)
    if isinstance(chosen, Problem):
        yield chosen
        return
    yield from _parsed(chosen, chain(peeked, items))


def _parsed(chosen: Format, items: Iterator[Item | Problem]) -> Iterator[Record | Problem]:
    first_seen: dict[str, int] = {}
    for item in items:
        if isinstance(item, Problem):
            yield item
            continue
        try:
            record = chosen.parse(item.value)
        except RecordInvalid as error:
            yield error.at(item.number, item.line)
            continue
        first = first_seen.setdefault(record.key, item.number)
        if first != item.number:
            message = f"{record.key!r} is the name of record {first} too"
            yield Problem(item.number, item.line, "key", message, "Give each record a name of its own.")
            continue
        yield record


def _format_of(items: list[Item | Problem]) -> Format | Problem:
    """Return the format of the first object that any format recognises, or the problem that says what the file is."""
    values = [item.value for item in items if isinstance(item, Item)]
    for value in values:
        foreign = foreign_record(value)
        if foreign:
            return foreign
        for each in FORMATS:
            if each.recognises(frozenset(value)):
                return each
    if values:
        keys = ", ".join(list(values[0])[:6])
        return Problem(0, 1, "file", f"its records are of no known format (keys {keys})", READABLE)
    first = next((item for item in items if isinstance(item, Problem)), None)
    if first:
        return Problem(
            0, first.line, "file", f"holds no JSON record; its first line {first.message}", READABLE
        )
    return Problem(0, 0, "file", "holds no record", READABLE)


def _is_spread_object(text: str) -> bool:
    """Return whether the text begins with a JSON object that runs over several lines."""
    if not text.startswith("{"):
        return False
    try:
        json.loads(text.partition("\n")[0])
    except RecursionError:
        return False
    except ValueError:
        rest = text[1:].lstrip()
        return "\n" in text[: len(text) - len(rest)] and rest[:1] in ('"', "}")
    return False


def _one_object(text: str) -> Iterator[Problem]:
    try:
        value, _ = json.JSONDecoder().raw_decode(text)
        keys = list(value)
    except (ValueError, RecursionError):
        keys = []
    if any(each.recognises(frozenset(keys)) for each in FORMATS):
        remedy = "Write the record on one line (JSON Lines), or put the records into a list."
        yield Problem(0, 1, "file", "holds a record spread over several lines", remedy)
        return
    shown = f" (keys {', '.join(keys[:6])})" if keys else ""
    yield Problem(0, 1, "file", f"is a JSON object{shown}, not a list of examples", READABLE)
