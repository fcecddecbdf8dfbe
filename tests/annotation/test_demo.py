"""The demo: accounts once, the study opened as soon as every version has been checked, and nothing done twice."""

from __future__ import annotations

from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.utils import timezone
from kombu.exceptions import OperationalError

from annotation import demo
from annotation.models import Slot, Study, User
from annotation.studies import StudyRefused
from config.access import Role
from examples.models import Version
from tests.factories import make_version


def test_an_empty_site_gets_five_accounts_whose_passwords_work(db: None):
    passwords = demo.make_accounts()
    assert sorted(passwords) == ["admin", "annotator1", "annotator2", "annotator3", "curator"]
    assert len(set(passwords.values())) == 5
    for name, word in passwords.items():
        assert User.objects.get(username=name).check_password(word)
    assert User.objects.get(username="admin").role == Role.ADMIN


def test_a_site_with_an_account_gets_none(curator: User):
    assert demo.make_accounts() == {}
    assert list(User.objects.all()) == [curator]


def test_new_passwords_replace_the_old_ones(db: None):
    before = demo.make_accounts()
    out = StringIO()
    call_command("demo_passwords", stdout=out)
    person = User.objects.get(username="annotator2")
    assert not person.check_password(before["annotator2"])
    word = dict(line.split() for line in out.getvalue().splitlines())["annotator2"]
    assert person.check_password(word)


def test_a_site_without_the_demo_has_no_passwords_to_renew(curator: User):
    User.objects.filter(pk=curator.pk).update(username="cleo")
    with pytest.raises(CommandError):
        call_command("demo_passwords")


def test_a_site_with_examples_of_its_own_gets_no_demo_dataset(db: None):
    make_version("own", dataset="own")
    assert demo.import_dataset() is False


def test_progress_counts_what_is_checked_and_what_is_fit(db: None):
    make_version("fit")
    waiting = make_version("waiting", checked=False)
    assert demo.progress() == demo.Progress(total=2, checked=1, fit=1)
    assert not demo.progress().done
    Version.objects.filter(pk=waiting.pk).update(check_state=Version.CheckState.FAILED)
    assert demo.progress().done


def test_no_example_is_not_done(db: None):
    assert not demo.progress().done


def test_study_opens_over_the_fit_versions_only(db: None):
    demo.make_accounts()
    fit = make_version("fit")
    unfit = make_version("unfit", checked=False)
    Version.objects.filter(pk=unfit.pk).update(
        check_state=Version.CheckState.FAILED, failed_checks="reference"
    )
    assert demo.study_is_due()
    call_command("open_demo_study", stdout=StringIO())
    study = Study.objects.get(name="demo")
    assert (study.state, study.protocol.solvers) == (Study.State.OPEN, 2)
    assert list(study.slots.values_list("version", "number")) == [(fit.pk, 1), (fit.pk, 2)]
    assert study.people.count() == 3


def test_opening_again_changes_nothing(db: None):
    demo.make_accounts()
    make_version("fit")
    call_command("open_demo_study", stdout=StringIO())
    before = list(Slot.objects.values())
    out = StringIO()
    call_command("open_demo_study", stdout=out)
    assert out.getvalue() == ""
    assert list(Slot.objects.values()) == before


def test_a_closed_demo_study_stays_closed(db: None):
    demo.make_accounts()
    make_version("fit")
    call_command("open_demo_study", stdout=StringIO())
    Study.objects.update(state=Study.State.CLOSED, closed_at=timezone.now())
    assert not demo.study_is_due()


def test_study_stays_closed_when_no_version_is_fit(db: None):
    demo.make_accounts()
    unfit = make_version("unfit", checked=False)
    Version.objects.filter(pk=unfit.pk).update(check_state=Version.CheckState.FAILED)
    with pytest.raises(StudyRefused):
        demo.open_demo_study(timezone.now())
    out = StringIO()
    call_command("open_demo_study", stdout=out)
    assert "stays closed" in out.getvalue()
    assert not Study.objects.exists()


def test_first_admin_is_made_from_the_shell_and_must_choose_a_password(db: None):
    out = StringIO()
    call_command("create_account", "adam", stdout=out)
    adam = User.objects.get(username="adam")
    assert adam.role == Role.ADMIN
    assert adam.must_change_password
    assert adam.check_password(out.getvalue().strip())
    with pytest.raises(CommandError, match="already"):
        call_command("create_account", "adam")


def test_prepared_site_has_the_demo_and_prints_its_passwords_once(db: None, settings: Any, tmp_path: Path):
    settings.DATA_DIR, settings.STATIC_ROOT = tmp_path, tmp_path / "static"
    out = StringIO()
    call_command("prepare_site", without_engine=True, stdout=out)
    word = dict(line.split() for line in out.getvalue().splitlines() if line.startswith("    "))["curator"]
    assert User.objects.get(username="curator").check_password(word)
    assert demo.progress().total >= 16
    again = StringIO()
    call_command("prepare_site", without_engine=True, stdout=again)
    assert again.getvalue() == ""


def test_prepare_site_can_leave_the_demo_out(db: None, settings: Any, tmp_path: Path):
    settings.DATA_DIR, settings.STATIC_ROOT = tmp_path, tmp_path / "static"
    call_command("prepare_site", without_engine=True, without_demo=True, stdout=StringIO())
    assert not User.objects.exists()
    assert demo.progress().total == 0


def test_import_while_no_queue_answers_says_when_the_checks_begin(db: None, monkeypatch: pytest.MonkeyPatch):
    def down() -> None:
        raise OperationalError("no such socket")

    monkeypatch.setattr("examples.management.commands.import_examples.wake_bulk_work", down)
    out = StringIO()
    call_command("import_examples", str(demo.RECORDS), dataset="demo", stdout=out)
    assert "the checks begin when the site runs" in out.getvalue()
    assert demo.progress().total >= 16
