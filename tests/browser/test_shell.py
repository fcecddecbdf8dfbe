"""The shell in a real browser: nothing axe objects to, nothing the policy refuses, and the appearance kept."""

from __future__ import annotations

import time
from collections.abc import Callable

import pytest
from playwright.sync_api import Browser, Page, Route, expect

from annotation.models import User
from tests.conftest import PASSWORD

pytestmark = pytest.mark.browser

# Colours do not depend on the width: each of both is looked at once.
LOOKS = [("light", 1360), ("dark", 390)]
Enter = Callable[[Page, User], None]
Watch = Callable[[Page], list[str]]
Check = Callable[[Page], list[str]]


@pytest.fixture(params=LOOKS, ids=lambda look: f"{look[0]}-{look[1]}")
def look(request: pytest.FixtureRequest, browser: Browser) -> Page:
    """A page in one appearance and width."""
    scheme, width = request.param
    return browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme).new_page()


def too_wide(page: Page) -> bool:
    return bool(page.evaluate("document.documentElement.scrollWidth > innerWidth"))


def test_the_sign_in_page_and_its_errors_hold(
    site: str, look: Page, ann: User, axe: Check, watched: Watch
) -> None:
    said = watched(look)
    look.goto(f"{site}/accounts/login/?kept=1")
    assert axe(look) == []
    look.get_by_label("Username").fill("ann")
    look.get_by_label("Password").fill("wrong")
    look.get_by_role("button", name="Sign in and go on").click()
    expect(look.get_by_role("alert")).to_be_visible()
    assert axe(look) == []
    assert not too_wide(look)
    assert said == []


def test_the_component_sheet_holds(
    site: str, look: Page, curator: User, sign_in: Enter, axe: Check, watched: Watch
) -> None:
    said = watched(look)
    sign_in(look, curator)
    look.goto(f"{site}/kit/")
    expect(look.get_by_role("textbox", name="Editor, Python")).to_be_visible()
    assert axe(look) == []
    assert not too_wide(look)
    assert said == []


def test_every_account_page_holds(
    site: str, page: Page, ann: User, sign_in: Enter, axe: Check, watched: Watch
) -> None:
    said = watched(page)
    for path in ("password/reset/", "signup/", "password/change/", "2fa/", "logout/", "reauthenticate/"):
        if path == "password/change/":
            sign_in(page, ann)
        page.goto(f"{site}/accounts/{path}")
        expect(page.get_by_role("heading", level=1)).to_be_visible()
        assert axe(page) == [], path
    assert said == []


def test_a_second_factor_can_be_set_under_the_policy(
    site: str, page: Page, ann: User, sign_in: Enter, axe: Check, watched: Watch
) -> None:
    from allauth.mfa.totp.internal.auth import format_hotp_value, hotp_value

    said = watched(page)
    sign_in(page, ann)
    page.goto(f"{site}/accounts/2fa/totp/activate/")
    page.locator("main").get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Confirm").click()
    expect(page.get_by_role("img", name="QR code of the secret below")).to_be_visible()
    assert page.evaluate("document.querySelector('.qr svg').getBoundingClientRect().width") > 100
    assert axe(page) == []
    secret = page.get_by_label("The same secret as text").input_value()
    counter = int(time.time()) // 30
    page.get_by_label("Authenticator code").fill(format_hotp_value(hotp_value(secret, counter)))
    page.get_by_role("button", name="Set").click()
    expect(page.get_by_text("recovery codes").first).to_be_visible()
    assert said == []


def test_the_chosen_appearance_holds_from_the_first_paint_of_the_next_page(
    site: str, page: Page, ann: User, sign_in: Enter
) -> None:
    page.emulate_media(color_scheme="light")
    sign_in(page, ann)
    page.goto(f"{site}/accounts/password/change/")
    page.locator("details.menu summary").click()
    page.get_by_label("Dark").check()
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(18, 21, 26)"
    page.add_init_script(
        "document.addEventListener('readystatechange', () => { window.atFirst ??= document.documentElement.dataset.theme })"
    )
    page.reload()
    assert page.evaluate("window.atFirst") == "dark"
    page.locator("details.menu summary").click()
    expect(page.get_by_label("Dark")).to_be_checked()
    page.keyboard.press("Escape")
    expect(page.get_by_label("Dark")).to_be_hidden()


