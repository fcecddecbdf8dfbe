"""On a window 390 px wide: what was asked for is in view without searching for it."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from annotation.models import Attempt, User
from tests.annotation.factories import WRONG, make_version
from tests.browser.eye import NARROW
from tests.browser.test_workspace import opened, write

__all__ = ["opened"]

pytestmark = [pytest.mark.browser, pytest.mark.timeout(240)]


def test_who_submits_is_led_to_what_comes_of_it(page: Page, opened: Attempt) -> None:
    page.set_viewport_size({"width": NARROW, "height": 700})
    write(page, WRONG)
    page.evaluate("scrollTo(0, 0)")
    page.locator("summary", has_text="Submit…").click()
    page.get_by_role("button", name="Submit for the record").click()
    expect(page.get_by_role("heading", name="Submission")).to_be_in_viewport()
    page.evaluate("scrollTo(0, 0)")
    page.reload()
    expect(page.locator("#h-sub")).to_be_attached()
    expect(page.locator("h1")).to_be_in_viewport()  # who comes back later is left where they are


def test_the_filters_of_the_list_leave_room_for_the_list(
    site: str, page: Page, curator: User, sign_in: Callable[[Page, User], None]
) -> None:
    make_version()
    sign_in(page, curator)
    page.set_viewport_size({"width": NARROW, "height": 800})
    page.goto(f"{site}/examples/")
    box = page.get_by_role("search").bounding_box()
    assert box
    assert box["height"] < 300
