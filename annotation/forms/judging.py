"""FORMS: decisions of curators: on a version, a submission, a solution, a fix; each with its reason."""

from __future__ import annotations

from django import forms

from annotation.models import Adjudication
from annotation.trials import MOST_REPEATS


def reason(help_text: str, rows: int = 3) -> forms.CharField:
    """Return the field of a reason, which every decision has."""
    return forms.CharField(
        max_length=4000,
        widget=forms.Textarea(attrs={"rows": rows}),
        help_text=help_text,
        error_messages={"required": "Give a reason."},
    )


def severity() -> forms.TypedChoiceField:
    """Return the field of how severe a flaw is."""
    return forms.TypedChoiceField(
        label="How severe is the flaw?",
        coerce=int,
        choices=Adjudication.Severity.choices,
        widget=forms.RadioSelect,
        error_messages={"required": "Say how severe the flaw is, from 0 to 3."},
    )


class DecisionForm(forms.Form):
    """A decision on a version: what, how severe, why."""

    decision = forms.ChoiceField(
        choices=Adjudication.Decision.choices,
        widget=forms.RadioSelect,
        error_messages={"required": "Choose one of the decisions."},
    )
    severity = severity()
    reason = reason("What you looked at and why; the release and the next curator rely on it.")


class RulingForm(forms.Form):
    """A decision on a submission that could not be confirmed, with its reason."""

    stands = forms.ChoiceField(
        label="Does it stand?",
        choices=[("yes", "it stands: counts as passed"), ("no", "it does not: counts as failed")],
        widget=forms.RadioSelect,
    )
    reason = reason("What in the code you looked at; the figures of the study rest on it.")


class SecondReaderForm(forms.Form):
    """Why a case needs a second reader."""

    reason = reason("What you are not sure of. The case stays open until two people decide the same.", rows=2)


class AssessmentForm(forms.Form):
    """Whether a solution is right by the instruction, and whether later versions are held to it."""

    sha256 = forms.RegexField(r"^[0-9a-f]{64}$", widget=forms.HiddenInput)
    right = forms.TypedChoiceField(
        label="By the instruction it is",
        coerce=lambda word: word == "right",
        choices=[("right", "right"), ("wrong", "wrong")],
        widget=forms.RadioSelect,
        error_messages={"required": "Say whether it is right or wrong."},
    )
    keep = forms.BooleanField(
        required=False,
        label="Keep it as an accepted alternative: every later version must let it pass",
    )
    reason = reason("Whatever the tests say: what in the instruction makes it so.", rows=2)

    def clean_keep(self) -> bool:
        """Refuse to keep what is wrong."""
        keep: bool = self.cleaned_data["keep"]
        if keep and self.cleaned_data.get("right") is False:
            raise forms.ValidationError("What is wrong is no accepted alternative. Take one of the two back.")
        return keep


class RepeatsForm(forms.Form):
    """How often each solution is to be executed."""

    times = forms.IntegerField(
        min_value=1,
        max_value=MOST_REPEATS,
        initial=1,
        label="Times each",
        help_text=f"1 to {MOST_REPEATS}; what was executed counts",
    )


class AcceptFixForm(forms.Form):
    """Why a fix becomes the next version, and how severe what it mends is."""

    severity = severity()
    reason = reason("Why its base needed it; it is recorded as the decision on that version.")


class ReasonForm(forms.Form):
    """A reason alone."""

    reason = reason("Whoever comes next reads it.", rows=2)