def test_signing_out_is_one_click_in_the_menu(site: str, page: Page, ann: User, sign_in: Enter) -> None:
    sign_in(page, ann)
    page.goto(f"{site}/accounts/password/change/")
    page.locator("details.menu summary").click()
    with page.expect_response("**/accounts/logout/"):
        page.get_by_role("button", name="Sign out").click()
    page.wait_for_load_state()
    page.goto(f"{site}/accounts/password/change/")
    expect(page.get_by_role("heading", name="Sign in")).to_be_visible()


def test_skip_link_is_the_first_stop_and_leads_to_the_content(site: str, page: Page) -> None:
    page.goto(f"{site}/accounts/login/")
    page.evaluate("document.activeElement.blur()")
    page.keyboard.press("Tab")
    expect(page.get_by_role("link", name="Skip to content")).to_be_focused()
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "main"


def asks(page: Page, address: str) -> None:
    """Let htmx fetch an address into the page head."""
    page.evaluate(
        "address => { htmx.ajax('GET', address, {target: '.pagehead', swap: 'innerHTML'}) }", address
    )


def test_a_request_after_the_session_ended_asks_to_sign_in_and_leaves_the_page_alone(
    site: str, page: Page, curator: User, sign_in: Enter, axe: Check
) -> None:
    sign_in(page, curator)
    page.goto(f"{site}/kit/")
    page.get_by_label("Label").fill("not sent yet")
    page.context.clear_cookies()
    asks(page, f"{site}/kit/")
    layer = page.get_by_role("dialog", name="You are signed out")
    expect(layer).to_be_visible()
    expect(layer.get_by_role("link", name="Sign in in a new tab")).to_have_attribute("target", "_blank")
    assert axe(page) == []
    layer.get_by_role("button", name="Not now").click()
    expect(layer).to_be_hidden()
    expect(page.get_by_label("Label")).to_have_value("not sent yet")
    expect(page.get_by_role("heading", level=1)).to_have_text("Component sheet")


@pytest.mark.parametrize(
    ("status", "words"),
    [(403, "This was refused"), (500, "Something of ours failed"), (0, "could not be reached")],
)
def test_a_request_that_does_not_come_through_says_why(
    status: int, words: str, site: str, page: Page, curator: User, sign_in: Enter
) -> None:
    def answer(route: Route) -> None:
        route.fulfill(status=status, body="") if status else route.abort()

    sign_in(page, curator)
    page.goto(f"{site}/kit/")
    page.route("**/elsewhere/", answer)
    asks(page, f"{site}/elsewhere/")
    expect(page.locator("#messages").get_by_role("alert")).to_contain_text(words)
    expect(page.get_by_role("heading", level=1)).to_have_text("Component sheet")


def test_an_answer_of_422_is_swapped_in(site: str, page: Page, curator: User, sign_in: Enter) -> None:
    sign_in(page, curator)
    page.goto(f"{site}/kit/")
    page.route("**/elsewhere/", lambda route: route.fulfill(status=422, body="<h1>One thing is missing</h1>"))
    asks(page, f"{site}/elsewhere/")
    expect(page.get_by_role("heading", level=1)).to_have_text("One thing is missing")


def test_a_page_older_than_the_sign_in_still_sends_the_newest_token(
    site: str, page: Page, curator: User, sign_in: Enter
) -> None:
    sign_in(page, curator)
    page.goto(f"{site}/kit/")
    newest = "n" * 32
    page.context.add_cookies([{"name": "csrftoken", "value": newest, "url": site}])
    with page.expect_request("**/accounts/logout/") as asked:
        page.evaluate("htmx.ajax('POST', '/accounts/logout/', {target: '.pagehead'})")
    assert asked.value.headers["x-csrftoken"] == newest


def test_signing_in_by_the_form_works_on_either_database(
    either_database: str, site: str, page: Page, ann: User
) -> None:
    page.goto(f"{site}/accounts/login/?next=/accounts/password/change/")
    page.get_by_label("Username").fill("ann")
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Sign in").click()
    expect(page.get_by_role("heading", name="Change password")).to_be_visible()
    expect(page.locator("details.menu summary")).to_contain_text(ann.pseudonym)
