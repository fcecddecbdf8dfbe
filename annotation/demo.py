"""DEMO: what a new site shows a stranger: five accounts, the demo dataset, and a study of it with k = 2."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from django.conf import settings
from django.core.management import call_command
from django.db import transaction

from annotation.accounts import create_account, one_time_password
from annotation.models import Study, User
from annotation.protocols import new_study
from annotation.studies import add_people, add_versions, choose, open_study
from config.access import Role
from examples.models import Dataset, Example, Version

DATASET = "demo"
STUDY = "demo"
RECORDS = Path(settings.BASE_DIR) / "examples" / "demo" / "demo.jsonl"
ROLES = {
    "admin": Role.ADMIN,
    "curator": Role.CURATOR,
    "annotator1": Role.ANNOTATOR,
    "annotator2": Role.ANNOTATOR,
    "annotator3": Role.ANNOTATOR,
}
GUIDELINES = """\
Write the function that the instruction asks for. The context around it is given and stays as it is.

* **Run visible tests** as often as you like, or a snippet of your own.
* **Submit for the record** executes every test, also those you cannot see. You have one submission for each example.
* Work alone, and without a code assistant. Documentation of the language and its libraries is welcome.
* Leave for a while? Pause the clock.
"""


@dataclass(frozen=True)
class Progress:
    """How many of the demo's examples are checked, and how many of these are fit for a study."""

    total: int
    checked: int
    fit: int

    @property
    def done(self) -> bool:
        """Whether every example has been checked."""
        return self.checked == self.total > 0


def make_accounts() -> dict[str, str]:
    """Make the demo's accounts on a site that has none, and return their passwords, which are kept nowhere.

    Returns {} on a site that has an account already: it is somebody's own, or the demo's stand.
    """
    with transaction.atomic():
        if User.objects.exists():
            return {}
        passwords = {name: one_time_password() for name in ROLES}
        for name, role in ROLES.items():
            create_account(username=name, role=role, password=passwords[name])
    return passwords


def renew_passwords() -> dict[str, str]:
    """Give those of the demo's accounts that exist new passwords, and return them."""
    passwords = {}
    for person in User.objects.filter(username__in=ROLES).order_by("pk"):
        passwords[person.username] = one_time_password()
        person.set_password(passwords[person.username])
        person.save(update_fields=["password"])
    return passwords


def import_dataset() -> bool:
    """Import the demo's records where the site has no example at all; return whether it did."""
    if Example.objects.exists():
        return False
    call_command("import_examples", str(RECORDS), dataset=DATASET)
    return True


def progress() -> Progress:
    """Return how far the checks of the demo's current versions are."""
    states = list(
        Version.objects.filter(current_of__dataset__name=DATASET).values_list("check_state", flat=True)
    )
    waiting = (Version.CheckState.PENDING, Version.CheckState.RUNNING)
    return Progress(
        total=len(states),
        checked=sum(state not in waiting for state in states),
        fit=states.count(Version.CheckState.PASSED),
    )


def study_is_due() -> bool:
    """Return whether the demo's study still has to be opened: its dataset and people are here, and it never was."""
    here = Dataset.objects.filter(name=DATASET).exists() and User.objects.filter(username="curator").exists()
    return here and not Study.objects.filter(name=STUDY).exclude(state=Study.State.DRAFT).exists()


def open_demo_study(now: datetime) -> Study:
    """Make and open the study of the demo's fit versions with two solvers each; return it.

    Raises StudyRefused when none is fit. Run again after an interruption it goes on where it was.
    """
    curator = User.objects.get(username="curator")
    with transaction.atomic():
        study = Study.objects.filter(name=STUDY).first() or new_study(
            name=STUDY, title="Demo study", by=curator, solvers=2, guidelines=GUIDELINES
        )
        add_versions(study, choose(Example.objects.filter(dataset__name=DATASET)), by=curator)
        add_people(study, User.objects.filter(username__in=ROLES, role=Role.ANNOTATOR), by=curator)
        open_study(study, by=curator, now=now)
    return study
