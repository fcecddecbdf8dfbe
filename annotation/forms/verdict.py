"""ATTEMPT: what an annotator says when giving up, when closing, and after the reveal; what a curator says to give it back."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django import forms

from annotation.answers import ANSWERS
from annotation.closing import LONGEST
from annotation.models import Arm, Protocol, SecondJudgement, Verdict

CHOOSE = {"required": "Choose one."}
Outcome = Verdict.Outcome
HIDDEN, NO_TEST = "hidden", "none"
# What each outcome that blames the example has to show, so that a curator can decide.
EVIDENCE = {
    Outcome.TESTS_WRONG: {
        "evidence_test": "Say which test it is.",
        "evidence_input": "Name an input on which it is wrong.",
        "evidence_expected": "Say what a right answer gives for that input.",
        "evidence_got": "Say what the test demands instead.",
        "evidence": "Say why your answer is right.",
    },
    Outcome.UNDERSPECIFIED: {
        "evidence_input": "Name an input on which two readings differ.",
        "evidence_expected": "Say what one reading gives for it.",
        "evidence_got": "Say what the other gives.",
        "evidence": "Quote the sentence that is missing or double.",
    },
    Outcome.ENVIRONMENT_BROKEN: {
        "evidence_got": "Say what happened: the error's own words are best.",
        "evidence": "Say what is missing: a package, a file, a network.",
    },
}
AIDS = {
    Arm.NONE: "nothing beside this page",
    Arm.SEARCH: "documentation, a search engine or a forum",
    Arm.ASSISTANT: "a code assistant or a chat model, whatever else",
}


def _radios(label: str, choices: Any = (), *, required: bool = True, **more: Any) -> forms.ChoiceField:
    return forms.ChoiceField(
        choices=choices,
        widget=forms.RadioSelect,
        label=label,
        required=required,
        error_messages=CHOOSE,
        **more,
    )


def _grade(label: str) -> forms.TypedChoiceField:
    return forms.TypedChoiceField(coerce=int, widget=forms.RadioSelect, label=label, error_messages=CHOOSE)


def _words(label: str, help_text: str = "", *, rows: int = 2) -> forms.CharField:
    return forms.CharField(
        required=False,
        max_length=LONGEST,
        widget=forms.Textarea(attrs={"rows": rows}),
        label=label,
        help_text=help_text,
    )


class Graded(forms.Form):
    """Instruction and tests graded 0 to 3 in the words of a protocol, from a grade of which on a note is needed."""

    instruction_quality = _grade("Is the instruction clear enough?")
    test_quality = _grade("Could the tests reject correct work?")

    def __init__(self, *args: Any, protocol: Protocol, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.protocol = protocol
        _offer(self, "instruction_quality", list(enumerate(protocol.instruction_anchors)))
        _offer(self, "test_quality", list(enumerate(protocol.test_anchors)))


class VerdictForm(Graded):
    """What an annotator says when closing an attempt; what the protocol does not ask is not there."""

    field_order = ANSWERS

    outcome = _radios("Outcome of the attempt", Outcome.choices)
    evidence_test = forms.ChoiceField(required=False, label="Which test")
    evidence_input = _words("Input", "A call, such as f([1, 2]), or what the code was given.")
    evidence_expected = _words(
        "Expected", "What a right answer gives; of a doubtful instruction, what one reading gives."
    )
    evidence_got = _words(
        "Got", "What the test demands or what came instead; of a hidden test, what you believe it demands."
    )
    evidence = _words("Why", "The sentence that is missing or double, or why yours is right.", rows=3)
    difficulty = _radios("")
    instruction_note = _words("Note on the instruction")
    test_note = _words("Note on the tests")
    confidence = forms.TypedChoiceField(
        choices=Verdict.Confidence.choices,
        coerce=int,
        widget=forms.RadioSelect,
        label="How sure are you of these answers?",
        error_messages=CHOOSE,
    )
    aids = _radios("What did you use?", AIDS.items())
    aids_text = _words("Which one, and for what")
    prior_exposure = _radios("Had you seen it before?", Verdict.Exposure.choices)
    text = _words("Anything else", rows=3)

    def __init__(
        self,
        *args: Any,
        protocol: Protocol,
        solved: bool,
        tests: Sequence[tuple[str, str]] = (),
        **kwargs: Any,
    ) -> None:
        """Offer what the protocol asks; `tests` are the visible assertions, as value and words."""
        super().__init__(*args, protocol=protocol, **kwargs)
        self.solved = solved
        self.fields["difficulty"].label = protocol.difficulty_question
        _offer(self, "difficulty", [(level, level) for level in protocol.difficulty_levels])
        _offer(self, "evidence_test", choices_of_tests(tests))
        for name in ("instruction_note", "test_note"):
            self.fields[name].help_text = f"Needed for a grade of {_from(protocol.note_from)}."
        self.fields["aids"].required = bool(set(protocol.arms) - {Arm.NONE})
        if not protocol.asks_confidence:
            del self.fields["confidence"]
        if not protocol.asks_prior_exposure:
            del self.fields["prior_exposure"]

    def clean_outcome(self) -> str:
        """Refuse "solved" where no submission passed: who holds that it is right disputes the tests."""
        outcome = str(self.cleaned_data["outcome"])
        if outcome == Outcome.SOLVED and not self.solved:
            raise forms.ValidationError(
                "No submission passed. If you hold that yours is right, choose “tests wrong” and say why."
            )
        return outcome

    def clean(self) -> dict[str, Any]:
        """Ask for the evidence of an outcome that blames the example, for the notes of severe grades, for the aid's name."""
        said = super().clean() or {}
        for name, words in EVIDENCE.get(said.get("outcome", ""), {}).items():
            self._need(said, name, words)
        for grade, note, words in (
            ("instruction_quality", "instruction_note", "Say what is unclear."),
            ("test_quality", "test_note", "Say what the tests are too strict about, or look for instead."),
        ):
            if grade in said and said[grade] >= self.protocol.note_from:
                self._need(said, note, words)
        if said.get("aids") in (Arm.SEARCH, Arm.ASSISTANT):
            self._need(said, "aids_text", "Name it, and say for what.")
        return said

    def _need(self, said: dict[str, Any], name: str, words: str) -> None:
        if not str(said.get(name) or "").strip():
            self.add_error(name, words)


