"""PROTOCOL: the form of a study's rules, in groups; what it refuses names the field and what would mend it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from django import forms

from annotation.models import Arm, Protocol
from annotation.protocols import FIXED, LABELS
from annotation.study.exclusions import CATALOGUE, Rule, value_of

if TYPE_CHECKING:  # generic for the type checker only
    ProtocolModelForm = forms.ModelForm[Protocol]
else:
    ProtocolModelForm = forms.ModelForm

LEVELS, GRADES = (2, 7), 4
LONGEST_LEVEL, LONGEST_ANCHOR = 60, 200
# A rule of the catalogue, and the field of the form that gives it something to look at.
RULE_NEEDS = {
    "seen_before": (
        "asks_prior_exposure",
        "This looks at a question that is not asked: tick “Asks whether they had seen the example before”.",
    ),
    "not_qualified": (
        "pass_percent",
        "There is no qualification to fail: give a pass mark, or leave the rule out.",
    ),
    "gold_below": (
        "gold_every",
        "No gold examples are mixed in: say after how many others one comes, or leave the rule out.",
    ),
}


class Group(NamedTuple):
    """Fields that stand together under a heading, with a sentence on what they decide."""

    title: str
    names: tuple[str, ...]
    hint: str = ""
    left: bool = False


GROUPS = (
    Group(
        "Who solves what",
        ("solvers", "seed"),
        "Which versions: chosen by hand or drawn, on the study's page. Everybody gets them in an order of their own, balanced "
        "over people.",
    ),
    Group("What they see and may use", ("shows_visible_tests", "arms", "records_pastes"), left=True),
    Group("Limits", ("active_minutes", "idle_limit_seconds", "give_up_minutes", "submissions")),
    Group("Difficulty", ("difficulty_question", "levels"), left=True),
    Group(
        "Grades of instruction and tests",
        ("instruction_lines", "test_lines", "note_from"),
        "What 0, 1, 2 and 3 mean, in words that two people read alike.",
    ),
    Group("Also asked", ("asks_confidence", "asks_prior_exposure", "reveals_after_closing"), left=True),
    Group("Before and between", ("warm_up", "pass_percent", "gold_every")),
)


def rule_field(rule: Rule) -> str:
    """Return the name of the field that declares a rule."""
    return f"rule_{rule.name}"


class ProtocolForm(ProtocolModelForm):
    """The rules of a study, while they are not in force; `running` leaves out what an open study cannot change."""

    arms = forms.MultipleChoiceField(
        label=LABELS["arms"],
        choices=Arm.choices,
        widget=forms.CheckboxSelectMultiple,
        help_text="More than one makes arms: which of them holds is drawn for each attempt, balanced over every version.",
        error_messages={"required": "Tick at least one; “no help” where nothing is allowed."},
    )
    active_minutes = forms.IntegerField(
        label="Limit on active time, in minutes",
        min_value=1,
        max_value=600,
        help_text="Pauses, outages and waiting for the runner do not count.",
    )
    idle_limit_seconds = forms.IntegerField(
        label="Idle limit, in seconds",
        min_value=15,
        max_value=3600,
        help_text="So long after the last input the clock stands still. Results show 60, 120 and 300 beside it.",
    )
    give_up_minutes = forms.IntegerField(
        label="Giving up is possible after, in active minutes",
        min_value=0,
        max_value=600,
        help_text="0: at once.",
    )
    levels = forms.CharField(
        label=LABELS["difficulty_levels"],
        widget=forms.Textarea(attrs={"rows": 4}),
        help_text="One level a line, easiest first; two to seven.",
    )
    instruction_lines = forms.CharField(
        label="Instruction, grades 0 to 3",
        widget=forms.Textarea(attrs={"rows": 5}),
        help_text="Four lines, for 0 (good) to 3 (severe).",
    )
    test_lines = forms.CharField(
        label="Tests, grades 0 to 3",
        widget=forms.Textarea(attrs={"rows": 5}),
        help_text="Four lines, for 0 (good) to 3 (severe).",
    )
    note_from = forms.TypedChoiceField(
        label=LABELS["note_from"], coerce=int, choices=[(grade, f"{grade}") for grade in range(GRADES)]
    )
    pass_percent = forms.FloatField(
        label="Pass mark of the qualification, in per cent",
        required=False,
        min_value=0,
        max_value=100,
        help_text="Share of the gold examples to solve before taking part. Empty: no qualification.",
    )
    reason = forms.CharField(
        label="Why it changes",
        widget=forms.Textarea(attrs={"rows": 2}),
        max_length=2000,
        help_text="Published with the figures.",
        error_messages={
            "required": "Say why the protocol changes; the reason is published with the figures."
        },
    )

    class Meta:
        model = Protocol
        fields = [
            "solvers",
            "seed",
            "shows_visible_tests",
            "records_pastes",
            "idle_limit_seconds",
            "submissions",
            "difficulty_question",
            "note_from",
            "asks_confidence",
            "asks_prior_exposure",
            "reveals_after_closing",
            "guidelines",
            "consent_text",
            "warm_up",
            "gold_every",
        ]
        labels = LABELS
        help_texts = {
            "solvers": "Can be raised later, never lowered. The calculator says how many are needed.",
            "seed": "The same seed draws the same versions, orders and arms. Fixed when the study opens.",
            "shows_visible_tests": "",
            "records_pastes": "Never the clipboard itself. Needs a consent text.",
            "submissions": "In an attempt; one that we could not judge does not count.",
            "guidelines": "Markdown, shown to annotators.",
            "consent_text": "Markdown, asked before anything else. Empty: no consent is asked.",
            "reveals_after_closing": "It does not touch the first answers.",
            "warm_up": "Counts for nothing.",
            "gold_every": "0: never.",
            "asks_confidence": "",
            "asks_prior_exposure": "",
            "difficulty_question": "",
        }
        widgets = {
            "guidelines": forms.Textarea(attrs={"rows": 10}),
            "consent_text": forms.Textarea(attrs={"rows": 6}),
        }

    def __init__(self, data: Any = None, *, running: bool = False, instance: Protocol | None = None) -> None:
        super().__init__(data, instance=instance or Protocol())
        self.running, is_ = running, self.instance
        initial = {
            "arms": is_.arms,
            "active_minutes": is_.active_limit_seconds // 60,
            "give_up_minutes": is_.give_up_after_seconds // 60,
            "levels": "\n".join(is_.difficulty_levels),
            "instruction_lines": "\n".join(is_.instruction_anchors),
            "test_lines": "\n".join(is_.test_anchors),
            "pass_percent": None if is_.pass_mark is None else _plain(100 * is_.pass_mark),
            "reason": is_.reason,
        }
        for name, value in initial.items():
            self.fields[name].initial = value
        self._add_rules({each["rule"]: value_of(each) for each in is_.exclusion_rules})
        for name in FIXED if running else ("reason",):
            self.fields.pop(name, None)

    def _add_rules(self, declared: dict[str, float]) -> None:
        """Add a tick for each rule of the catalogue, and a number for its parameter."""
        for rule in CATALOGUE.values():
            name, value = rule_field(rule), declared.get(rule.name)
            self.fields[name] = forms.BooleanField(
                label=rule.label.capitalize(), required=False, initial=value is not None
            )
            if rule.parameter:
                scale = 100 if rule.parameter == "share" else 1
                self.fields[f"{name}_value"] = forms.FloatField(
                    label="Below, in per cent"
                    if rule.parameter == "share"
                    else f"Below, in {rule.parameter}",
                    required=False,
                    min_value=rule.low * scale,
                    max_value=rule.high * scale,
                    initial=_plain(scale * (rule.default if value is None else value)),
                )

    def groups(self) -> list[tuple[Group, list[forms.BoundField]]]:
        """Return the groups with the fields that this form has of them."""
        return [(group, [self[name] for name in group.names if name in self.fields]) for group in GROUPS]

    def rule_fields(self) -> list[forms.BoundField]:
        """Return the fields of the exclusion rules, each tick before its number."""
        return [self[name] for name in self.fields if name.startswith("rule_")]

    def clean_levels(self) -> list[str]:
        """Return the levels, each once."""
        levels, (fewest, most) = _lines(self.cleaned_data["levels"]), LEVELS
        if not fewest <= len(set(levels)) == len(levels) <= most:
            raise forms.ValidationError("Give two to seven different levels, one a line.")
        if any(len(level) > LONGEST_LEVEL for level in levels):
            raise forms.ValidationError(f"Keep a level under {LONGEST_LEVEL} characters.")
        return levels

    def clean_instruction_lines(self) -> list[str]:
        """Return the four wordings."""
        return _anchors(self.cleaned_data["instruction_lines"])

    def clean_test_lines(self) -> list[str]:
        """Return the four wordings."""
        return _anchors(self.cleaned_data["test_lines"])

    def clean_solvers(self) -> int:
        """Refuse fewer solvers than an open study has."""
        solvers = int(self.cleaned_data["solvers"])
        if solvers < 1:
            raise forms.ValidationError("At least one person solves each version.")
        if self.running and solvers < self.instance.study.protocol.solvers:
            raise forms.ValidationError(
                f"k is {self.instance.study.protocol.solvers} and can only be raised, since places may be taken."
            )
        return solvers

    def clean_submissions(self) -> int:
        """Refuse none."""
        submissions = int(self.cleaned_data["submissions"])
        if submissions < 1:
            raise forms.ValidationError("Allow at least one submission, or nothing can be solved.")
        return submissions

    def clean(self) -> dict[str, Any]:
        """Hold the fields against one another."""
        said = super().clean() or {}
        limit = (said.get("active_minutes") or 0) * 60
        if limit and (said.get("give_up_minutes") or 0) * 60 >= limit:
            self.add_error(
                "give_up_minutes",
                f"Giving up must be possible before the limit of {limit // 60} minutes; or 0.",
            )
        if limit and (said.get("idle_limit_seconds") or 0) > limit:
            self.add_error("idle_limit_seconds", f"Choose at most the limit on active time, {limit} s.")
        if said.get("records_pastes") and not (said.get("consent_text") or "").strip():
            self.add_error(
                "consent_text",
                "Pastes are recorded only with consent: write what you ask for, or leave pastes out.",
            )
        for rule in CATALOGUE.values():
            self._check_rule(rule, said)
        return said

    def _check_rule(self, rule: Rule, said: dict[str, Any]) -> None:
        name = rule_field(rule)
        if not said.get(name):
            return
        if rule.parameter and said.get(f"{name}_value") is None and f"{name}_value" not in self.errors:
            self.add_error(f"{name}_value", "Give the number that the rule needs, or leave the rule out.")
        if rule.name in RULE_NEEDS and not said.get(RULE_NEEDS[rule.name][0]):
            self.add_error(name, RULE_NEEDS[rule.name][1])

    def rules(self) -> dict[str, Any]:
        """Return what the form says, as fields of Protocol."""
        said = self.cleaned_data
        rules = {name: said[name] for name in self.Meta.fields if name in self.fields}
        percent = said["pass_percent"]
        return rules | {
            "arms": [arm for arm in Arm.values if arm in said["arms"]],
            "active_limit_seconds": said["active_minutes"] * 60,
            "give_up_after_seconds": said["give_up_minutes"] * 60,
            "difficulty_levels": said["levels"],
            "instruction_anchors": said["instruction_lines"],
            "test_anchors": said["test_lines"],
            "pass_mark": None if percent is None else percent / 100,
            "exclusion_rules": [
                self._declared(rule) for rule in CATALOGUE.values() if said[rule_field(rule)]
            ],
        }

    def _declared(self, rule: Rule) -> dict[str, Any]:
        if not rule.parameter:
            return {"rule": rule.name}
        value = self.cleaned_data[f"{rule_field(rule)}_value"]
        return {"rule": rule.name, rule.parameter: value / 100 if rule.parameter == "share" else value}


def _plain(number: float) -> float | int:
    """Return the number as people write it: 50, 12.5."""
    return int(number) if number == int(number) else round(number, 4)


def _lines(text: str) -> list[str]:
    return [line.strip() for line in text.splitlines() if line.strip()]


def _anchors(text: str) -> list[str]:
    lines = _lines(text)
    if len(lines) != GRADES:
        raise forms.ValidationError(
            f"Give four lines, one for each of the grades 0 to 3; here are {len(lines)}."
        )
    if any(len(line) > LONGEST_ANCHOR for line in lines):
        raise forms.ValidationError(f"Keep a line under {LONGEST_ANCHOR} characters.")
    return lines
