"""Accepted alternatives hold every later version, and the gate asks for them."""

from __future__ import annotations

import pytest

from annotation.models import User
from examples.alternatives import (
    AlternativeRefused,
    accept_alternative,
    alternatives_of,
    ask_alternatives,
    withdraw_alternative,
)
from examples.models import Alternative, AlternativeRun, AuditEntry, Version
from examples.releasing.facts import facts_of
from examples.releasing.gate import CONDITIONS, NOBODY
from runner.models import Execution
from tests.factories import make_version

FUNCTION = "def add(a, b):\n    return sum([a, b])\n"


def accept(version: Version, by: User, *, sha256: str = "a" * 64) -> Alternative:
    return accept_alternative(version, function=FUNCTION, module="", sha256=sha256, reason="It adds.", by=by)


def come_to(outcome: str, **where: object) -> None:
    runs = AlternativeRun.objects.filter(**where)
    Execution.objects.filter(alternative_run__in=runs).update(state="finished", outcome=outcome)


def said(version: Version) -> tuple[bool, str]:
    facts = facts_of(Version.objects.filter(pk=version.pk))[0]
    judge = next(each for each in CONDITIONS if each.slug == "alternatives").judge
    met, finding, _ = judge(facts, NOBODY)
    return met, finding


def later(version: Version) -> Version:
    made = Version.objects.get(pk=version.pk)
    made.pk, made.number, made.content_hash = None, version.number + 1, "other"
    made.save(force_insert=True)
    return made


def test_a_version_waits_for_the_alternatives_accepted_on_it_or_before(curator):
    version = make_version()
    assert said(version) == (True, "no accepted alternative")
    accept(version, curator)
    assert said(version) == (False, "1 of 1 accepted alternatives have no outcome yet.")
    come_to("PASSED")
    assert said(version) == (True, "lets all 1 pass")
    second = later(version)
    assert not said(second)[0]
    assert ask_alternatives(second) == 1
    assert ask_alternatives(second) == 0
    come_to("FAILED", version=second)
    met, finding = said(second)
    assert not met
    assert finding.startswith("Rejects 1 of 1 accepted alternatives: aaaaaaaa came to FAILED")


def test_an_earlier_version_is_not_held_to_a_later_alternative(curator):
    version = make_version()
    accept(later(version), curator)
    assert said(version) == (True, "no accepted alternative")
    assert alternatives_of(Version.objects.all()).keys() == {Version.objects.latest("pk").pk}


def test_it_is_there_once_and_needs_a_reason(curator):
    version = make_version()
    assert accept(version, curator) == accept(version, curator)
    assert Execution.objects.count() == 1
    with pytest.raises(AlternativeRefused):
        accept_alternative(version, function="", module="", sha256="b" * 64, reason=" ", by=curator)


def test_one_that_is_withdrawn_holds_no_version_and_its_row_stays(curator):
    version = make_version()
    alternative = accept(version, curator)
    with pytest.raises(AlternativeRefused):
        withdraw_alternative(alternative, reason="", by=curator)
    assert withdraw_alternative(alternative, reason="The instruction says more now.", by=curator)
    assert not withdraw_alternative(alternative, reason="Again.", by=curator)
    assert said(version) == (True, "no accepted alternative")
    assert Alternative.objects.count() == 1
    accept(version, curator)
    assert AuditEntry.objects.filter(action__startswith="alternative").count() == 3


def test_what_stayed_unjudged_is_asked_for_again(curator):
    version = make_version()
    accept(version, curator)
    Execution.objects.update(state="unjudged", reason="no worker")
    assert ask_alternatives(version) == 1
    assert Execution.objects.get().state == "queued"
