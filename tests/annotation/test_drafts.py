"""ATTEMPT: drafts: nothing is overwritten, nothing is lost."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest
from django.db import connection
from django.utils import timezone

from annotation.accounts import create_account
from annotation.attempts import AttemptOver, Refused, give_up
from annotation.drafts import CODE_LIMIT, DraftConflict, current_draft, save_draft
from annotation.runs import run_scratch
from config.access import Role
from tests.annotation.factories import make_attempt


def test_before_the_first_save_there_is_the_starting_answer_as_revision_0(ann):
    draft = current_draft(make_attempt(ann))
    assert draft.revision == 0
    assert draft.function.startswith("def with_tax(net: float) -> float:")
    assert "RATE" not in draft.function


def test_every_save_is_a_new_revision(ann):
    attempt = make_attempt(ann)
    assert save_draft(attempt, function="a", module="", base_revision=0).revision == 1
    assert save_draft(attempt, function="b", module="import os", base_revision=1).revision == 2
    assert list(attempt.drafts.values_list("function", flat=True)) == ["a", "b"]


def test_equal_text_adds_no_revision_whatever_it_is_based_on(ann):
    attempt = make_attempt(ann)
    save_draft(attempt, function="a", module="", base_revision=0)
    assert save_draft(attempt, function="a", module="", base_revision=0).revision == 1
    assert attempt.drafts.count() == 1


def test_a_stale_page_with_other_text_is_a_conflict_that_shows_what_is_stored(ann):
    attempt = make_attempt(ann)
    save_draft(attempt, function="a", module="", base_revision=0)
    with pytest.raises(DraftConflict) as raised:
        save_draft(attempt, function="b", module="", base_revision=0)
    assert (raised.value.current.revision, raised.value.current.function) == (1, "a")
    assert attempt.drafts.count() == 1


def test_after_the_end_no_draft_is_taken_and_the_last_one_is_kept(ann):
    attempt = make_attempt(ann)
    save_draft(attempt, function="a", module="", base_revision=0)
    give_up(attempt, reason="no idea", now=timezone.now())
    with pytest.raises(AttemptOver):
        save_draft(attempt, function="b", module="", base_revision=1)
    assert current_draft(attempt).function == "a"
    again = save_draft(
        attempt, function="a", module="", base_revision=0
    )  # what a submission brought along before
    assert (again.revision, attempt.drafts.count()) == (1, 1)


def test_a_text_without_measure_is_refused(ann):
    with pytest.raises(Refused, match="200,000"):
        save_draft(make_attempt(ann), function="x" * CODE_LIMIT, module="y", base_revision=0)


def test_a_character_that_no_database_keeps_is_refused_and_not_an_error(either_database):
    attempt = make_attempt(create_account(username="p", role=Role.ANNOTATOR, password=None))
    with pytest.raises(Refused, match="NUL"):
        save_draft(attempt, function="x = '\0'", module="", base_revision=0)
    for text in ({"function": "\0"}, {"snippet": "print('\0')"}):
        with pytest.raises(Refused, match="NUL"):
            run_scratch(
                attempt,
                **{"function": "", "module": "", "snippet": "1", "key": "k"} | text,
                now=timezone.now(),
            )


def test_of_many_saves_upon_one_revision_one_wins_and_the_others_are_conflicts(either_database):
    attempt = make_attempt(create_account(username="p", role=Role.ANNOTATOR, password=None))

    def save(at: int) -> bool:
        try:
            save_draft(attempt, function=f"text {at}", module="", base_revision=0)
        except DraftConflict:
            return False
        finally:
            connection.close()
        return True

    with ThreadPoolExecutor(8) as pool:
        assert sum(pool.map(save, range(8))) == 1
    assert attempt.drafts.count() == 1
