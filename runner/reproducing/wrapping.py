"""Published tests that stand at top level, put into the one test function that the runner expects."""

from __future__ import annotations

from collections.abc import Sequence
from textwrap import indent


def as_function(name: str, statements: Sequence[str]) -> str:
    """Return a test function with these statements as its body, in order; each is one line, or lines that may be indented."""
    body = "\n".join(statement.strip() for statement in statements) or "pass"
    return f"def {name}():\n{indent(body, '    ')}\n"
