"""The second factor, from setting it to taking it away, on pages of ours and in our words."""

from __future__ import annotations

import time
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from annotation.models import User
from tests.browser.eye import Eye
from tests.conftest import PASSWORD

pytestmark = [pytest.mark.browser, pytest.mark.timeout(240)]

THEIR_WORDS = ("Two-Factor", "two-factor", "Activate", "Deactivate", "authentication", "Are you sure")


def code_of(secret: str) -> str:
    """Return what an authenticator app would show now."""
    from allauth.mfa.totp.internal.auth import format_hotp_value, hotp_value

    return str(format_hotp_value(hotp_value(secret, int(time.time()) // 30)))


def test_a_second_factor_is_set_used_and_taken_away_on_our_own_pages(
    site: str, page: Page, ann: User, sign_in: Callable[[Page, User], None], eye: Eye
) -> None:
    eye.watch(page)

    def look(name: str, heading: str) -> None:
        expect(page.get_by_role("heading", level=1)).to_have_text(heading)
        words = page.locator("body").inner_text()
        assert [word for word in THEIR_WORDS if word in words] == []
        eye.look(page, name)

    page.goto(f"{site}/accounts/login/?next=/accounts/2fa/")
    page.get_by_label("Username").fill(ann.username)
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Sign in").click()
    look("factor-none", "Second factor")
    page.get_by_role("link", name="Set it").click()
    page.locator("main").get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Confirm").click()
    look("factor-set", "Set a second factor")
    secret = page.get_by_label("The same secret as text").input_value()
    page.get_by_label("Authenticator code").fill(code_of(secret))
    page.get_by_role("button", name="Set").click()
    expect(page.get_by_text("The second factor is set: signing in asks")).to_be_visible()
    look("factor-codes", "Recovery codes")
    recovery = page.get_by_label("Codes that were not used").input_value().split()
    assert len(recovery) == 10
    page.get_by_role("link", name="Back to the second factor").click()
    look("factor-is-set", "Second factor")
    expect(page.get_by_text("10 of 10 left")).to_be_visible()
    page.get_by_role("link", name="Make new ones…").click()
    look("factor-new-codes", "Make recovery codes?")
    page.context.clear_cookies()
    page.goto(f"{site}/accounts/login/?next=/accounts/2fa/totp/deactivate/")
    page.get_by_label("Username").fill(ann.username)
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Sign in").click()
    look("factor-asked", "Second factor")
    page.get_by_label("Code").fill(recovery[0])
    page.get_by_role("button", name="Sign in", exact=True).click()
    page.get_by_role("link", name="Use authenticator app or code").click()
    look("factor-confirm", "Confirm it is you")
    page.locator("main").get_by_label("Code").fill(recovery[1])
    page.get_by_role("button", name="Confirm").click()
    look("factor-away", "Take the second factor away?")
    page.get_by_role("button", name="Take it away").click()
    expect(page.get_by_text("your password alone signs you in")).to_be_visible()
    assert eye.troubles == []
