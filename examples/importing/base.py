"""IMPORT: what every format's parser hands on: a record, or a problem that says what to do about it; pure."""

from __future__ import annotations

import ast
import hashlib
import json
import math
import sys
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from examples.languages.python.source import SourceInvalid, blocks, parse
from examples.masking import Segment, test_source

KEY_LIMIT, TITLE_LIMIT, NAME_LIMIT = 200, 300, 300  # characters, as in examples.models
INSTRUCTION_LIMIT = 100_000  # characters; every page that shows it parses it as Markdown
DEPTH_LIMIT = 50


@dataclass(frozen=True)
class Problem:
    """A record, or a whole file (number 0), that cannot come in.

    `number` counts records and `line` the file's lines, both from 1; `field` names the part at fault.
    """

    number: int
    line: int
    field: str
    message: str
    remedy: str

    def __str__(self) -> str:
        place = f"record {self.number} (line {self.line})" if self.number else "the file"
        return f"{place}, {self.field}: {self.message}. {self.remedy}"


class RecordInvalid(ValueError):
    """What is wrong with one record, before its place in the file is known."""

    def __init__(self, at: str, message: str, remedy: str) -> None:
        super().__init__(f"{at}: {message}")
        self.field = at
        self.message = message
        self.remedy = remedy

    def at(self, number: int, line: int) -> Problem:
        """Return the problem of the record at this place."""
        return Problem(number, line, self.field, self.message, self.remedy)


@dataclass(frozen=True)
class Record:
    """An example as its source states it.

    key          the record's own name in its source
    licence      "" when the record does not say
    tests        test functions and blocks, where they belong in the context (see examples.masking)
    block        code that runs the tests; "" where the runner calls each
    expected     names of the test functions that must pass
    visible      how many top-level assertions an annotator sees
    total        how many there are
    needs        third-party top-level modules that the whole imports; `libraries` has the standard ones too
    environment  the name of the environment it asks for; "" where it does not say
    """

    key: str
    title: str
    repository: str
    licence: str
    focal_name: str
    language: str
    instruction: str
    context: str
    gap: int
    reference: str
    tests: tuple[Segment, ...]
    block: str
    expected: tuple[str, ...]
    visible: int
    total: int
    needs: tuple[str, ...]
    libraries: tuple[str, ...]
    provenance: Mapping[str, Any] = field(default_factory=dict)
    environment: str = ""

    @property
    def content_hash(self) -> str:
        """The hash of what makes it a version; two records with one hash are the same version."""
        return content_hash(
            language=self.language,
            instruction=self.instruction,
            context=self.context,
            gap=self.gap,
            reference=self.reference,
            segments=segments_as_json(self.tests),
            block=self.block,
            expected=self.expected,
            visible=self.visible,
        )

    @property
    def test_source(self) -> str:
        """The source of the test functions."""
        return test_source(self.tests)


