"""DEMO: readable sources and the manifest become records."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from examples.importing.base import Record, libraries_of, third_party
from examples.importing.benchwright import as_item
from examples.languages.python.source import parse
from examples.masking import mask
from examples.visible import count_assertions, default_count

HERE = Path(__file__).parent
FILE = HERE / "demo.jsonl"
LICENCE = "MIT"


def records() -> Iterator[Record]:
    """Yield the demo's records in the manifest's order."""
    for key, entry in tomllib.loads((HERE / "manifest.toml").read_text()).items():
        yield _record(key, entry, (HERE / "sources" / f"{key}.py").read_text())


def _record(key: str, entry: Mapping[str, Any], source: str) -> Record:
    tree = parse(source)
    masked = mask(source, entry["focal"], tree=tree)
    libraries = libraries_of(tree)
    total = count_assertions(tree, masked.expected)
    provenance = {"format": "demo", "domain": entry["domain"], "source": f"examples/demo/sources/{key}.py"}
    return Record(
        key=key,
        title=entry["title"],
        repository=f"benchwright-demo/{entry['domain'].replace(' ', '-')}",
        licence=LICENCE,
        focal_name=entry["focal"],
        language="python",
        instruction=entry["instruction"].strip(),
        context=masked.context,
        gap=masked.gap,
        reference=masked.reference,
        tests=masked.tests,
        block=masked.block,
        expected=masked.expected,
        visible=entry.get("visible", default_count(tree, masked.expected)),
        total=total,
        needs=third_party(libraries),
        libraries=libraries,
        provenance={**provenance, **({"flaw": entry["flaw"]} if "flaw" in entry else {})},
    )


def as_jsonl() -> str:
    """Return the demo's file."""
    return "".join(json.dumps(as_item(record), ensure_ascii=False) + "\n" for record in records())
