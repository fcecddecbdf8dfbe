"""Forms of the curator's pages: shapes are checked here, rules by the stage functions."""

from __future__ import annotations

from typing import Any

from django import forms
from django.conf import settings
from django.core.files.uploadedfile import UploadedFile
from django.core.validators import RegexValidator
from django.template.defaultfilters import filesizeformat

from examples.curating import MOST_REPEATS
from examples.editing import Edit
from examples.environments import pythons
from examples.models import Dataset, Version
from examples.rerunning import MOST_ENVIRONMENTS, fit_for
from runner.models import Environment

REPEATS_OFFERED = 90
LICENCE_HELP = "an SPDX identifier such as MIT or Apache-2.0, or a name"


class Code(forms.CharField):
    """Text whose every blank counts."""

    def __init__(self, **options: Any) -> None:
        super().__init__(
            strip=False, widget=forms.Textarea(attrs={"rows": 12, "spellcheck": "false"}), **options
        )


class EnvironmentChoice(forms.ModelChoiceField):  # type: ignore[type-arg] # not subscriptable at run time
    """An environment, named with its Python."""

    def label_from_instance(self, obj: Environment) -> str:
        """Return the name, and what it holds or lacks."""
        return environment_label(obj)


class EnvironmentChoices(forms.ModelMultipleChoiceField):  # type: ignore[type-arg] # as above
    """Environments, named with their Pythons."""

    def label_from_instance(self, obj: Environment) -> str:
        """Return the name, and what it holds or lacks."""
        return environment_label(obj)


def environment_label(environment: Environment) -> str:
    """Return what a choice says of an environment."""
    if not environment.image_digest:
        return f"{environment.name}, not built yet"
    language = "Python" if environment.language == "python" else environment.language
    return f"{environment.name}, {language} {environment.language_version}".rstrip()


class ImportForm(forms.Form):
    """A file of records, and the dataset they go into."""

    file = forms.FileField(
        label="File",
        help_text="Exec-CSN JSON, HumanEval JSON Lines or Benchwright JSON Lines; each may be gzipped.",
        error_messages={
            "required": "Choose a file.",
            "empty": "The file is empty. Choose one with records.",
        },
    )
    dataset = forms.SlugField(
        label="Dataset",
        help_text="Letters, digits, - and _. A name that is new makes a new dataset.",
        widget=forms.TextInput(attrs={"list": "datasets", "autocomplete": "off", "spellcheck": "false"}),
    )
    licence = forms.CharField(
        label="Licence of the dataset",
        required=False,
        max_length=100,
        help_text=f"Where it has none yet: {LICENCE_HELP}. Without one its examples fail a check.",
    )
    dry_run = forms.BooleanField(
        label="Only look: report what would come in, and change nothing", required=False
    )

    def clean_file(self) -> UploadedFile[bytes]:
        """Refuse a file beyond the limit."""
        file: UploadedFile[bytes] = self.cleaned_data["file"]
        if (file.size or 0) > settings.IMPORT_MAX_BYTES:
            raise forms.ValidationError(too_large(file.size or 0))
        return file


def too_large(size: int) -> str:
    """Return what to say of a file of this many bytes."""
    return (
        f"The file has {filesizeformat(size)}, more than the {filesizeformat(settings.IMPORT_MAX_BYTES)} that may be sent."
        " Gzip it, split it, or use manage.py import_examples on the server."
    )


class VersionForm(forms.Form):
    """The parts of a version that may be edited, why, and the version the edit was made from."""

    instruction = forms.CharField(
        strip=False,
        label="Instruction",
        widget=forms.Textarea(attrs={"rows": 6}),
        help_text="What an annotator is asked to do.",
    )
    context = Code(label="Context, Python", required=False)
    tests = Code(label="Tests, Python")
    block = Code(label="Block that runs the tests, Python", required=False)
    reference = Code(label="Reference, the body alone, Python")
    visible = forms.IntegerField(
        min_value=0,
        label="Visible assertions",
        help_text="How many top-level assertions, in order, an annotator sees and may run.",
    )
    environment = EnvironmentChoice(
        Environment.objects.all(),
        label="Environment",
        empty_label=None,
        help_text="The image and packages it runs in.",
    )
    note = forms.CharField(
        max_length=1000,
        label="Why",
        widget=forms.Textarea(attrs={"rows": 2}),
        help_text="One or two sentences for whoever compares the versions later.",
        error_messages={"required": "Say why this version is made."},
    )
    base = forms.IntegerField(widget=forms.HiddenInput)

    @property
    def edit(self) -> Edit:
        """The edit that was sent."""
        names = ("instruction", "context", "tests", "block", "reference", "visible", "environment")
        return Edit(**{name: self.cleaned_data[name] for name in names})


