"""FORMS: a release's draft, a token: what people may send, each field checked."""

from __future__ import annotations

from typing import Any

from django import forms
from django.db.models import QuerySet

from annotation.models import Study, User
from annotation.tokens import LIFETIMES
from config.scopes import MEANING, scopes_of
from examples.models import Dataset, Example, Version
from examples.releasing.drafting import DraftPlan, SplitPlan
from examples.releasing.numbering import NumberRefused, parse_number

SPLITS = (("train", False), ("dev", False), ("test", False), ("held-out", True))


class DraftForm(forms.Form):
    """A draft: name and number, which versions, and the shares of its splits in per cent."""

    name = forms.SlugField(
        max_length=50, help_text="Letters, digits and hyphens; stays the same from release to release."
    )
    number = forms.CharField(
        max_length=30, initial="1.0.0", help_text="Semantic: major.minor.patch. It must grow."
    )
    source = forms.ChoiceField(label="Versions of")
    accepted = forms.BooleanField(required=False, label="Accepted examples only")
    seed = forms.IntegerField(
        min_value=0, max_value=2**31 - 1, initial=0, help_text="The same seed gives the same splits."
    )
    licence = forms.CharField(
        max_length=100, required=False, help_text="Of the selection; each example keeps its own."
    )
    notes = forms.CharField(
        required=False, widget=forms.Textarea(attrs={"rows": 3}), help_text="Stands in the README."
    )
    train = forms.FloatField(min_value=0, max_value=100, initial=0, label="train, %")
    dev = forms.FloatField(min_value=0, max_value=100, initial=0, label="dev, %")
    test = forms.FloatField(min_value=0, max_value=100, initial=100, label="test, %")
    held_out = forms.FloatField(
        min_value=0, max_value=100, initial=0, label="held-out, %", help_text="Kept private: curators only."
    )

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        studies = [
            (f"study:{each.pk}", each.title) for each in Study.objects.exclude(state=Study.State.DRAFT)
        ]
        datasets = [(f"dataset:{each.pk}", each.name) for each in Dataset.objects.all()]
        source = self.fields["source"]
        assert isinstance(source, forms.ChoiceField)
        source.choices = [("Studies", studies), ("Datasets, current versions", datasets)]
        if not studies and not datasets:
            source.help_text = "There is no study and no dataset yet; import examples first."

    def clean_number(self) -> str:
        """Return the number when it is a semantic version."""
        number: str = self.cleaned_data["number"].strip()
        try:
            parse_number(number)
        except NumberRefused as refused:
            raise forms.ValidationError(str(refused)) from refused
        return number

    def clean(self) -> dict[str, Any]:
        """Return the cleaned data when the shares make a whole."""
        data = super().clean() or self.cleaned_data
        total = sum(data.get(name.replace("-", "_")) or 0 for name, _ in SPLITS)
        if abs(total - 100) > 1e-6:
            raise forms.ValidationError(f"The shares add up to {total:g} %; they must add up to 100 %.")
        return data

    @property
    def plan(self) -> DraftPlan:
        """The plan that the cleaned form describes."""
        data = self.cleaned_data
        shares = [(name, data[name.replace("-", "_")] / 100, private) for name, private in SPLITS]
        return DraftPlan(
            name=data["name"],
            number=data["number"],
            seed=data["seed"],
            splits=[SplitPlan(name, share, private) for name, share, private in shares if share > 0],
            licence=data["licence"],
            notes=data["notes"],
        )

    @property
    def versions(self) -> QuerySet[Version]:
        """The versions that the cleaned form selects: those of a study, or the current ones of a dataset."""
        kind, _, number = self.cleaned_data["source"].partition(":")
        if kind == "study":
            chosen = Version.objects.filter(slots__study=number).distinct()
        else:
            chosen = Version.objects.filter(current_of__dataset=number)
        if self.cleaned_data["accepted"]:
            return chosen.filter(example__status=Example.Status.ACCEPTED)
        return chosen.exclude(example__status=Example.Status.RETIRED)


class LeaveOutForm(forms.Form):
    """The versions that a curator saw blocked and leaves out, as numbers with commas between."""

    versions = forms.RegexField(r"^\d{1,12}(,\d{1,12})*$", max_length=2_000_000)

    @property
    def ids(self) -> list[int]:
        """The ids of the versions."""
        return [int(each) for each in self.cleaned_data["versions"].split(",")]


class TokenForm(forms.Form):
    """A token: a name to know it by, what it may read, how long it lives."""

    name = forms.CharField(max_length=100, help_text="Where it is used, such as “build server”.")
    scopes = forms.MultipleChoiceField(
        widget=forms.CheckboxSelectMultiple,
        label="It may",
        error_messages={"required": "Choose what it may read; a token without a scope opens nothing."},
    )
    days = forms.TypedChoiceField(
        coerce=int, choices=[(days, f"{days} days") for days in LIFETIMES], initial=30, label="It ends after"
    )

    def __init__(self, *arguments: Any, user: User, **options: Any) -> None:
        super().__init__(*arguments, **options)
        scopes = self.fields["scopes"]
        assert isinstance(scopes, forms.MultipleChoiceField)
        scopes.choices = [(scope, MEANING[scope]) for scope in scopes_of(user.role)]