def content_hash(
    *,
    language: str,
    instruction: str,
    context: str,
    gap: int,
    reference: str,
    segments: Sequence[Mapping[str, Any]],
    block: str,
    expected: Sequence[str],
    visible: int,
) -> str:
    """Return the sha256, in hex, of a version's content as canonical JSON (sorted keys, no spaces, UTF-8).

    Key, title, licence, repository, tags, provenance and environment are outside it.
    """
    content = {
        "language": language,
        "instruction": instruction,
        "context": context,
        "gap": gap,
        "reference": reference,
        "segments": [dict(segment) for segment in segments],
        "block": block,
        "expected": list(expected),
        "visible": visible,
    }
    canonical = json.dumps(content, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(canonical.encode()).hexdigest()


def segments_as_json(tests: Iterable[Segment]) -> list[dict[str, Any]]:
    """Return tests as plain values, as `Version.segments` stores them; `Segment(**each)` gives one back."""
    return [
        {"offset": each.offset, "text": each.text, "kind": each.kind, "name": each.name} for each in tests
    ]


def title_of(name: str, repository: str) -> str:
    """Return a short title for people: the function, and where it comes from."""
    return (f"{name} in {repository}" if repository else name)[:TITLE_LIMIT]


def libraries_of(*trees: ast.Module) -> tuple[str, ...]:
    """Return the top-level modules that sources import anywhere in them, sorted; relative imports left out."""
    found: set[str] = set()
    waiting: list[ast.stmt] = [statement for tree in trees for statement in tree.body]
    while waiting:
        statement = waiting.pop()
        if isinstance(statement, ast.Import):
            found.update(alias.name.partition(".")[0] for alias in statement.names)
        elif isinstance(statement, ast.ImportFrom):
            if statement.module and not statement.level:
                found.add(statement.module.partition(".")[0])
        else:
            waiting.extend(inner for block in blocks(statement) for inner in block)
    return tuple(sorted(found))


def third_party(libraries: Iterable[str]) -> tuple[str, ...]:
    """Return those modules that Python does not bring itself."""
    return tuple(name for name in libraries if name not in sys.stdlib_module_names)


def text_of(item: Mapping[str, Any], name: str, *, required: bool = True, limit: int | None = None) -> str:
    """Return a field's text. Raises RecordInvalid where it is absent, empty, no text, too long or not storable."""
    value = item.get(name)
    if value is None or (required and value == ""):
        if required:
            raise RecordInvalid(
                name, "is missing" if value is None else "is empty", f"Give the record a {name}."
            )
        return ""
    if not isinstance(value, str):
        raise RecordInvalid(name, f"is {_kind(value)}, not text", f"Write {name} as a JSON string.")
    refuse_unstorable(value, name)
    if limit is not None and len(value) > limit:
        raise RecordInvalid(name, f"has {len(value)} characters, more than {limit}", f"Shorten {name}.")
    if limit is not None and limit <= NAME_LIMIT:
        _refuse_hidden(value, name)
    return value


def _refuse_hidden(value: str, name: str) -> None:
    """Raise RecordInvalid for a name with a character that does not show, or turns round what stands beside it.

    The joiners U+200C and U+200D are letters' business in several scripts.
    """
    kinds = ("Cc", "Cf", "Zl", "Zp")
    hidden = next(
        (each for each in value if unicodedata.category(each) in kinds and each not in "\u200c\u200d"), None
    )
    if hidden is not None:
        message = f"holds U+{ord(hidden):04X}, which does not show"
        raise RecordInvalid(name, message, f"Write {name} on one line, without control characters.")


def parsed(code: str, name: str) -> ast.Module:
    """Return the module of a field that holds code. Raises RecordInvalid with the line where Python 3 stops."""
    try:
        return parse(code)
    except SourceInvalid as error:
        place = f"line {error.line}: " if error.line else ""
        raise RecordInvalid(name, f"{place}{error.message}", "Give code that Python 3 can parse.") from error


def key_of(item: Mapping[str, Any], name: str) -> str:
    """Return the record's own name, written as a number or as text."""
    value = item.get(name)
    if isinstance(value, int) and not isinstance(value, bool):
        item = {name: str(value)}
    return text_of(item, name, limit=KEY_LIMIT)


def refuse_unstorable(value: str, name: str) -> None:
    """Raise RecordInvalid for text with NUL or half a character, which neither UTF-8 nor the database can hold."""
    if "\0" in value:
        raise RecordInvalid(name, "holds a NUL character", "Remove it, or write it as an escape in the code.")
    try:
        value.encode()
    except UnicodeEncodeError as error:
        remedy = "Write the character whole, or as an escape in the code."
        raise RecordInvalid(
            name, f"holds half a character (a lone surrogate) at character {error.start + 1}", remedy
        ) from error


def refuse_unstorable_json(value: Any, name: str, *, depth: int = 0) -> None:
    """Raise RecordInvalid for a value that JSON columns of some database refuse: texts, numbers or nesting."""
    if depth > DEPTH_LIMIT:
        raise RecordInvalid(name, f"is nested deeper than {DEPTH_LIMIT}", "Write it flatter.")
    if isinstance(value, str):
        refuse_unstorable(value, name)
    elif isinstance(value, float) and not math.isfinite(value):
        raise RecordInvalid(
            name, f"holds {value}, which is no number in JSON", "Write null, or leave it out."
        )
    elif isinstance(value, (list, dict)):
        for inner in [*value, *(value.values() if isinstance(value, dict) else ())]:
            refuse_unstorable_json(inner, name, depth=depth + 1)


def _kind(value: Any) -> str:
    names = {bool: "true or false", int: "a number", float: "a number", list: "a list", dict: "an object"}
    return names.get(type(value), type(value).__name__)
