"""CURATE: a version and its evidence as pages show them: context with its hole, tests with their border, runs by seed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from textwrap import dedent, indent
from typing import Any

from examples.checking.run import CHECKS, TITLES
from examples.editing import indentation_of
from examples.jobs import segments_of
from examples.languages.ways import ways
from examples.masking import test_source
from examples.models import Check, Version
from examples.rows import MARKS, NOT_RUN, RUNNING, WAITING, Mark

RUNS_SHOWN = 10
NO_RUN = {"outcome": "", "seed": None, "cpu_seconds": None, "wall_seconds": None, "failure": ""}
# How often a flake must not show to be missed, for the table beside the form: failing once in so many executions.
ONE_IN = (4, 10, 20, 100)


@dataclass(frozen=True)
class ContextShown:
    """The context as lines; after line `hole` stands the open body, which has `hole_lines` lines in the reference."""

    text: str
    hole: int
    hole_lines: int


@dataclass(frozen=True)
class TestsShown:
    """The tests as lines: those up to `border` are visible, `visible` of `total` top-level assertions."""

    __test__ = False  # not a test class, whatever pytest thinks of the name

    text: str
    border: int
    visible: int
    total: int

    @property
    def seen(self) -> str:
        """The visible lines, as the tag `code` takes a range; "" where none is visible."""
        return f"1-{self.border}" if self.border else ""


@dataclass(frozen=True)
class CheckShown:
    """One check with its evidence; `check` None before it was made. `left_out` passed runs are counted, not listed."""

    name: str
    title: str
    mark: Mark
    check: Check | None
    runs: Sequence[dict[str, Any]] = ()
    left_out: int = 0

    @property
    def packages(self) -> dict[str, str]:
        """The packages of the environment, where this is its check."""
        found = self.check.evidence.get("packages", {}) if self.check else {}
        return found if isinstance(found, dict) else {}


@dataclass(frozen=True)
class Miss:
    """A flake that fails once in `one_in` executions is missed by n repeats with these chances, of 100."""

    one_in: int
    by_now: str
    by_more: str


def whole_reference(version: Version) -> str:
    """Return the reference as an annotator would have written it: the editor's first text with the body in its open line."""
    lines = ways(version.language).starting_answer(version.context, version.gap).split("\n")
    body = dedent(indentation_of(version) + version.reference)
    opened = [at for at, line in enumerate(lines) if line and not line.strip()]
    if opened:
        lines[opened[-1]] = indent(body, lines[opened[-1]])
    return "\n".join(lines if opened else [*lines, body])


def shown_context(version: Version) -> ContextShown:
    """Return the context with its hole where the body belongs."""
    data = version.context.encode()
    before, after = data[: version.gap].decode(), data[version.gap :].decode()
    lines = version.reference.count("\n") + 1
    indentation = indentation_of(version)
    if indentation:
        line_end = "\r\n" if after.startswith("\r\n") else after[:1]
        before, after = before.removesuffix(indentation), after.removeprefix(line_end)
    return ContextShown(before + after, before.count("\n") + (0 if indentation else 1), lines)


def shown_tests(version: Version) -> TestsShown:
    """Return the tests with the border between what is visible and what is hidden."""
    text = test_source(segments_of(version))
    found = ways(version.language).assertion_lines(text, version.expected)
    lines = sorted(line for own in found.values() for line in own)
    shown = lines[: version.visible]
    return TestsShown(text, shown[-1][1] if shown else 0, len(shown), len(lines))


def shown_checks(version: Version) -> list[CheckShown]:
    """Return the checks in their order, made or not, in one query."""
    made = {check.name: check for check in version.checks.all()}
    return [_check_shown(name, made.get(name), version) for name in CHECKS]


def _check_shown(name: str, check: Check | None, version: Version) -> CheckShown:
    under_way = {Version.CheckState.PENDING: WAITING, Version.CheckState.RUNNING: RUNNING}
    mark = under_way.get(Version.CheckState(version.check_state))
    if check is None:
        return CheckShown(name, TITLES[name], mark or NOT_RUN, None)
    runs = [{**NO_RUN, **run} for run in check.evidence.get("runs", []) if isinstance(run, dict)]
    shown = _worth_showing(runs)
    return CheckShown(
        name, TITLES[name], mark or MARKS[Check.State(check.state)], check, shown, len(runs) - len(shown)
    )


def _worth_showing(runs: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the runs to list, in order: first of all those that did not pass."""
    failed = [run for run in runs if run.get("outcome") != "PASSED"][:RUNS_SHOWN]
    passed = [run for run in runs if run.get("outcome") == "PASSED"][: RUNS_SHOWN - len(failed)]
    return [run for run in runs if run in failed or run in passed]


def summary(checks: Sequence[CheckShown]) -> Mark:
    """Return one sign for all checks: 6 of 7 checks."""
    words = Counter(shown.mark.word for shown in checks)
    if words["running"] or words["waiting"]:
        return (
            RUNNING._replace(word="checks running")
            if words["running"]
            else WAITING._replace(word="checks waiting")
        )
    kind = MARKS[Check.State.FAILED] if words["failed"] else MARKS[Check.State.PASSED]
    if not words["failed"] and words["passed"] < len(checks):
        kind = MARKS[Check.State.UNJUDGED]
    return kind._replace(word=f"{words['passed']} of {len(checks)} checks")


def misses(done: int, more: int) -> list[Miss]:
    """Return with which chance flakes are missed: by the repeats there are, and by so many more; (1 - p)^n."""
    return [Miss(one, _chance(one, done), _chance(one, done + more)) for one in ONE_IN]


def _chance(one_in: int, repeats: int) -> str:
    """Return the chance that `repeats` executions all pass, as "77 in 100" or "1 in 10,000"."""
    chance = (1 - 1 / one_in) ** repeats
    if chance >= 0.01:
        return f"{chance * 100:.0f} in 100"
    return f"1 in {1 / chance:,.0f}" if chance > 1e-6 else "below 1 in a million"
