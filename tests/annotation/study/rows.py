"""Rows for the tests of the study's figures."""

from typing import Any

from annotation.study.rows import AttemptRow

LEVELS = ["trivial", "requires effort", "very hard"]


def a_row(version: int = 1, annotator: int = 1, *, solved: bool = True, **changes: Any) -> AttemptRow:
    """A closed attempt that counts, solved at the first submission after 100 s unless told otherwise."""
    values: dict[str, Any] = {
        "version_id": version,
        "example": f"example {version}",
        "annotator": annotator,
        "pseudonym": f"A-{annotator:02}",
        "outcome": "solved" if solved else "gave_up",
        "closed": True,
        "solved": solved,
        "solved_at_submission": 1 if solved else None,
        "difficulty": "requires effort",
        "active_seconds": 100.0,
    }
    return AttemptRow(**(values | changes))
