"""GATE: the conditions a version meets before it is published; each a small function of what is known; pure."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from examples.releasing.evidence import NOBODY, HumanEvidence

REPEATS = 5


@dataclass(frozen=True, slots=True)
class CheckFact:
    """A check of the version: its state, what it found, and the figures behind it."""

    state: str
    finding: str
    evidence: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class AlternativeFact:
    """An accepted alternative and what came of it on the version: its execution, state and outcome; None before one."""

    sha256: str
    execution: int | None
    state: str
    outcome: str

    @property
    def passed(self) -> bool:
        """Whether the version lets it pass."""
        return self.outcome == "PASSED"


@dataclass(frozen=True, slots=True)
class VersionFacts:
    """What a release must know of a version; `checks` by slug."""

    version_id: int
    example_id: int
    label: str
    checks: Mapping[str, CheckFact]
    image_digest: str
    licence: str
    retired: str = ""
    alternatives: tuple[AlternativeFact, ...] = ()


class Verdict(NamedTuple):
    """What a condition says of a version: met or not, what was found, and the shortest way out ("" when met)."""

    met: bool
    finding: str
    way_out: str = ""


Judge = Callable[[VersionFacts, HumanEvidence], Verdict]


@dataclass(frozen=True, slots=True)
class Condition:
    """A named condition of the gate."""

    slug: str
    title: str
    judge: Judge


def check_passed(slug: str, way_out: str) -> Judge:
    """Return the judge for "this check passed"."""

    def judge(facts: VersionFacts, _people: HumanEvidence) -> Verdict:
        check = facts.checks.get(slug)
        if check is None:
            return Verdict(False, "This check was not made.", "Check the version.")
        if check.state == "passed":
            return Verdict(True, check.finding)
        if check.state == "failed":
            return Verdict(False, check.finding, way_out)
        return Verdict(
            False, check.finding or f"The check is {check.state}.", "Wait for the check, or start it again."
        )

    return judge


def reference_passes(facts: VersionFacts, people: HumanEvidence) -> Verdict:
    """Met when the reference passed every one of at least five executions."""
    found = check_passed("reference", "Correct the reference or the tests as a new version.")(facts, people)
    if not found.met:
        return found
    evidence = facts.checks["reference"].evidence
    passed, of = evidence.get("passed", 0), evidence.get("of", 0)
    if passed == of >= REPEATS:
        return found
    return Verdict(
        False, f"{passed} of {of} executions passed; {REPEATS} of {REPEATS} are asked for.", "Check it again."
    )


def environment_pinned(facts: VersionFacts, people: HumanEvidence) -> Verdict:
    """Met when the image is known by digest, and is the one in which the checks ran."""
    found = check_passed("environment", "Build the environment, then check again.")(facts, people)
    if not found.met:
        return found
    if not facts.image_digest:
        return Verdict(False, "The environment has no image.", "Build the environment, then check again.")
    checked = facts.checks["environment"].evidence.get("digest")
    if checked != facts.image_digest:
        return Verdict(False, "The image was built anew after the checks.", "Check the version again.")
    return found


def licence_known(facts: VersionFacts, people: HumanEvidence) -> Verdict:
    """Met when the check found a licence and one still stands there."""
    way_out = "State the licence of the example or its dataset, then check again."
    if not facts.licence:
        return Verdict(False, "No licence is known.", way_out)
    found = check_passed("licence", way_out)(facts, people)
    return Verdict(True, facts.licence) if found.met else found


def solvers_reached(_facts: VersionFacts, people: HumanEvidence) -> Verdict:
    """Met when a study has closed the k attempts that it asks for on this version."""
    if not people.studies:
        return Verdict(False, "It is in no study.", "Put it into a study.")
    best = max(people.studies, key=lambda each: (each.closed >= each.wanted, each.closed))
    finding = f"{best.closed} of {best.wanted} attempts closed in {best.study}"
    missing = best.wanted - best.closed
    return Verdict(
        missing <= 0, finding, f"{missing} more to be closed in {best.study}." if missing > 0 else ""
    )


def solved_or_decided(_facts: VersionFacts, people: HumanEvidence) -> Verdict:
    """Met when somebody independent solved it, or a curator decided with a reason that it is solvable."""
    if people.independent:
        return Verdict(
            True,
            f"solved independently {people.independent} times"
            if people.independent > 1
            else "solved independently once",
        )
    if people.found_solvable and people.decision_reason:
        return Verdict(True, f"decided: {people.decision_reason}")
    return Verdict(
        False, "Nobody independent has solved it, and nobody has decided.", "Adjudicate it, or raise k."
    )


def nothing_in_dispute(_facts: VersionFacts, people: HumanEvidence) -> Verdict:
    """Met when no complaint is open and the last decision, if any, lets the version stand."""
    if people.decision and not people.found_solvable:
        return Verdict(
            False, f"Decided: {people.decision}.", "Leave it out, or release its repaired version."
        )
    if people.disputes:
        more = f" and {len(people.disputes) - 1} more" if len(people.disputes) > 1 else ""
        return Verdict(False, f"{people.disputes[0]}{more}", "Adjudicate it.")
    return Verdict(True, "no open complaint")


def alternatives_pass(facts: VersionFacts, _people: HumanEvidence) -> Verdict:
    """Met when every accepted alternative was executed against the version and passed; also where there is none."""
    known = facts.alternatives
    if not known:
        return Verdict(True, "no accepted alternative")
    rejected = [each for each in known if each.outcome and not each.passed]
    if rejected:
        first = rejected[0]
        finding = f"Rejects {len(rejected)} of {len(known)} accepted alternatives: {first.sha256[:8]} came to"
        return Verdict(
            False,
            f"{finding} {first.outcome} in execution {first.execution}.",
            "Try a fix of the tests, or withdraw the alternative with a reason.",
        )
    missing = len(known) - sum(each.passed for each in known)
    if missing:
        return Verdict(
            False, f"{missing} of {len(known)} accepted alternatives have no outcome yet.", "Check it again."
        )
    return Verdict(True, f"lets all {len(known)} pass")


def in_use(facts: VersionFacts, _people: HumanEvidence) -> Verdict:
    """Met when the example is not retired."""
    if facts.retired:
        return Verdict(False, f"Retired: {facts.retired}", "Leave it out.")
    return Verdict(True, "not retired")


CONDITIONS: tuple[Condition, ...] = (
    Condition("reference", "Reference passes 5 of 5", reference_passes),
    Condition(
        "empty_body", "Empty body fails", check_passed("empty_body", "Add a test that an empty body fails.")
    ),
    Condition(
        "tests_ran", "At least one test ran", check_passed("tests_ran", "Add a test as a new version.")
    ),
    Condition("stable", "No flake", check_passed("stable", "Make the tests deterministic as a new version.")),
    Condition(
        "network",
        "Network not needed",
        check_passed("network", "Replace the network in the tests, or leave it out."),
    ),
    Condition("environment", "Image known by digest", environment_pinned),
    Condition("licence", "Licence known", licence_known),
    Condition("solvers", "k attempts closed", solvers_reached),
    Condition("solved", "Solved independently, or decided", solved_or_decided),
    Condition("dispute", "Nothing in dispute", nothing_in_dispute),
    Condition("alternatives", "Accepted alternatives pass", alternatives_pass),
    Condition("in_use", "Example in use", in_use),
)


@dataclass(frozen=True, slots=True)
class Blocked:
    """A version that a condition blocks."""

    version_id: int
    example_id: int
    label: str
    finding: str
    way_out: str


@dataclass(frozen=True, slots=True)
class ConditionLine:
    """A condition over all versions of a release."""

    condition: Condition
    met: int
    blocked: tuple[Blocked, ...]


@dataclass(frozen=True, slots=True)
class GateReport:
    """The gate of a release: `total` versions under every condition."""

    total: int
    lines: tuple[ConditionLine, ...]

    @property
    def blocked_ids(self) -> frozenset[int]:
        """The versions that at least one condition blocks."""
        return frozenset(each.version_id for line in self.lines for each in line.blocked)

    @property
    def closed(self) -> tuple[ConditionLine, ...]:
        """The conditions that block."""
        return tuple(line for line in self.lines if line.blocked)

    @property
    def is_open(self) -> bool:
        """Whether everything may be published: there is something, and nothing is blocked."""
        return self.total > 0 and not self.closed


def judge_all(versions: Iterable[VersionFacts], people: Mapping[int, HumanEvidence]) -> GateReport:
    """Return the gate over all versions."""
    met = dict.fromkeys((condition.slug for condition in CONDITIONS), 0)
    blocked: dict[str, list[Blocked]] = {condition.slug: [] for condition in CONDITIONS}
    total = 0
    for facts in versions:
        total += 1
        for condition in CONDITIONS:
            verdict = condition.judge(facts, people.get(facts.version_id, NOBODY))
            if verdict.met:
                met[condition.slug] += 1
            else:
                blocked[condition.slug].append(
                    Blocked(facts.version_id, facts.example_id, facts.label, verdict.finding, verdict.way_out)
                )
    return GateReport(
        total,
        tuple(ConditionLine(each, met[each.slug], tuple(blocked[each.slug])) for each in CONDITIONS),
    )
