"""Results as JSON Lines, and what differs between two such files: the same batch twice, or by two ways."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import asdict
from pathlib import Path
from typing import IO, Any

from runner.reproducing.base import objects
from runner.reproducing.running import Result


def write(file: IO[str], result: Result, facts: dict[str, Any]) -> None:
    """Write one result with the conditions it holds under."""
    file.write(json.dumps({**asdict(result), **facts}) + "\n")


def read(path: Path) -> dict[str, str]:
    """Return the outcome of each sample of a file that `write` made. Raises FileUnusable."""
    return {str(item["id"]): str(item["outcome"]) for item in objects(path)}


def differing(results: Iterable[Result], earlier: dict[str, str], *, part: bool = False) -> Iterator[str]:
    """Yield a line for each sample that came to another outcome, or is not in both; `part` of them may be absent now."""
    seen = set()
    for result in results:
        seen.add(result.id)
        before, now = earlier.get(result.id, "absent"), str(result.outcome)
        if before != now:
            yield f"  {result.id}: {before} before, {now} now"
    for missing in sorted(earlier.keys() - seen) if not part else ():
        yield f"  {missing}: {earlier[missing]} before, absent now"
