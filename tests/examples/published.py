"""The real records that tests use, where they are at hand."""

from __future__ import annotations

import functools
import json
from pathlib import Path
from typing import Any

import pytest

DATA = Path(__file__).resolve().parents[2].parent / "shared" / "data"


def data_file(name: str) -> Path:
    """Return a file of the published test data; skips the test where the data is absent."""
    path = DATA / name
    if not path.exists():
        pytest.skip(f"{name} is not at hand (../shared/data)")
    return path


@functools.cache
def exec_csn() -> list[dict[str, Any]]:
    """Return the 24 published Exec-CSN records."""
    return json.loads(data_file("exec_csn_sample.json").read_text())
