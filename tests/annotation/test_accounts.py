"""ACCOUNTS: roles, pseudonyms, passwords without e-mail."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress

import pytest
from django.db import IntegrityError, connection

from annotation import accounts
from annotation.accounts import (
    AccountRefused,
    change_role,
    create_account,
    one_time_password,
    reset_password,
    set_active,
)
from annotation.models import User
from annotation.tokens import make_token
from config.access import Role
from examples.models import AuditEntry
from tests.conftest import PASSWORD


def test_pseudonyms_count_up_by_role(ann, ben, curator):
    assert [ann.pseudonym, ben.pseudonym, curator.pseudonym] == ["A-01", "A-02", "C-01"]


def test_a_user_name_is_given_once(ann):
    with pytest.raises(IntegrityError):
        create_account(username="ann", role=Role.ANNOTATOR, password=PASSWORD)


def test_another_role_keeps_the_pseudonym_and_is_audited(ann, admin_user):
    change_role(ann, Role.ADMIN, by=admin_user)
    ann.refresh_from_db()
    assert (ann.role, ann.is_staff, ann.pseudonym) == ("admin", True, "A-01")
    assert AuditEntry.objects.get(action="change role").detail == {"before": "annotator", "after": "admin"}
    change_role(ann, Role.READER, by=admin_user)
    assert not ann.is_superuser


def test_nobody_changes_their_own_role_or_locks_themselves_out(admin_user):
    with pytest.raises(AccountRefused):
        change_role(admin_user, Role.READER, by=admin_user)
    with pytest.raises(AccountRefused):
        set_active(admin_user, active=False, by=admin_user)


def test_the_last_admin_who_can_sign_in_stays(admin_user):
    other = create_account(username="other", role=Role.ADMIN, password=None)
    set_active(other, active=False, by=admin_user)
    with pytest.raises(AccountRefused, match="last admin"):
        change_role(admin_user, Role.READER, by=other)


DEMOTIONS = {
    "another role": lambda person, by: change_role(person, Role.READER, by=by),
    "locked out": lambda person, by: set_active(person, active=False, by=by),
}


@pytest.mark.parametrize("how", DEMOTIONS)
def test_two_admins_who_demote_each_other_at_once_leave_one(either_database, how, monkeypatch):
    """Each has looked before either has written, wherever looking does not wait for the other."""
    admins = [create_account(username=name, role=Role.ADMIN, password=None) for name in ("one", "two")]
    honest, looked = accounts._refuse_own_or_last, threading.Barrier(2)

    def look(*arguments, **named):
        honest(*arguments, **named)
        with suppress(threading.BrokenBarrierError):
            looked.wait(0.5)

    monkeypatch.setattr(accounts, "_refuse_own_or_last", look)

    def demote(at: int) -> str:
        try:
            DEMOTIONS[how](User.objects.get(pk=admins[1 - at].pk), User.objects.get(pk=admins[at].pk))
        except AccountRefused as refused:
            return str(refused)
        finally:
            connection.close()
        return "done"

    with ThreadPoolExecutor(2) as pool:
        said = sorted(pool.map(demote, range(2)))
    assert User.objects.filter(role=Role.ADMIN, is_active=True).count() == 1
    assert said[1] == "done"
    assert "last admin" in said[0]


def test_a_one_time_password_leads_nowhere_but_to_a_new_one(client, ann, admin_user):
    password = reset_password(ann, by=admin_user)
    assert client.login(username="ann", password=password)
    assert client.get("/").url == "/accounts/password/change/"
    form = {"oldpassword": password, "password1": "a very new phrase", "password2": "a very new phrase"}
    client.post("/accounts/password/change/", form)
    ann.refresh_from_db()
    assert not ann.must_change_password
    assert ann.check_password("a very new phrase")


def test_the_old_password_is_over_after_a_reset(client, ann, admin_user):
    reset_password(ann, by=admin_user)
    assert not client.login(username="ann", password=PASSWORD)


def test_tokens_are_over_after_a_reset(reader, admin_user):
    """Whoever knew the old password may have made one, which would outlive it by a year."""
    make_token(reader, name="script", scopes=["releases:read"], days=365)
    reset_password(reader, by=admin_user)
    assert not reader.auth_token_set.exists()


def test_one_time_passwords_can_be_read_out_and_differ():
    made = {one_time_password() for _ in range(50)}
    assert len(made) == 50
    assert not set("".join(made)) & set("0O1lI")


def test_who_is_deactivated_cannot_sign_in(client, ann, admin_user):
    set_active(ann, active=False, by=admin_user)
    assert not client.login(username="ann", password=PASSWORD)
    set_active(ann, active=True, by=admin_user)
    assert client.login(username="ann", password=PASSWORD)
