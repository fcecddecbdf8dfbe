"""The visible part of tests: their first assertions, or their first cases."""

from __future__ import annotations

from collections.abc import Sequence

from examples.visible import VisiblePart
from runner.languages import cases
from runner.languages.braces.statements import assertions, tests_of
from runner.languages.braces.tokens import Dialect


def assertion_lines(
    tests: str, expected: Sequence[str], dialect: Dialect
) -> dict[str, list[tuple[int, int]]]:
    """Return for each expected test the (first, last) lines of its top-level assertions; a case is one of one line."""
    if cases.is_cases(tests):
        found: dict[str, list[tuple[int, int]]] = {}
        for each in cases.cases_of(tests):
            if each.test in expected:
                found.setdefault(each.test, []).append((each.line, each.line))
        return found
    return {
        each.name: [(place.first, place.last) for place, _ in assertions(tests, dialect, each)]
        for each in tests_of(tests, dialect, expected)
    }


def visible_part(
    tests: str, expected: Sequence[str], dialect: Dialect, *, count: int | None = None
) -> VisiblePart:
    """Return the first `count` top-level assertions of the expected tests, None for a third of them, rounded up."""
    total = sum(len(lines) for lines in assertion_lines(tests, expected, dialect).values())
    wanted = min(-(-total // 3) if count is None else max(count, 0), total)
    if cases.is_cases(tests):
        return _visible_cases(tests, expected, wanted, total)
    pieces, at, left, shown = [], 0, wanted, []
    for each in tests_of(tests, dialect, expected):
        own = assertions(tests, dialect, each)[:left]
        left -= len(own)
        if own:
            shown.append(each.name)
            pieces += [tests[at : own[-1][1].end], "\n}"]
        else:
            pieces.append(tests[at : each.note])
        at = each.end
    return VisiblePart("".join(pieces) + tests[at:], tuple(shown), "", wanted, total)


def _visible_cases(tests: str, expected: Sequence[str], wanted: int, total: int) -> VisiblePart:
    shown = [each for each in cases.cases_of(tests) if each.test in expected][:wanted]
    lines = tests.split("\n")
    text = "".join(lines[each.line - 1] + "\n" for each in shown)
    return VisiblePart(text, tuple(dict.fromkeys(each.test for each in shown)), "", wanted, total)
