"""EXPORT: Benchwright's own JSONL, a record per version; what `examples.importing.benchwright` reads again."""

from __future__ import annotations

import json
from typing import Any

from examples.models import Version

EXTENSION = "jsonl"


def record_of(version: Version) -> dict[str, Any]:
    """Return the version as plain JSON values: everything that makes its content, and where it comes from."""
    example = version.example
    return {
        "format": "benchwright/1",
        "key": example.key,
        "title": example.title,
        "repository": example.repository,
        "licence": example.known_licence,
        "provenance": example.provenance,
        "language": version.language,
        "environment": version.environment.name,
        "instruction": version.instruction,
        "focal_name": version.focal_name,
        "context": version.context,
        "gap": version.gap,
        "reference": version.reference,
        "segments": version.segments,
        "block": version.block,
        "expected": version.expected,
        "visible": version.visible,
        "content_hash": version.content_hash,
    }


def dump(value: Any) -> str:
    """Return JSON on one line with sorted keys, non-ASCII kept: the same value is always the same bytes."""
    return json.dumps(value, sort_keys=True, ensure_ascii=False, separators=(",", ":"))


def line(version: Version) -> str:
    """Return the version's line, ended."""
    return dump(record_of(version)) + "\n"
