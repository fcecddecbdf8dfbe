"""STUDY: the names, the versions and the people of a study."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django import forms
from django.db.models import QuerySet

from annotation.drawing import BY
from annotation.models import Study, User
from config.access import Role
from examples.models import Dataset, Example, Library

if TYPE_CHECKING:  # generic for the type checker only
    StudyModelForm = forms.ModelForm[Study]
    PeopleChoice = forms.ModelMultipleChoiceField[User]
else:
    StudyModelForm = forms.ModelForm
    PeopleChoice = forms.ModelMultipleChoiceField

RESERVED = ("new", "calculator")


class StudyForm(StudyModelForm):
    """A study's names, while it is a draft."""

    class Meta:
        model = Study
        fields = ["title", "name"]
        labels = {"name": "Short name, used in addresses"}

    def clean_name(self) -> str:
        """Refuse the names that are addresses of other pages."""
        name = str(self.cleaned_data["name"])
        if name in RESERVED:
            raise forms.ValidationError("This name is taken by a page; choose another.")
        return name


class ChooseVersionsForm(forms.Form):
    """Which examples' current versions come into a study."""

    dataset = forms.ModelChoiceField(Dataset.objects.all(), required=False, empty_label="any dataset")
    library = forms.ModelChoiceField(Library.objects.all(), required=False, empty_label="any library")
    status = forms.ChoiceField(
        required=False,
        choices=[
            ("", "candidates and accepted"),
            ("candidate", "candidates only"),
            ("accepted", "accepted only"),
        ],
    )
    labels = forms.CharField(
        required=False,
        label="Only these",
        help_text="Labels such as EX-0004, with spaces or commas between; empty for all.",
    )

    size = forms.IntegerField(
        required=False,
        min_value=1,
        label="Draw so many of them",
        help_text="By the protocol's seed; the same seed draws the same. Takes the place of what was chosen before.",
    )
    by = forms.MultipleChoiceField(
        required=False,
        choices=list(BY.items()),
        widget=forms.CheckboxSelectMultiple,
        label="In proportion to",
        help_text="The sample is stratified by all that is ticked.",
    )

    def __init__(self, *args: Any, study: Study, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if study.state != Study.State.DRAFT:  # a sample is drawn before the study opens, or not at all
            self.fields["size"].widget = forms.HiddenInput()
            self.fields["by"].widget = forms.MultipleHiddenInput()

    def clean_labels(self) -> list[int]:
        """Return the numbers of the labels."""
        words = self.cleaned_data["labels"].replace(",", " ").split()
        numbers = [word.upper().removeprefix("EX-") for word in words]
        if wrong := [
            word
            for word, number in zip(words, numbers, strict=True)
            if not number.isascii() or not number.isdigit()
        ]:
            raise forms.ValidationError(f"{wrong[0]} is no label; they look like EX-0004.")
        return [int(number) for number in numbers]

    def examples(self) -> QuerySet[Example]:
        """Return the examples that match the filters, retired ones left out unless named."""
        said = self.cleaned_data
        found = Example.objects.all()
        if said["dataset"]:
            found = found.filter(dataset=said["dataset"])
        if said["library"]:
            found = found.filter(libraries=said["library"])
        if said["status"]:
            found = found.filter(status=said["status"])
        if said["labels"]:
            return found.filter(pk__in=said["labels"])
        return found.exclude(status=Example.Status.RETIRED)


class PseudonymsField(PeopleChoice):
    """Accounts, shown by pseudonym only."""

    def label_from_instance(self, obj: User) -> str:
        """Return the pseudonym."""
        return obj.pseudonym


class PeopleForm(forms.Form):
    """Annotators to add to a study."""

    people = PseudonymsField(
        User.objects.none(),
        widget=forms.CheckboxSelectMultiple,
        error_messages={"required": "Choose somebody."},
    )

    def __init__(self, *args: Any, study: Study, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        inside = study.people.filter(active=True).values("person")
        people = self.fields["people"]
        assert isinstance(people, forms.ModelMultipleChoiceField)
        people.queryset = (
            User.objects.filter(role=Role.ANNOTATOR, is_active=True)
            .exclude(pk__in=inside)
            .order_by("pseudonym")
        )
