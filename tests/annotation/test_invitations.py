"""ACCOUNTS: invitations: a link that works once, for a while, for a role its maker may give."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest
from django.db import IntegrityError, connection
from django.utils import timezone

from annotation.accounts import change_role, create_account, set_active
from annotation.invitations import InvitationOver, accept_invitation, find_invitation, invite, withdraw
from annotation.models import User
from config.access import Role
from tests.annotation.factories import make_study
from tests.conftest import PASSWORD


def accept(token: str, name: str = "new", **more):
    return accept_invitation(token, username=name, password=PASSWORD, now=more.get("now", timezone.now()))


def test_the_link_makes_an_account_of_its_role_in_its_study(curator):
    study = make_study(people=[])
    made = invite(role=Role.ANNOTATOR, by=curator, study=study)
    user = accept(made.token)
    assert (user.role, user.pseudonym) == ("annotator", "A-01")
    assert study.people.get().person == user
    assert user.check_password(PASSWORD)


def test_the_token_is_not_stored(curator):
    made = invite(role=Role.ANNOTATOR, by=curator)
    assert made.token not in str(vars(made.invitation))


def test_a_link_works_once(curator):
    made = invite(role=Role.ANNOTATOR, by=curator)
    accept(made.token)
    with pytest.raises(InvitationOver):
        accept(made.token, "another")


def test_a_link_is_over_after_its_time_and_when_withdrawn(curator):
    made = invite(role=Role.ANNOTATOR, by=curator)
    with pytest.raises(InvitationOver):
        accept(made.token, now=timezone.now() + timedelta(days=8))
    withdraw(made.invitation, by=curator, now=timezone.now())
    with pytest.raises(InvitationOver):
        find_invitation(made.token, now=timezone.now() + timedelta(seconds=1))


def test_a_taken_user_name_leaves_the_link_usable(curator, ann):
    made = invite(role=Role.ANNOTATOR, by=curator)
    with pytest.raises(IntegrityError):
        accept(made.token, "ann")
    assert accept(made.token).username == "new"


def test_a_curator_invites_no_curator_and_an_admin_does(curator, admin_user):
    with pytest.raises(ValueError):
        invite(role=Role.CURATOR, by=curator)
    assert accept(invite(role=Role.CURATOR, by=admin_user).token).curates


@pytest.mark.parametrize("lost", ["the role", "the account"])
def test_a_link_is_over_when_its_maker_may_no_longer_give_that_role(admin_user, lost):
    other = create_account(username="other", role=Role.ADMIN, password=PASSWORD)
    made = invite(role=Role.ADMIN, by=other)
    if lost == "the role":
        change_role(other, Role.CURATOR, by=admin_user)
    else:
        set_active(other, active=False, by=admin_user)
    with pytest.raises(InvitationOver):
        accept(made.token)


def test_an_annotator_who_curated_once_lets_nobody_in(curator, admin_user):
    made = invite(role=Role.READER, by=curator)
    change_role(curator, Role.ANNOTATOR, by=admin_user)
    with pytest.raises(InvitationOver):
        accept(made.token)


def test_of_two_who_use_one_link_at_once_one_gets_an_account(either_database):
    curator = create_account(username="c", role=Role.CURATOR, password=None)
    token = invite(role=Role.ANNOTATOR, by=curator).token

    def use(at: int) -> bool:
        try:
            accept(token, f"new{at}")
        except InvitationOver:
            return False
        finally:
            connection.close()
        return True

    with ThreadPoolExecutor(4) as pool:
        assert sum(pool.map(use, range(4))) == 1
    assert User.objects.filter(role=Role.ANNOTATOR).count() == 1
