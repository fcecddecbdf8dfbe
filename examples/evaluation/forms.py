"""EVALUATE: what a curator says of a file of samples: what it is over, the model, and how it was asked."""

from __future__ import annotations

from typing import Any

from django import forms

from config.bodies import USUAL_BYTES
from examples.evaluation.choosing import NAME_LIMIT, dataset_named, default_name, split_named
from examples.evaluation.creating import Rules
from examples.models import Dataset, Split

# What the other fields of the form may take.
FORM_BYTES = 64 << 10
KNOWN = "where it is known"


class SamplesForm(forms.Form):
    """A file of a model's samples, and what it is of."""

    file = forms.FileField(
        label="File",
        help_text="HumanEval samples, CodeT's, outputs of Exec-CSN's inference, or our own; best gzipped.",
        error_messages={"required": "Choose a file.", "empty": "The file is empty. Choose one with samples."},
    )
    over = forms.ChoiceField(label="Over", help_text="The versions it has now are the evaluation's for good.")
    model_name = forms.CharField(label="Model", max_length=200)
    name = forms.SlugField(
        label="Name of the evaluation",
        required=False,
        max_length=NAME_LIMIT,
        help_text="Letters, digits, - and _. Without one it is made of model and dataset.",
    )
    samples_asked = forms.IntegerField(label="n", required=False, min_value=1, help_text=KNOWN)
    temperature = forms.FloatField(label="temperature", required=False, min_value=0, help_text=KNOWN)
    top_p = forms.FloatField(label="top_p", required=False, min_value=0, max_value=1, help_text=KNOWN)
    max_tokens = forms.IntegerField(label="max_tokens", required=False, min_value=1, help_text=KNOWN)
    cpu_limit_seconds = forms.FloatField(
        label="CPU limit in seconds",
        required=False,
        min_value=0.1,
        max_value=600,
        help_text="One for all samples. Without one each version keeps its own, and people can be compared.",
    )
    dry_run = forms.BooleanField(
        label="Only look: report what would come in, and change nothing", required=False
    )

    def __init__(self, *args: Any, splits: list[Split], datasets: list[Dataset], **kwargs: Any) -> None:
        """Offer these datasets and splits."""
        super().__init__(*args, **kwargs)
        choices = [(f"dataset:{each.name}", each.title) for each in datasets]
        choices += [
            (f"split:{each.release.name}@{each.release.number}/{each.name}", f"{each.release}, {each.name}")
            for each in splits
        ]
        over = self.fields["over"]
        assert isinstance(over, forms.ChoiceField)
        over.choices = choices

    def clean_file(self) -> Any:
        """Refuse a file beyond what a request may hold."""
        file = self.cleaned_data["file"]
        if (file.size or 0) > USUAL_BYTES - FORM_BYTES:
            raise forms.ValidationError(
                "It is too large for a page. Gzip it, or use manage.py import_samples."
            )
        return file

    def chosen(self) -> Dataset | Split:
        """Return what the samples are over."""
        kind, _, name = str(self.cleaned_data["over"]).partition(":")
        return dataset_named(name) if kind == "dataset" else split_named(name)

    def evaluation_name(self) -> str:
        """Return the name that was given, or the one that is made."""
        return self.cleaned_data["name"] or default_name(self.cleaned_data["model_name"], self.chosen())

    def rules(self) -> Rules:
        """Return the rules as they were said."""
        names = ("samples_asked", "temperature", "top_p", "max_tokens", "cpu_limit_seconds")
        return Rules(**{name: self.cleaned_data[name] for name in names})
