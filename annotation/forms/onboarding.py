"""ONBOARDING: what a person says of their experience, and how they leave an example or a study."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django import forms
from django.db.models import Q

from annotation.models import Background, BrokenReport, GoldItem, Protocol, Slot, Study
from examples.models import Version

if TYPE_CHECKING:  # generic for the type checker only
    BackgroundModelForm = forms.ModelForm[Background]
    VersionChoiceField = forms.ModelChoiceField[Version]
else:
    BackgroundModelForm = forms.ModelForm
    VersionChoiceField = forms.ModelChoiceField

NOT_SAID = "rather not say"
BANDS = {
    "programming_years": Background.Years.choices,
    "language_years": Background.Years.choices,
    "familiarity": Background.Familiarity.choices,
    "prior_exposure": Background.Exposure.choices,
}


class BackgroundForm(BackgroundModelForm):
    """Experience in bands; each can be left unsaid."""

    class Meta:
        model = Background
        fields = ["programming_years", "language_years", "familiarity", "prior_exposure"]
        labels = {
            "programming_years": "How long have you programmed?",
            "language_years": "How long in the language of these examples?",
            "familiarity": "How well do you know libraries like those they use?",
            "prior_exposure": "Have you met this study's code or examples before?",
        }

    def __init__(self, *args: Any, protocol: Protocol, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if not protocol.asks_prior_exposure:
            del self.fields["prior_exposure"]
        for name, field in self.fields.items():
            assert isinstance(field, forms.TypedChoiceField)
            field.choices = [("", NOT_SAID), *BANDS[name]]


class LeaveForm(forms.Form):
    """A form that stands on a page with others of its kind, so its fields have ids of their own."""

    ids = "leave_%s"

    def __init__(self, data: Any = None) -> None:
        super().__init__(data, auto_id=self.ids)


class DeferForm(LeaveForm):
    """Why an example is set aside for later; not needed."""

    ids = "defer_%s"

    reason = forms.CharField(
        required=False,
        max_length=500,
        label="A note, if you like",
        widget=forms.TextInput(attrs={"size": 30}),
    )


class DeclineForm(LeaveForm):
    """Why an example is declined."""

    ids = "decline_%s"

    reason = forms.CharField(
        max_length=2000,
        label="Why is it not for you?",
        widget=forms.Textarea(attrs={"rows": 3}),
        error_messages={"required": "Say in a few words why; curators read it."},
    )


class BrokenForm(LeaveForm):
    """What is broken, and what shows it."""

    ids = "broken_%s"

    what = forms.ChoiceField(choices=BrokenReport.What.choices, label="What is broken?")
    evidence = forms.CharField(
        max_length=10_000,
        label="What did you see, and what did you expect?",
        widget=forms.Textarea(attrs={"rows": 4}),
        error_messages={"required": "Say what you saw and what you expected, so that a curator can look."},
    )


class WithdrawForm(forms.Form):
    """How somebody leaves a study."""

    leave_out = forms.BooleanField(
        required=False,
        label="Leave what I did out of the figures",
        help_text="Of those computed from now on.",
    )
    words = forms.CharField(
        required=False,
        max_length=2000,
        label="Anything you want to tell the curators",
        widget=forms.Textarea(attrs={"rows": 2}),
    )


class DecideForm(forms.Form):
    """A curator's decision on a report."""

    decision = forms.ChoiceField(
        choices=BrokenReport.Decision.choices, widget=forms.RadioSelect, label="Decision"
    )
    reason = forms.CharField(
        max_length=2000,
        label="Reason",
        widget=forms.Textarea(attrs={"rows": 2}),
        error_messages={"required": "Give a reason: the person who reported it reads it."},
    )


class AdmitForm(forms.Form):
    """Why somebody may work without having qualified."""

    reason = forms.CharField(max_length=2000)


class CapForm(forms.Form):
    """How many examples one person is given at most."""

    cap = forms.IntegerField(required=False, min_value=1, max_value=10_000)


class VersionField(VersionChoiceField):
    """A version, by its example's label and title."""

    def label_from_instance(self, obj: Any) -> str:
        """Return what stands in the list."""
        return f"{obj.example.label} {obj.example.title}, version {obj.number}"


class GoldForm(forms.Form):
    """Which version of a study is gold, and for what: one that nobody has begun."""

    version = VersionField(Version.objects.none(), label="Version", empty_label=None)
    purpose = forms.ChoiceField(choices=GoldItem.Purpose.choices, label="For")

    def __init__(self, data: Any = None, *, study: Study) -> None:
        super().__init__(data)
        places = Slot.objects.filter(study=study)
        begun = places.filter(Q(attempts__isnull=False) | ~Q(state=Slot.State.FREE)).values("version")
        fit = places.of_the_study().exclude(version__in=begun).values("version")
        version = self.fields["version"]
        assert isinstance(version, VersionField)
        version.queryset = (
            Version.objects.filter(pk__in=fit)
            .select_related("example")
            .defer("instruction", "context", "reference", "segments", "block")
            .order_by("pk")
        )
