"""JSON-style tests: a line of JSON for each case, compared outside of the box that runs the function; pure.

    {"test": "test_empty", "call": "merge", "args": [[]], "expected": [], "comparator": "json"}

Cases of one `test` are its assertions, in order. `call` names a function of the program. The comparator is `json` unless
another is named: `exact` tells whole numbers from others, `approx` lets numbers differ by `tolerance` (absolute, or
relative to an expected number beyond 1). Neither the expected value nor the comparator enters the box.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

COMPARATORS = ("json", "exact", "approx")
FIELDS = frozenset(("test", "call", "args", "expected", "comparator", "tolerance"))
NAME = re.compile(r"[A-Za-z_]\w*(?:(?:\.|::)[A-Za-z_]\w*)*")
TOLERANCE = 1e-9


class CaseInvalid(ValueError):
    """A line that is no case; `line` counts from 1."""

    def __init__(self, message: str, line: int) -> None:
        super().__init__(message)
        self.message, self.line = message, line


@dataclass(frozen=True)
class Json:
    """What a value must be, as JSON values can be told apart; a comparator (runner/comparing.py)."""

    expected: Any
    kind: str = "json"
    tolerance: float = 0.0

    @property
    def name(self) -> str:
        """Return the comparator's name, with its tolerance; never what is expected."""
        return f"approx({self.tolerance:g})" if self.kind == "approx" else self.kind

    def holds(self, written: str) -> bool:
        """Return whether the value that was sent (`json` and its text) is the expected one."""
        word, _, text = written.partition(" ")
        try:
            return word == "json" and self._alike(json.loads(text), self.expected)
        except (ValueError, RecursionError):
            return False

    def _alike(self, got: Any, expected: Any) -> bool:
        if isinstance(expected, list):
            return (
                isinstance(got, list) and len(got) == len(expected) and all(map(self._alike, got, expected))
            )
        if isinstance(expected, dict):
            return (
                isinstance(got, dict)
                and got.keys() == expected.keys()
                and all(self._alike(got[key], expected[key]) for key in expected)
            )
        if isinstance(expected, (str, bool)) or expected is None:
            return type(got) is type(expected) and bool(got == expected)
        return self._alike_numbers(got, expected)

    def _alike_numbers(self, got: Any, expected: float) -> bool:
        if isinstance(got, bool) or not isinstance(got, (int, float)):
            return False
        if self.kind == "exact" and type(got) is not type(expected):
            return False
        if got == expected or (math.isnan(got) and math.isnan(expected)):
            return True
        return self.kind == "approx" and abs(got - expected) <= self.tolerance * max(1.0, abs(expected))


@dataclass(frozen=True)
class Case:
    """One call and what it must return. `number` counts the cases of its test, `line` the lines, both from 1."""

    test: str
    call: str
    args: tuple[Any, ...]
    comparator: Json
    number: int
    line: int

    @property
    def shown(self) -> str:
        """Return the case in short, `merge([]) is []`, as an annotator reads it."""
        inside = ", ".join(json.dumps(each, ensure_ascii=False) for each in self.args)
        word = "is about" if self.comparator.kind == "approx" else "is"
        return f"{self.call}({inside}) {word} {json.dumps(self.comparator.expected, ensure_ascii=False)}"


def is_cases(tests: str) -> bool:
    """Return whether a text holds cases, not a script: its first line with anything on it is a JSON object with `call`."""
    first = next((line for line in tests.splitlines() if line.strip()), "")
    try:
        value = json.loads(first)
    except (ValueError, RecursionError):
        return False
    return isinstance(value, dict) and "call" in value


@lru_cache(maxsize=256)
def cases_of(tests: str) -> tuple[Case, ...]:
    """Return the cases of a text, in order. Raises CaseInvalid for the first line that is none."""
    found: list[Case] = []
    counts: dict[str, int] = {}
    for line, text in enumerate(tests.split("\n"), start=1):
        if not text.strip():
            continue
        value = _value(text, line)
        counts[value["test"]] = counts.get(value["test"], 0) + 1
        kind = value.get("comparator", "json")
        tolerance = value.get("tolerance", TOLERANCE) if kind == "approx" else 0.0
        comparator = Json(value["expected"], kind, float(tolerance))
        found.append(
            Case(value["test"], value["call"], tuple(value["args"]), comparator, counts[value["test"]], line)
        )
    return tuple(found)


def _value(text: str, line: int) -> Mapping[str, Any]:
    """Return a line's object. Raises CaseInvalid."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise CaseInvalid(f"no JSON: {error}", line) from error
    if not isinstance(value, dict) or not {"test", "call", "args", "expected"} <= value.keys() <= FIELDS:
        raise CaseInvalid(
            "a case has test, call, args and expected, and perhaps comparator and tolerance", line
        )
    if not all(isinstance(value[name], str) and NAME.fullmatch(value[name]) for name in ("test", "call")):
        raise CaseInvalid("test and call are names", line)
    if not isinstance(value["args"], list):
        raise CaseInvalid("args is a list", line)
    if value.get("comparator", "json") not in COMPARATORS:
        raise CaseInvalid(f"the comparator is one of {', '.join(COMPARATORS)}", line)
    tolerance = value.get("tolerance", TOLERANCE)
    if (
        isinstance(tolerance, bool)
        or not isinstance(tolerance, (int, float))
        or not 0 <= tolerance < math.inf
    ):
        raise CaseInvalid("the tolerance is a number from 0", line)
    return value


def for_box(cases: Sequence[Case], run: Sequence[str]) -> dict[str, list[dict[str, Any]]]:
    """Return what a box is told of the tests to be run: what to call with what, by test."""
    told: dict[str, list[dict[str, Any]]] = {test: [] for test in run}
    for each in cases:
        if each.test in told:
            asked = {"assertion": each.number, "line": each.line, "call": each.call, "args": list(each.args)}
            told[each.test].append(asked)
    return told
