"""REPLAY: the lines of the closing form: what was answered and changed, the verdict, and what came after it."""

from __future__ import annotations

from collections.abc import Iterator

from annotation.models import Attempt, SecondJudgement, Verdict, VerdictStep
from annotation.replay.lines import Line

SHORT = 60
WORDS = {
    "outcome": "outcome",
    "difficulty": "difficulty",
    "instruction_quality": "instruction",
    "test_quality": "tests",
    "confidence": "confidence",
    "aids": "aids",
    "aids_text": "aids, in words",
    "prior_exposure": "seen before",
    "instruction_note": "note on the instruction",
    "test_note": "note on the tests",
    "text": "note",
    "evidence": "evidence",
    "evidence_test": "evidence, test",
    "evidence_input": "evidence, input",
    "evidence_expected": "evidence, expected",
    "evidence_got": "evidence, got",
}


def closing_lines(attempt: Attempt) -> Iterator[Line]:
    """Yield a line for each step of the closing form, for the reveal and the second judgement, in one query."""
    said: dict[str, str] = {}
    for step in attempt.verdict_steps.select_related("by").order_by("number"):
        if step.kind == VerdictStep.Kind.REOPENED:
            yield Line(step.at, "warn", "left", f"Given back by {step.by.pseudonym}", step.reason)
            continue
        changes = [
            _change(name, said.get(name, ""), value)
            for name, value in step.changed.items()
            if said.get(name, "") != value
        ]
        said.update(step.changed)
        if step.kind == VerdictStep.Kind.CLOSED:
            outcome = dict(Verdict.Outcome.choices).get(said.get("outcome", ""), "")
            yield Line(step.at, "act", "lock", f"Closed: {outcome}", _grades(said))
        elif changes:
            yield Line(step.at, "none", "dot", "Closing form", "; ".join(changes))
    if not said and (verdict := getattr(attempt, "verdict", None)):  # from before steps were kept
        yield Line(verdict.created_at, "act", "lock", f"Closed: {verdict}", _grades_of(verdict))
    yield from _after(attempt)


def _after(attempt: Attempt) -> Iterator[Line]:
    if not (shown := getattr(attempt, "reveal", None)):
        return
    yield Line(
        shown.at, "flag", "info", "Reference and hidden tests shown", "to their annotator, from here on"
    )
    second: SecondJudgement | None = getattr(shown, "judgement", None)
    if second:
        told = f"reference: {second.get_reference_display()}; tests: {second.get_tests_display()}"
        yield Line(second.created_at, "act", "lock", "Second judgement", told)


def _change(name: str, before: str, after: str) -> str:
    """Return a changed answer in words: "tests: 1 → 2"; of a long text only how long it is."""
    if len(before) > SHORT or len(after) > SHORT:
        return f"{WORDS.get(name, name)}: {len(after):,} characters"
    arrow = f"{before} → {after or 'nothing'}" if before else after
    return f"{WORDS.get(name, name)}: {arrow}"


def _grades(said: dict[str, str]) -> str:
    told = [
        f"{WORDS[name]} {said[name]}" for name in ("instruction_quality", "test_quality") if said.get(name)
    ]
    return "; ".join([*([said["difficulty"]] if said.get("difficulty") else []), *told])


def _grades_of(verdict: Verdict) -> str:
    return f"{verdict.difficulty}; instruction {verdict.instruction_quality}; tests {verdict.test_quality}"
