"""ONBOARDING: the warm-up: an example of ours, solved in the real editor with the real runner, and in no figure."""

from __future__ import annotations

from django.db import IntegrityError, transaction
from django.utils import timezone

from annotation.studies import WARM_UP
from examples.importing.base import Record
from examples.importing.store import store
from examples.masking import mask
from examples.models import Dataset, ImportReport, Version
from examples.tasks import wake_bulk_work

DATASET, KEY = WARM_UP, "initials"
SOURCE = '''"""Names on badges."""

SEPARATORS = " -"


def words(name):
    """Return the parts of a name: "Ada Lovelace" has two, "Jean-Luc" too."""
    for separator in SEPARATORS:
        name = name.replace(separator, " ")
    return name.split()


def initials(name):
    """Return the first letter of each part of the name, in upper case, each with a dot behind it."""
    return "".join(part[0].upper() + "." for part in words(name))


def test_initials():
    assert initials("Ada Lovelace") == "A.L."
    assert initials("grace hopper") == "G.H."
    assert initials("Jean-Luc") == "J.L."
    assert initials("  ada  ") == "A."
    assert initials("") == ""
'''
INSTRUCTION = """\
Functionality: Make the letters for a badge from a name. Each part of the name gives its first letter in upper case with a
dot behind it; nothing stands between them. A name without any part gives empty text.

Inputs: name (text).

Outputs: The letters as text. `words` may help.
"""


def warm_up_version() -> Version:
    """Return the warm-up's version; on a site that has none it is made, and its checks are asked for."""
    found = _found()
    if found is not None:
        return found
    try:
        with transaction.atomic():
            _import()
    except IntegrityError:  # somebody else began at the same moment
        pass
    version = _found()
    assert version is not None
    transaction.on_commit(wake_bulk_work, robust=True)
    return version


def _found() -> Version | None:
    of_ours = Version.objects.filter(example__dataset__name=DATASET, example__key=KEY)
    return of_ours.filter(current_of__isnull=False).first()


def _import() -> None:
    masked = mask(SOURCE, "initials")
    record = Record(
        key=KEY,
        title="Letters on a badge",
        repository="benchwright/warm-up",
        licence="MIT",
        focal_name="initials",
        language="python",
        instruction=INSTRUCTION,
        context=masked.context,
        gap=masked.gap,
        reference=masked.reference,
        tests=masked.tests,
        block=masked.block,
        expected=masked.expected,
        visible=2,
        total=5,
        needs=(),
        libraries=(),
        provenance={"format": "warm-up"},
    )
    dataset, _ = Dataset.objects.get_or_create(
        name=DATASET,
        defaults={"title": "Warm-up of the studies", "licence": "MIT", "source": "Benchwright itself"},
    )
    report = ImportReport.objects.create(
        dataset=dataset, dataset_name=DATASET, file_name="warm-up", seen_at=timezone.now()
    )
    store([record], report)
