"""DEMO: twelve examples each in JavaScript and C++: sources, cases and manifests become records."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from examples.demo.records import HERE, LICENCE
from examples.importing.base import Record
from examples.importing.benchwright import as_item
from examples.languages.braces.opening import mask
from examples.languages.ways import ways
from examples.masking import Masked, Segment, test_source
from runner.languages.braces.outline import outline
from runner.languages.braces.tokens import Dialect
from runner.languages.cases import cases_of

ENDINGS: dict[Dialect, str] = {"javascript": "js", "cpp": "cpp"}


def file_of(language: Dialect) -> Path:
    """Return where a language's records are kept, as they are imported."""
    return HERE / f"{language}.jsonl"


def records(language: Dialect) -> Iterator[Record]:
    """Yield a language's records in the manifest's order."""
    for key, entry in tomllib.loads((HERE / f"{language}.toml").read_text()).items():
        yield _record(key, entry, language)


def _record(key: str, entry: Mapping[str, Any], language: Dialect) -> Record:
    path = HERE / "sources" / language / f"{key}.{ENDINGS[language]}"
    source, its = path.read_text(), ways(language)
    tests = [each.name for each in outline(source, language) if each.name.startswith("test_")]
    masked = mask(source, entry["focal"], language, tests=tests)
    segments = masked.tests or _cases(path.with_suffix(".jsonl").read_text(), masked)
    expected = tuple(segment.name for segment in segments)
    examined = its.examine(source, test_source(segments), "", expected)
    return Record(
        key=f"{language}/{key}",
        title=entry["title"],
        repository=f"benchwright-demo/{entry['domain'].replace(' ', '-')}",
        licence=LICENCE,
        focal_name=entry["focal"],
        language=language,
        instruction=entry["instruction"].strip(),
        context=masked.context,
        gap=masked.gap,
        reference=masked.reference,
        tests=segments,
        block="",
        expected=expected,
        visible=examined.visible,
        total=examined.total,
        needs=examined.needs,
        libraries=examined.libraries,
        provenance={
            "format": "demo",
            "domain": entry["domain"],
            "source": f"examples/demo/sources/{language}/{path.name}",
        },
    )


def _cases(text: str, masked: Masked) -> tuple[Segment, ...]:
    """Return a segment for each test of a text of cases, behind the context."""
    end = len(masked.context.encode())
    lines = text.split("\n")
    tests: dict[str, str] = {}
    for each in cases_of(text):
        tests[each.test] = tests.get(each.test, "") + lines[each.line - 1] + "\n"
    return tuple(Segment(end, lines_of_test, "function", test) for test, lines_of_test in tests.items())


def as_jsonl(language: Dialect) -> str:
    """Return a language's file."""
    return "".join(json.dumps(as_item(record), ensure_ascii=False) + "\n" for record in records(language))
