"""STUDY: a protocol, the versions and the people of a study."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django import forms
from django.db.models import QuerySet

from annotation.models import Protocol, Study, User
from config.access import Role
from examples.models import Dataset, Example, Library

if TYPE_CHECKING:  # generic for the type checker only
    StudyModelForm = forms.ModelForm[Study]
    ProtocolModelForm = forms.ModelForm[Protocol]
    PeopleChoice = forms.ModelMultipleChoiceField[User]
else:
    StudyModelForm = ProtocolModelForm = forms.ModelForm
    PeopleChoice = forms.ModelMultipleChoiceField

RESERVED = ("new", "preview")


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


class ProtocolForm(ProtocolModelForm):
    """The rules of a study, while they are not in force."""

    levels = forms.CharField(
        label="Difficulty scale",
        widget=forms.Textarea(attrs={"rows": 4}),
        help_text="One level a line, easiest first; two to seven.",
    )
    active_minutes = forms.IntegerField(
        label="Limit on active time, in minutes", min_value=1, max_value=600, initial=30
    )

    class Meta:
        model = Protocol
        fields = [
            "solvers",
            "active_minutes",
            "submissions",
            "shows_visible_tests",
            "levels",
            "guidelines",
            "seed",
        ]
        labels = {
            "solvers": "Solvers for each version (k)",
            "submissions": "Submissions allowed (m)",
            "shows_visible_tests": "Annotators see and run the visible tests",
            "guidelines": "Guidelines",
            "seed": "Seed of the assignment",
        }
        help_texts = {
            "solvers": "Can be raised later, never lowered.",
            "submissions": "In an attempt; one that we could not judge does not count.",
            "guidelines": "Markdown, shown to annotators.",
            "seed": "The same seed gives the same order of versions for each person.",
        }
        widgets = {"guidelines": forms.Textarea(attrs={"rows": 10})}

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["levels"].initial = "\n".join(self.instance.difficulty_levels)
        self.fields["active_minutes"].initial = self.instance.active_limit_seconds // 60

    def clean_levels(self) -> list[str]:
        """Return the levels, each once."""
        levels = [line.strip() for line in self.cleaned_data["levels"].splitlines() if line.strip()]
        if not 2 <= len(set(levels)) == len(levels) <= 7:
            raise forms.ValidationError("Give two to seven different levels, one a line.")
        if any(len(level) > 60 for level in levels):
            raise forms.ValidationError("Keep a level under 60 characters.")
        return levels

    def rules(self) -> dict[str, Any]:
        """Return what the form says, as fields of Protocol."""
        rules = dict(self.cleaned_data)
        rules["difficulty_levels"] = rules.pop("levels")
        rules["active_limit_seconds"] = rules.pop("active_minutes") * 60
        return rules


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