class RepeatForm(forms.Form):
    """How many more executions of the reference."""

    times = forms.IntegerField(
        min_value=1,
        max_value=MOST_REPEATS,
        initial=REPEATS_OFFERED,
        label="More repeats",
        help_text=f"1 to {MOST_REPEATS}, each in a new container",
    )


class RetireForm(forms.Form):
    """Why an example is retired."""

    reason = forms.CharField(
        max_length=1000,
        label="Reason",
        error_messages={"required": "Say why: it is shown wherever the example is missed."},
    )


class LicenceForm(forms.Form):
    """The example's own licence."""

    licence = forms.CharField(
        required=False,
        max_length=100,
        label="Licence of this example",
        help_text=f"Where it differs from the dataset's: {LICENCE_HELP}. Empty uses the dataset's.",
    )


class DatasetForm(forms.ModelForm):  # type: ignore[type-arg] # not subscriptable at run time
    """What may be edited of a dataset; its name stays, since imports go by it."""

    cpu_limit_seconds = forms.FloatField(
        required=False,
        min_value=0.1,
        max_value=600,
        label="CPU limit in seconds",
        help_text="Empty: ten times what the reference needs, 1 to 10 s. Holds from the next check on.",
    )

    class Meta:
        model = Dataset
        fields = ["title", "licence", "source", "cpu_limit_seconds"]
        help_texts = {
            "licence": f"{LICENCE_HELP}; empty means unknown, and its examples fail a check",
            "source": "where it was published",
        }


class EnvironmentForm(forms.Form):
    """A new environment: its name, one of the Pythons that are offered, and packages."""

    name = forms.CharField(
        max_length=40,
        label="Name",
        help_text="Small letters, digits and hyphens, such as numpy-2023. It stays.",
        validators=[
            RegexValidator(
                r"^[a-z][a-z0-9]*(-[a-z0-9]+)*\Z",
                "Begin with a small letter; then small letters and digits, single hyphens between.",
            )
        ],
        widget=forms.TextInput(attrs={"autocomplete": "off", "spellcheck": "false"}),
    )
    python = forms.ChoiceField(
        label="Python",
        widget=forms.RadioSelect,
        error_messages={"invalid_choice": "This Python is not offered. Choose one that is."},
    )
    packages = forms.CharField(
        required=False,
        strip=False,
        max_length=20_000,
        label="Packages",
        help_text="One a line, by name and exact version: numpy==2.4.6. Only wheels are installed. What they need comes"
        " with them and is listed with its hash. Empty: the standard library alone.",
        widget=forms.Textarea(attrs={"rows": 8, "spellcheck": "false", "class": "mono"}),
    )

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        offered = pythons()
        choices = [(each.version, f"{each.version}, Debian {each.suite}") for each in offered]
        python: Any = self.fields["python"]
        python.choices = choices
        python.initial = choices[0][0]


class RerunForm(forms.Form):
    """The environments in which a version is executed beside its own."""

    environments = EnvironmentChoices(
        Environment.objects.none(),
        label="Beside its own",
        help_text=f"1 to {MOST_ENVIRONMENTS - 1}",
        widget=forms.CheckboxSelectMultiple,
        error_messages={"required": "Choose one at least.", "invalid_choice": "Choose among those listed."},
    )

    def __init__(self, *args: Any, version: Version, **options: Any) -> None:
        super().__init__(*args, **options)
        others = [each.pk for each in fit_for(version) if each.pk != version.environment_id]
        environments: Any = self.fields["environments"]
        environments.queryset = Environment.objects.filter(pk__in=others)
