"""STUDY: the form of the calculator; a study that is chosen fills in what it has shown."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django import forms

from annotation.models import Study
from annotation.planning import Actual, Wanted

if TYPE_CHECKING:  # generic for the type checker only
    StudyChoice = forms.ModelChoiceField[Study]
else:
    StudyChoice = forms.ModelChoiceField

START: dict[str, float] = {
    "share": 80,
    "half_width": 8,
    "per_person": 20,
    "solvers": 2,
    "icc": 0.1,
    "icc_versions": 0.2,
    "minutes": 15,
}


class StudyByName(StudyChoice):
    """Studies, by title."""

    def label_from_instance(self, obj: Study) -> str:
        """Return the title."""
        return obj.title


class CalculatorForm(forms.Form):
    """What the interval should be, and what attempts are like."""

    share = forms.FloatField(label="Expected share solved, in per cent", min_value=1, max_value=99)
    half_width = forms.FloatField(
        label="Wanted interval, plus or minus per cent",
        min_value=1,
        max_value=50,
        help_text="Of the 95 % interval.",
    )
    per_person = forms.IntegerField(label="Attempts each person makes", min_value=1, max_value=1000)
    solvers = forms.IntegerField(label="Solvers for each version (k)", min_value=1, max_value=20)
    icc = forms.FloatField(
        label="ICC of people",
        min_value=0,
        max_value=1,
        help_text="How alike two attempts of one person are: 0 not at all, 1 always the same. People of unequal skill: 0.05 to "
        "0.3.",
    )
    icc_versions = forms.FloatField(
        label="ICC of examples",
        min_value=0,
        max_value=1,
        help_text="How alike two people fare on one example. The larger, the less a further solver tells.",
    )
    minutes = forms.FloatField(label="Active minutes an attempt takes", min_value=0.1, max_value=600)
    study = StudyByName(
        Study.objects.none(),
        required=False,
        empty_label="none",
        label="Fill in from a study",
        to_field_name="name",
        help_text="Its share, ICCs and minutes so far, and a forecast of its end.",
    )

    def __init__(self, *args: Any, studies: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        chosen = self.fields["study"]
        assert isinstance(chosen, forms.ModelChoiceField)
        chosen.queryset = studies

    def wanted(self) -> Wanted:
        """Return the question, shares from 0 to 1."""
        said = self.cleaned_data
        return Wanted(
            share=said["share"] / 100,
            half_width=said["half_width"] / 100,
            per_person=said["per_person"],
            solvers=said["solvers"],
            icc=said["icc"],
            icc_versions=said["icc_versions"],
            minutes=said["minutes"],
        )


def filled_in(found: Actual) -> dict[str, float]:
    """Return the fields that a study with attempts fills in, within the bounds of the form."""
    values: dict[str, float | None] = {
        "share": 100 * found.solved / found.counted if found.counted else None,
        "solvers": found.study.protocol.solvers,
        "per_person": found.counted / found.people if found.people else None,
        "icc": found.icc.value,
        "icc_versions": found.icc_versions.value,
        "minutes": found.minutes,
    }
    known = {name: value for name, value in values.items() if value is not None}
    if "share" in known:
        known["share"] = round(min(max(known["share"], 1), 99), 1)
    if "per_person" in known:
        known["per_person"] = max(round(known["per_person"]), 1)
    if "minutes" in known:
        known["minutes"] = round(min(max(known["minutes"], 0.1), 600), 1)
    return known | {name: round(known[name], 3) for name in ("icc", "icc_versions") if name in known}
