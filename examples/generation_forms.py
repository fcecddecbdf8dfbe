"""Forms of the pages of generation: shapes are checked here, rules by the stage functions."""

from __future__ import annotations

from typing import Any

from django import forms
from django.conf import settings

from examples.forms import LICENCE_HELP, Code, EnvironmentChoice
from examples.generation.fragments.screening import OUTSIDE, WORDS
from examples.generation.runs import Options
from examples.importing.environments import ensure_environments
from examples.models import GenerationRun
from runner.models import Environment

Path = GenerationRun.Path
UPLOAD_BYTES = 8 << 20
MILLION = 1_000_000


class NewRunForm(forms.Form):
    """A new run: where its fragments come from, how it goes, where its examples go."""

    name = forms.SlugField(
        label="Name of the run",
        help_text="Letters, digits, - and _. Its examples are named for it.",
        widget=forms.TextInput(attrs={"autocomplete": "off", "spellcheck": "false"}),
    )
    dataset = forms.SlugField(
        label="Dataset",
        help_text="Where accepted examples go. A name that is new makes a new dataset.",
        widget=forms.TextInput(attrs={"list": "datasets", "autocomplete": "off", "spellcheck": "false"}),
    )
    code = Code(required=False, label="Code")
    function = forms.CharField(
        required=False,
        max_length=300,
        label="Function",
        help_text="The only one wanted of pasted code or of a .py file, as function or Class.method. Empty: all of them.",
    )
    file = forms.FileField(
        required=False,
        allow_empty_file=False,
        label="Or a file",
        help_text="A wheel or zip, CodeSearchNet JSON Lines, or a .py file. Nothing of it is executed here.",
    )
    licence = forms.CharField(
        required=False,
        max_length=100,
        label="Licence",
        help_text=f"Where the source names none: {LICENCE_HELP}.",
    )
    path = forms.ChoiceField(label="How", choices=Path.choices, initial=Path.PLAIN, widget=forms.RadioSelect)
    environment = EnvironmentChoice(
        Environment.objects.filter(language="python"),
        label="Environment",
        empty_label=None,
        help_text="In which everything of the run is executed.",
    )
    allow = forms.MultipleChoiceField(
        required=False,
        label="Take fragments that touch",
        choices=[(each.value, WORDS[each]) for each in OUTSIDE],
        widget=forms.CheckboxSelectMultiple,
    )
    review = forms.BooleanField(required=False, label="A curator decides about each fragment that held")
    model = forms.CharField(
        required=False, max_length=200, label="Model", help_text="Empty: the one of the settings."
    )
    temperature = forms.FloatField(required=False, min_value=0, max_value=2, initial=0.0, label="Temperature")
    rounds = forms.IntegerField(min_value=0, max_value=10, initial=3, label="Repairs at most")
    augment = forms.BooleanField(required=False, label="Add tests with the reference as oracle")
    budget_tokens = forms.IntegerField(
        required=False, min_value=1, label="Budget in tokens", help_text="Empty: no limit."
    )

    def __init__(self, *args: Any, **options: Any) -> None:
        ensure_environments()
        super().__init__(*args, **options)

    def clean_file(self) -> Any:
        """Refuse a file beyond what a page takes."""
        file = self.cleaned_data["file"]
        if file and file.size > UPLOAD_BYTES:
            raise forms.ValidationError(too_large())
        return file

    def clean_name(self) -> str:
        """Refuse the name of a run that is there."""
        name: str = self.cleaned_data["name"]
        if GenerationRun.objects.filter(name=name).exists():
            raise forms.ValidationError("There is a run of this name. Choose another.")
        return name

    def clean(self) -> dict[str, Any]:
        """Ask for exactly one source, and for an endpoint where a model is to be asked."""
        values = super().clean() or {}
        if bool((values.get("code") or "").strip()) == bool(values.get("file")) and "file" not in self.errors:
            self.add_error("code", "Paste code or choose a file, one of the two.")
        if values.get("path") == Path.MODEL and not settings.LLM_BASE_URL:
            self.add_error(
                "path", "No endpoint is set, so no model can be asked. An admin sets BENCHWRIGHT_LLM_URL."
            )
        return values

    @property
    def options(self) -> Options:
        """The settings of a run that asks a model."""
        values = self.cleaned_data
        return Options(
            model=values["model"],
            temperature=values["temperature"] or 0.0,
            rounds=values["rounds"],
            augment=values["augment"],
            review=values["review"],
            budget_tokens=values["budget_tokens"],
        )


class EditForm(forms.Form):
    """One text of a fragment."""

    text = Code(label="Text", error_messages={"required": "It is empty. Write it, or leave without saving."})


class RejectForm(forms.Form):
    """Why a fragment is rejected."""

    reason = forms.CharField(label="Reason", max_length=2000, error_messages={"required": "Say why."})


def too_large() -> str:
    """Return what is said of a file that a page does not take."""
    return f"It is larger than {UPLOAD_BYTES >> 20} MiB. Use manage.py find_fragments for it, or send a part."
