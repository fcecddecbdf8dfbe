"""What the pages show of runs and fragments: rounds with what each changed, steps, and how far a run is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from django.db.models import Count, Q, QuerySet

from examples.generation.failing import failures
from examples.models import Fragment, GenerationRun, Round, Step
from runner.models import TestRow

STEPS = (
    (Step.STANDALONE, "Standalone"),
    (Step.WRITE_TESTS, "Tests"),
    (Step.REPAIR, "Repair"),
    (Step.AUGMENTATION, "More tests"),
    (Step.ACCEPTANCE, "Acceptance"),
)
TITLES = dict(STEPS)
State = Fragment.State


@dataclass(frozen=True)
class Shown:
    """A round, the text before it that it changes, and what failed in its execution; `first` has no text before it."""

    round: Round
    title: str
    before: str
    first: bool
    failed: Sequence[TestRow]

    @property
    def adapted(self) -> list[str]:
        """The kinds of change that the paper tells apart, each once; what is cut away by rule adapts nothing."""
        if self.round.call is None:
            return []
        kinds = dict.fromkeys(each["kind"] for each in self.round.adaptations)
        return [kind for kind in kinds if kind != "other"]


@dataclass
class Stretch:
    """One step of a fragment's path: how it stands, in a class of site.css, a glyph and words."""

    title: str
    kind: str = "none"
    glyph: str = "ring"
    words: list[str] = field(default_factory=list)
    current: bool = False


def with_counts(runs: QuerySet[GenerationRun]) -> QuerySet[GenerationRun]:
    """Return runs with how many fragments each has, how many are open, accepted and await a curator."""
    states = {
        "open_count": [State.WAITING, State.WORKING],
        "accepted_count": [State.ACCEPTED],
        "ready_count": [State.READY],
        "left_out_count": [State.LEFT_OUT],
    }
    counts = {
        name: Count("fragments", filter=Q(fragments__state__in=wanted)) for name, wanted in states.items()
    }
    return runs.select_related("dataset", "environment", "created_by").annotate(
        fragment_count=Count("fragments"), **counts
    )


def shown_rounds(fragment: Fragment) -> list[Shown]:
    """Return the fragment's rounds in order; what a round changes is the last text of its subject that broke no rule."""
    rounds = fragment.rounds.select_related("call", "execution", "edited_by").order_by("number")
    latest: dict[str, str] = {Round.Subject.PROGRAM: fragment.source}
    counts: dict[str, int] = {}
    shown = []
    for each in rounds:
        counts[each.step] = counts.get(each.step, 0) + 1
        title = TITLES[Step(each.step)]
        if counts[each.step] > 1 or each.step == Step.REPAIR:
            title = f"{title}, round {counts[each.step]}"
        failed = failures(each.execution) if each.execution and not each.execution.passed else []
        shown.append(Shown(each, title, latest.get(each.subject, ""), each.subject not in latest, failed))
        if not each.rule:
            latest[each.subject] = each.text
    return shown


def stretches(fragment: Fragment, shown: Sequence[Shown]) -> list[Stretch]:
    """Return the steps that the fragment took or has to take, for the row above its rounds."""
    path = []
    for step, title in STEPS:
        own = [each.round for each in shown if each.round.step == step]
        optional = step in (Step.REPAIR, Step.AUGMENTATION)
        if not own and (optional or (step == Step.ACCEPTANCE and fragment.state == State.LEFT_OUT)):
            continue
        path.append(_stretch(title, own))
    _mark_end(fragment, path)
    return path


def _stretch(title: str, own: Sequence[Round]) -> Stretch:
    if not own:
        return Stretch(title, words=["not begun"])
    last = own[-1]
    executed = last.execution
    bad = bool(last.rule) or (executed is not None and not executed.passed)
    made = Stretch(title, "bad" if bad else "ok", "fail" if bad else "pass")
    made.words.append(f"{len(own)} round{'' if len(own) == 1 else 's'}")
    made.words.append(last.rule.replace("_", " ") if last.rule else last.note)
    tokens = sum(_tokens(each) for each in own)
    if tokens:
        made.words.append(f"{tokens:,} tokens")
    return made


def _tokens(each: Round) -> int:
    call = each.call
    return (call.prompt_tokens or 0) + (call.completion_tokens or 0) if call else 0


def _mark_end(fragment: Fragment, path: list[Stretch]) -> None:
    """Mark where the fragment stands, and how its last step ended."""
    if not path:
        return
    begun = [each for each in path if each.kind != "none"]
    at = begun[-1] if begun else path[0]
    at.current = True
    if fragment.state in (State.REJECTED, State.STOPPED):
        at.kind, at.glyph = ("bad", "fail") if fragment.state == State.REJECTED else ("warn", "warn")
    elif fragment.is_open:
        at = next((each for each in path if each.kind == "none"), at)
        at.kind, at.glyph = "act", "run" if fragment.state == State.WORKING else "ring"


def spent(shown: Sequence[Shown]) -> dict[str, Any]:
    """Return tokens, money in millionths and seconds of a fragment's rounds."""
    calls = [each.round.call for each in shown if each.round.call]
    return {
        "tokens": sum(_tokens(each.round) for each in shown),
        "micros": sum(call.charged_micros for call in calls),
        "seconds": sum(_seconds(each.round) for each in shown) or None,
    }


def _seconds(each: Round) -> float:
    """Return a round's own time, of one made by rule that of its execution."""
    if each.seconds is not None:
        return each.seconds
    return each.execution.wall_seconds or 0.0 if each.execution else 0.0
