"""The comparator `json` with a tolerance, as it goes into a test: what JSON can tell apart differs, nothing else."""

from types import GeneratorType
from typing import Any


def alike(got: Any, expected: Any, tolerance: float = 0.0) -> bool:
    """Return whether both are the same JSON value; numbers that are not both whole may differ by the tolerance."""
    if isinstance(got, (GeneratorType, tuple, map, filter, zip, range)):
        got = list(got)
    if type(got) is list and type(expected) is list:
        return len(got) == len(expected) and all(
            alike(*pair, tolerance) for pair in zip(got, expected, strict=True)
        )
    if type(got) is dict and type(expected) is dict:
        return got.keys() == expected.keys() and all(alike(got[k], expected[k], tolerance) for k in got)
    if {type(got), type(expected)} == {int, float} or type(got) is type(expected) is float:
        return bool(abs(got - expected) <= tolerance)
    return type(got) is type(expected) and bool(got == expected)