def _from(grade: int) -> str:
    return " or ".join(str(each) for each in range(grade, 4))


def choices_of_tests(tests: Sequence[tuple[str, str]]) -> list[tuple[str, str]]:
    """Return the tests that evidence can name: the visible assertions, a hidden one, none."""
    return [("", "choose"), *tests, (HIDDEN, "a hidden one"), (NO_TEST, "no single one")]


def _offer(form: forms.Form, name: str, choices: list[tuple[Any, str]]) -> None:
    field = form.fields[name]
    assert isinstance(field, forms.ChoiceField)
    field.choices = choices


class SecondJudgementForm(Graded):
    """What an annotator says of reference and tests once both are shown."""

    field_order = ("reference", "tests")

    reference = _radios("Is the reference right?", SecondJudgement.Reference.choices)
    tests = _radios("Are the tests fair?", SecondJudgement.Tests.choices)
    text = _words("What makes you say so", rows=4)

    def clean(self) -> dict[str, Any]:
        """Ask for words where something is called wrong, or graded so that the protocol wants a note."""
        said = super().clean() or {}
        severe = (
            max(said.get("instruction_quality", -1), said.get("test_quality", -1)) >= self.protocol.note_from
        )
        blames = said.get("reference") == "wrong" or said.get("tests") in ("unfair", "weak")
        if (blames or severe) and not said.get("text", "").strip():
            self.add_error("text", "Say which line or which test, and why.")
        return said


class GiveUpForm(forms.Form):
    """Why somebody gives up."""

    reason = forms.CharField(
        max_length=2000,
        label="What stopped you?",
        widget=forms.Textarea(attrs={"rows": 3}),
        error_messages={"required": "Say in a few words what stopped you."},
    )


class ReopenForm(forms.Form):
    """Why a closed verdict is given back to its annotator."""

    reason = forms.CharField(
        max_length=2000,
        label="Why it is given back",
        help_text="Its annotator reads this. The verdict that was given stays on record.",
        widget=forms.Textarea(attrs={"rows": 3}),
        error_messages={"required": "Say why; the annotator reads it."},
    )
