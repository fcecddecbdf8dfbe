"""FAIRNESS: answers as they were written down, compared without regard to order; pure."""

from __future__ import annotations

import ast
from typing import Any


def same_but_for_order(one: str, other: str) -> bool:
    """Return whether two values differ, and only in the order of what they hold.

    They are read as Python literals; what is no literal (an object, or a value cut short) is not known to be the same.
    """
    if one == other:
        return False
    try:
        first, second = ast.literal_eval(one), ast.literal_eval(other)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return False
    return bool(_unordered(first) == _unordered(second))


def _unordered(value: Any) -> Any:
    """Return a value that two containers share when they hold the same, in whatever order."""
    if isinstance(value, list | tuple | set):
        return ("many", tuple(sorted((_unordered(item) for item in value), key=repr)))
    if isinstance(value, dict):
        pairs = ((_unordered(key), _unordered(item)) for key, item in value.items())
        return ("pairs", tuple(sorted(pairs, key=repr)))
    return value
