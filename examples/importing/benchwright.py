"""IMPORT: Benchwright's own JSON Lines, one version of an example a line; docs/formats.md describes every field.

What `examples.exporting` writes comes in again as the same version: the content hash is the same.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from examples.importing.base import (
    INSTRUCTION_LIMIT,
    KEY_LIMIT,
    NAME_LIMIT,
    TITLE_LIMIT,
    Record,
    RecordInvalid,
    key_of,
    refuse_unstorable,
    refuse_unstorable_json,
    segments_as_json,
    text_of,
    title_of,
)
from examples.languages.base import Examined, SourceUnfit, Ways
from examples.languages.ways import LANGUAGES, ways
from examples.masking import MaskingError, Segment, test_source, with_tests

NAME = "benchwright/1"
FAMILY = "benchwright/"
REQUIRED = (
    "format",
    "key",
    "instruction",
    "focal_name",
    "context",
    "gap",
    "reference",
    "segments",
    "expected",
)
USUAL = LANGUAGES[0]


def recognises(keys: frozenset[str]) -> bool:
    """Return whether an object with these keys is one of this format's records, perhaps an incomplete one."""
    return {"context", "gap"} <= keys or {"format", "segments"} <= keys


def parse(item: Mapping[str, Any]) -> Record:
    """Return the record. Raises RecordInvalid, also where the text was changed and `content_hash` was not."""
    _refuse_other_formats(item)
    context = text_of(item, "context")
    reference = text_of(item, "reference")
    gap = _number(item, "gap")
    tests = _segments(item)
    language = text_of(item, "language", required=False) or USUAL
    name, own_path = text_of(item, "focal_name", limit=NAME_LIMIT), _path(ways(language), context, gap)
    if name.replace(".<locals>", "") != own_path:
        raise RecordInvalid(
            "focal_name", f"is {name!r}, but {own_path!r} is open at the gap", "Make them agree."
        )
    expected = _expected(item)
    block = text_of(item, "block", required=False)
    source = with_tests(context, gap, reference, ())
    examined = _examined(ways(language), source, test_source(tests), block, expected)
    repository = text_of(item, "repository", required=False, limit=NAME_LIMIT)
    record = Record(
        key=key_of(item, "key"),
        title=text_of(item, "title", required=False, limit=TITLE_LIMIT) or title_of(name, repository),
        repository=repository,
        licence=text_of(item, "licence", required=False, limit=100),
        focal_name=name,
        language=language,
        instruction=text_of(item, "instruction", limit=INSTRUCTION_LIMIT),
        context=context,
        gap=gap,
        reference=reference,
        tests=tests,
        block=block,
        expected=expected,
        visible=examined.visible if item.get("visible") is None else _visible(item, examined.total),
        total=examined.total,
        needs=examined.needs,
        libraries=examined.libraries,
        provenance=_provenance(item),
        environment=text_of(item, "environment", required=False, limit=KEY_LIMIT),
    )
    _refuse_changed(item, record)
    return record


def as_item(record: Record) -> dict[str, Any]:
    """Return a record as this format's object; `parse` gives it back."""
    return {
        "format": NAME,
        "key": record.key,
        "title": record.title,
        "repository": record.repository,
        "licence": record.licence,
        "provenance": dict(record.provenance),
        "language": record.language,
        "environment": record.environment,
        "instruction": record.instruction,
        "focal_name": record.focal_name,
        "context": record.context,
        "gap": record.gap,
        "reference": record.reference,
        "segments": segments_as_json(record.tests),
        "block": record.block,
        "expected": list(record.expected),
        "visible": record.visible,
        "content_hash": record.content_hash,
    }


def _refuse_other_formats(item: Mapping[str, Any]) -> None:
    stated = text_of(item, "format")
    if stated != NAME:
        remedy = (
            "Import it with the Benchwright that wrote it, or a newer one."
            if stated.startswith(FAMILY)
            else ""
        )
        raise RecordInvalid("format", f"is {stated!r}, not {NAME!r}", remedy or f'Write "format": "{NAME}".')
    language = item.get("language") or USUAL
    if language not in LANGUAGES:
        raise RecordInvalid("language", f"is {language!r}", f"Only {', '.join(LANGUAGES)} can be executed.")


def _examined(its: Ways, source: str, tests: str, block: str, expected: tuple[str, ...]) -> Examined:
    """Return what code and tests hold. Raises RecordInvalid where they cannot be read."""
    try:
        return its.examine(source, tests, block, expected)
    except SourceUnfit as error:
        raise RecordInvalid(error.field, error.message, error.remedy) from error


def _path(its: Ways, context: str, gap: int) -> str:
    """Return the qualified name of the function that is open at the gap."""
    try:
        return its.path(context, gap)
    except (MaskingError, UnicodeDecodeError) as error:
        reason = str(error) if isinstance(error, MaskingError) else "it lies inside a character"
        raise RecordInvalid("gap", reason, "Count UTF-8 bytes up to where the body begins.") from error


def _number(item: Mapping[str, Any], name: str) -> int:
    value = item.get(name)
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        raise RecordInvalid(
            name, "is missing" if value is None else "is no whole number", f"Give {name} from 0 on."
        )
    return value


def _visible(item: Mapping[str, Any], total: int) -> int:
    value = _number(item, "visible")
    if value > total:
        message = f"is too many: the test source has {total} top-level assertions"
        raise RecordInvalid("visible", message, f"Give visible from 0 to {total}.")
    return value


def _segments(item: Mapping[str, Any]) -> tuple[Segment, ...]:
    """Return the tests. Raises RecordInvalid where one is malformed or lies outside the context."""
    values = item.get("segments")
    remedy = 'Write each as {"offset", "text", "kind": "function" or "block", "name"}, offsets ascending.'
    if not isinstance(values, list):
        raise RecordInvalid("segments", "is missing" if values is None else "is no list", remedy)
    data = str(item["context"]).encode()
    segments: list[Segment] = []
    for value in values:
        if not isinstance(value, dict) or value.get("kind") not in ("function", "block"):
            raise RecordInvalid("segments", "holds something that is no segment", remedy)
        offset = _number(value, "offset")
        if (
            offset > len(data)
            or (segments and offset < segments[-1].offset)
            or _inside_character(data, offset)
        ):
            raise RecordInvalid("segments", f"offset {offset} is not a place in the context", remedy)
        segments.append(
            Segment(offset, text_of(value, "text"), value["kind"], text_of(value, "name", required=False))
        )
    return tuple(segments)


def _inside_character(data: bytes, offset: int) -> bool:
    return offset < len(data) and data[offset] & 0xC0 == 0x80


def _expected(item: Mapping[str, Any]) -> tuple[str, ...]:
    values = item.get("expected")
    if not isinstance(values, list) or not all(isinstance(value, str) and value for value in values):
        raise RecordInvalid("expected", "is not a list of names", "Name the test functions that must pass.")
    for value in values:
        refuse_unstorable(value, "expected")
    return tuple(values)


def _provenance(item: Mapping[str, Any]) -> dict[str, Any]:
    value = item.get("provenance") or {}
    if not isinstance(value, dict):
        raise RecordInvalid("provenance", "is not an object", "Write it as a JSON object, or leave it out.")
    refuse_unstorable_json(value, "provenance")
    return value


def _refuse_changed(item: Mapping[str, Any], record: Record) -> None:
    stated = item.get("content_hash")
    if stated is not None and stated != record.content_hash:
        raise RecordInvalid(
            "content_hash",
            "does not fit the content, which was changed since it was exported",
            "Take content_hash out if the change is meant; otherwise export again.",
        )
