"""Saving that is refused, in a real browser: the page says why, keeps the text, and sends it once it may."""

from __future__ import annotations

import pytest
from django.utils import timezone
from playwright.sync_api import Page, expect

from annotation import beats, limits
from annotation.models import Attempt, Draft
from annotation.runs import run_scratch
from tests.annotation.factories import finish
from tests.browser.test_workspace import opened, text_of, write

__all__ = ["opened"]

pytestmark = [pytest.mark.browser, pytest.mark.timeout(240)]


def test_a_window_that_is_still_open_saves_nothing_off_the_clock_and_loses_nothing(
    page: Page, opened: Attempt
) -> None:
    page.route("**/beat/", lambda route: route.abort())  # the window hears of the pause by saving
    page.wait_for_load_state("networkidle")  # also a beat that was under way
    beats.pause(opened, now=timezone.now())
    write(page, "off the clock")
    expect(page.locator("#save")).to_contain_text("clock is stopped")
    assert not opened.drafts.exists()
    page.unroute("**/beat/")
    page.evaluate("document.dispatchEvent(new Event('visibilitychange'))")  # it beats, and hears of the pause
    expect(page.get_by_role("button", name="Go on")).to_be_visible()
    page.get_by_role("button", name="Go on").click()
    expect(page.locator("#save")).to_contain_text("revision 1")
    assert text_of(page) == "off the clock"
    assert opened.drafts.get().function == "off the clock"


def test_a_draft_that_is_one_too_many_stays_on_the_page_and_is_sent_later(
    page: Page, opened: Attempt
) -> None:
    number = limits.DRAFTS_PER_MINUTE
    Draft.objects.bulk_create(Draft(attempt=opened, revision=at, function="x") for at in range(1, number + 1))
    page.reload()
    write(page, "one more")
    expect(page.locator("#save.warn")).to_contain_text(f"Saved {number} times in a minute. Kept on this")
    Draft.objects.update(saved_at=timezone.now() - limits.MINUTE)
    expect(page.locator("#save")).to_contain_text(f"revision {number + 1}")
    assert opened.drafts.last().function == "one more"


def test_a_text_that_cannot_be_kept_is_no_end(page: Page, opened: Attempt) -> None:
    write(page, "x" * 200_001)
    expect(page.locator("#save.warn")).to_contain_text("longer than 200,000 characters")
    write(page, "shorter")
    expect(page.locator("#save")).to_contain_text("revision 1")


def test_a_run_that_is_one_too_many_is_refused_on_the_panel(page: Page, opened: Attempt) -> None:
    for at in range(limits.RUNS_PER_MINUTE):
        finish(run_scratch(opened, function="x", module="", snippet="1", key=f"k{at}", now=timezone.now()))
    page.keyboard.press("Control+Enter")
    expect(page.get_by_role("alert")).to_contain_text("runs in a minute are the most. Run again in")
