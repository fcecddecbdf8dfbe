"""ATTEMPT: what an annotator says when giving up and when closing."""

from __future__ import annotations

from typing import Any

from django import forms

from annotation.models import Protocol, Verdict

INSTRUCTION_SCALE = [
    (0, "It is clear what is asked."),
    (1, "Some blanks, but one sensible reading fills them."),
    (2, "Vague: two competent readers would build different things."),
    (3, "Cannot be understood without more information."),
]
TEST_SCALE = [
    (0, "Every correct solution would pass."),
    (1, "Most would; an unusual correct one may be rejected."),
    (2, "Reasonable correct solutions are rejected."),
    (3, "The tests look for something other than the instruction."),
]
CHOOSE = {"required": "Choose one."}
NEEDS_EVIDENCE = (Verdict.Outcome.TESTS_WRONG, Verdict.Outcome.UNDERSPECIFIED)


class VerdictForm(forms.Form):
    """What an annotator says when closing an attempt."""

    outcome = forms.ChoiceField(
        choices=Verdict.Outcome.choices,
        widget=forms.RadioSelect,
        label="Outcome of the attempt",
        error_messages=CHOOSE,
    )
    difficulty = forms.ChoiceField(widget=forms.RadioSelect, label="How hard was it?", error_messages=CHOOSE)
    instruction_quality = forms.TypedChoiceField(
        choices=INSTRUCTION_SCALE,
        coerce=int,
        widget=forms.RadioSelect,
        label="Is the instruction clear enough?",
        error_messages=CHOOSE,
    )
    test_quality = forms.TypedChoiceField(
        choices=TEST_SCALE,
        coerce=int,
        widget=forms.RadioSelect,
        label="Could the tests reject correct work?",
        error_messages=CHOOSE,
    )
    evidence = forms.CharField(
        required=False,
        max_length=10_000,
        widget=forms.Textarea(attrs={"rows": 4}),
        label="Evidence: a correct answer the tests reject, or the sentence that is missing or double",
        help_text="Needed for a dispute. Hidden tests are not shown to you; say what you believe they demand.",
    )
    text = forms.CharField(
        required=False,
        max_length=10_000,
        widget=forms.Textarea(attrs={"rows": 3}),
        label="Note",
        help_text="Needed where you gave a 2 or 3; otherwise optional.",
    )

    def __init__(self, *args: Any, protocol: Protocol, solved: bool, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.solved = solved
        difficulty = self.fields["difficulty"]
        assert isinstance(difficulty, forms.ChoiceField)
        difficulty.choices = [(level, level) for level in protocol.difficulty_levels]

    def clean_outcome(self) -> str:
        """Refuse "solved" where no submission passed: who holds that it is right disputes the tests."""
        outcome = str(self.cleaned_data["outcome"])
        if outcome == Verdict.Outcome.SOLVED and not self.solved:
            raise forms.ValidationError(
                "No submission passed. If you hold that yours is right, choose “tests wrong” and say why."
            )
        return outcome

    def clean(self) -> dict[str, Any]:
        """Ask for a note with a 2 or 3, and for evidence with a dispute."""
        said = super().clean() or {}
        severe = max(said.get("instruction_quality") or 0, said.get("test_quality") or 0) >= 2
        if severe and not said.get("text", "").strip():
            self.add_error("text", "Say what is unclear, or what the tests are too strict about.")
        if said.get("outcome") in NEEDS_EVIDENCE and not said.get("evidence", "").strip():
            self.add_error("evidence", "Say which answer or which sentence, so that a curator can decide.")
        return said


class GiveUpForm(forms.Form):
    """Why somebody gives up."""

    reason = forms.CharField(
        max_length=2000,
        label="What stopped you?",
        widget=forms.Textarea(attrs={"rows": 3}),
        error_messages={"required": "Say in a few words what stopped you."},
    )
