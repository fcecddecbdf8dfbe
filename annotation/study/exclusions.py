"""STUDY: the rules by which a protocol leaves attempts out of its figures, declared before anybody looks; pure.

A declared rule is a mapping such as ``{"rule": "counted_below", "seconds": 30}``: its name in ``CATALOGUE`` and its
parameter, where it has one. Rules are tried in the order of the catalogue, and the first that holds names the reason.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

AIDS = ("none", "search", "assistant")


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """What rules may look at. None is unknown, and an unknown fact leaves nothing out.

    ``aids`` is what the annotator says was used, ``arm`` what was allowed. ``counted_seconds`` is active plus reading.
    ``gold_share`` is the share of the gold examples, mixed into the work, that the annotator solved by execution.
    ``qualified`` is whether the annotator passed the qualification of the protocol, or was admitted by a curator.
    """

    outcome: str | None = None
    prior_exposure: str = ""
    arm: str = "none"
    aids: str = ""
    counted_seconds: float | None = None
    gold_share: float | None = None
    qualified: bool | None = None


@dataclass(frozen=True, slots=True)
class Rule:
    """A kind of rule: its words on the form, what holds for an attempt that it leaves out, and the reason given.

    ``parameter`` is the name of its parameter, "" where it has none; ``low`` to ``high`` bound it. ``reason`` and
    ``sentence`` may name it as ``{value}``; a share is written as a percentage.
    """

    name: str
    label: str
    holds: Callable[[Facts, float], bool]
    reason: str
    sentence: str
    parameter: str = ""
    default: float = 0
    low: float = 0
    high: float = 0

    def in_words(self, template: str, value: float) -> str:
        """Return the template with the value in it."""
        return template.format(value=f"{100 * value:.0f} %" if self.parameter == "share" else f"{value:g}")


CATALOGUE: dict[str, Rule] = {
    rule.name: rule
    for rule in (
        Rule(
            "knew_it",
            "the annotator knew the example already",
            lambda facts, _: facts.outcome == "knew_it",
            "knew it already",
            "You say when closing that you knew it already.",
        ),
        Rule(
            "seen_before",
            "the annotator had seen this code or its solution",
            lambda facts, _: facts.prior_exposure == "seen",
            "had seen this code or its solution",
            "You say that you had seen this code or its solution before.",
        ),
        Rule(
            "not_qualified",
            "the annotator did not pass the qualification",
            lambda facts, _: facts.qualified is False,
            "by somebody who did not qualify",
            "You did not pass the qualification.",
        ),
        Rule(
            "gold_below",
            "the annotator solves too few of the gold examples",
            lambda facts, share: facts.gold_share is not None and facts.gold_share < share,
            "by somebody who solved under {value} of the gold examples",
            "You solve fewer than {value} of the check examples that are mixed into the work.",
            parameter="share",
            default=0.5,
            low=0.01,
            high=1,
        ),
        Rule(
            "counted_below",
            "the counted time is too short to have read the example",
            lambda facts, seconds: facts.counted_seconds is not None and facts.counted_seconds < seconds,
            "under {value} s of counted time",
            "The counted time of an attempt is under {value} seconds.",
            parameter="seconds",
            default=20,
            low=1,
            high=3600,
        ),
        Rule(
            "aid_outside_arm",
            "more help was used than the arm allows",
            lambda facts, _: facts.aids in AIDS and AIDS.index(facts.aids) > AIDS.index(facts.arm),
            "used help outside the arm",
            "You say that you used more help than was allowed for that example.",
        ),
    )
}


def value_of(declared: Mapping[str, Any]) -> float:
    """Return the parameter of a declared rule, 0.0 where its kind has none. Raises ValueError for what is no rule."""
    rule = CATALOGUE.get(str(declared.get("rule")))
    if rule is None:
        raise ValueError(f"{declared.get('rule')!r} is no exclusion rule; there are {', '.join(CATALOGUE)}.")
    if not rule.parameter:
        return 0.0
    value = declared.get(rule.parameter)
    if isinstance(value, bool) or not isinstance(value, int | float) or not rule.low <= value <= rule.high:
        raise ValueError(
            f"The rule {rule.name} needs its {rule.parameter}, from {rule.low:g} to {rule.high:g}; here it is {value!r}."
        )
    return float(value)


def why_left_out(facts: Facts, rules: Iterable[Mapping[str, Any]]) -> str:
    """Return the reason of the first declared rule that holds, in the order of the catalogue; "" where none does."""
    declared = {str(each.get("rule")): value_of(each) for each in rules}
    for name, rule in CATALOGUE.items():
        if name in declared and rule.holds(facts, declared[name]):
            return rule.in_words(rule.reason, declared[name])
    return ""


def in_sentences(rules: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return what each declared rule says to annotators, in the order of the catalogue."""
    declared = {str(each.get("rule")): value_of(each) for each in rules}
    return [
        rule.in_words(rule.sentence, declared[name]) for name, rule in CATALOGUE.items() if name in declared
    ]
