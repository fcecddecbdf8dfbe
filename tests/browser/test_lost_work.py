"""Nothing is lost: network away, session over, server down, two windows, a lost answer; and what was received is shown."""

from __future__ import annotations

import hashlib
from collections.abc import Callable

import pytest
from django.contrib.sessions.models import Session
from playwright.sync_api import Browser, Page, Route, expect

from annotation.models import Attempt, Draft, Run, User
from tests.browser.eye import Eye
from tests.browser.test_second_factor import code_of
from tests.browser.test_workspace import opened, saved, text_of, write
from tests.conftest import PASSWORD

__all__ = ["opened"]

pytestmark = [pytest.mark.browser, pytest.mark.timeout(240)]

Enter = Callable[[Page, User], None]


def refuse(route: Route) -> None:
    route.abort()


def lose_answers(page: Page, pattern: str) -> Callable[[Route], None]:
    """Let the next such request arrive and its answer get lost; those after it do not even arrive. Returns the rule."""
    arrived: list[Route] = []

    def lose(route: Route) -> None:
        if not arrived:
            arrived.append(route)
            route.fetch()
        route.abort()

    page.route(pattern, lose)
    return lose


def own(eye: Eye) -> list[str]:
    """Return the troubles that are not the browser's words on a network that we took away."""
    return [each for each in eye.troubles if "net::ERR_" not in each]


def texts() -> list[str]:
    return list(Draft.objects.order_by("revision").values_list("function", flat=True))


def second_window(browser: Browser, address: str, ann: User, sign_in: Enter) -> Page:
    """Return the same attempt on another computer."""
    elsewhere = browser.new_context().new_page()
    sign_in(elsewhere, ann)
    elsewhere.goto(address)
    expect(elsewhere.locator("code-editor#solution .cm-content")).to_be_visible()
    return elsewhere


def end_the_session(page: Page) -> None:
    """End it under somebody who types: the layer that asks to sign in waits for a rest, whichever request finds out first."""
    page.locator("code-editor#solution").locator(".cm-content").click()
    page.keyboard.press("Shift")
    Session.objects.all().delete()


def test_a_conflict_shows_what_differs_and_keeps_both_texts(
    page: Page, opened: Attempt, browser: Browser, ann: User, sign_in: Enter, eye: Eye
) -> None:
    elsewhere = second_window(browser, page.url, ann, sign_in)
    eye.watch(elsewhere, refusals=True)
    write(page, "def with_tax(net):\n    return net\n")
    saved(page, 1)
    write(elsewhere, "def with_tax(net):\n    return <b>net</b> * 1.2\n")
    dialog = elsewhere.get_by_role("dialog", name="Two texts, and only you know which")
    expect(dialog.locator(".del")).to_have_text(["removed:     return net"])
    expect(dialog.locator(".add")).to_have_text(["added:     return <b>net</b> * 1.2"])
    expect(elsewhere.locator("#save")).to_have_text("Two texts: choose one")
    elsewhere.keyboard.press("Escape")
    expect(dialog).to_be_visible()
    eye.look(elsewhere, "workspace-conflict", whole=False)
    elsewhere.route("**/draft/", refuse)
    elsewhere.get_by_role("button", name="Take the saved one").click()
    expect(dialog).to_be_visible()  # its own text did not get there: it is asked again
    elsewhere.unroute("**/draft/", refuse)
    elsewhere.get_by_role("button", name="Take the saved one").click()
    saved(elsewhere, 3)
    assert text_of(elsewhere) == "def with_tax(net):\n    return net\n"
    assert [text.splitlines()[1].strip() for text in texts()] == [
        "return net",
        "return <b>net</b> * 1.2",
        "return net",
    ]
    assert own(eye) == []


def test_windows_of_one_browser_keep_journals_of_their_own(page: Page, opened: Attempt) -> None:
    other = page.context.new_page()
    other.goto(page.url)
    expect(other.locator("code-editor#solution .cm-content")).to_be_visible()
    page.route("**/draft/", refuse)
    write(page, "# typed while away\n")
    expect(page.locator("#save")).to_contain_text("Offline: kept on this computer")
    write(other, "# of the other window\n")
    saved(other, 1)
    page.close()  # its unsaved text stands in its journal alone
    other.reload()
    dialog = other.get_by_role("dialog", name="Two texts, and only you know which")
    expect(dialog.locator(".add")).to_have_text(["added: # typed while away"])
    other.get_by_role("button", name="Keep this page's").click()
    saved(other, 2)
    assert texts() == ["# of the other window\n", "# typed while away\n"]


def test_a_save_whose_answer_was_lost_is_nobody_elses(page: Page, opened: Attempt) -> None:
    rule = lose_answers(page, "**/draft/")
    write(page, "# arrived\n")
    expect(page.locator("#save")).to_contain_text("Offline: kept on this computer")
    write(page, "# arrived\n# and went on\n")
    page.reload()
    expect(page.locator("code-editor#solution .cm-content")).to_contain_text("# and went on")
    page.unroute("**/draft/", rule)
    saved(page, 2)
    expect(page.get_by_role("dialog")).to_have_count(0)
    assert texts() == ["# arrived\n", "# arrived\n# and went on\n"]


def test_an_expired_session_is_renewed_over_the_untouched_editor(
    page: Page, opened: Attempt, ann: User, eye: Eye
) -> None:
    eye.watch(page, refusals=True)
    loaded = page.evaluate("performance.timeOrigin")
    end_the_session(page)
    write(page, "# typed after the session's end\n")
    layer = page.get_by_role("dialog", name="You are signed out")
    expect(layer).to_be_visible()
    expect(page.locator("#save")).to_have_text("Signed out: kept on this computer")
    eye.look(page, "workspace-signed-out", whole=False)
    page.keyboard.press("Escape")
    expect(layer).to_be_hidden()
    page.evaluate("document.querySelector('form[action*=pause]').requestSubmit()")
    page.wait_for_timeout(500)
    assert page.evaluate("performance.timeOrigin") == loaded  # it would have led away, to the sign-in page
    page.evaluate("document.querySelector('#signed-out').showModal()")
    layer.get_by_label("Password").fill("not the one")
    layer.get_by_role("button", name="Sign in and go on").click()
    expect(layer.get_by_role("alert")).to_have_text("This password is not right.")
    layer.get_by_label("Password").fill(PASSWORD)
    page.keyboard.press("Enter")
    expect(layer).to_be_hidden()
    saved(page, 1)
    assert texts() == ["# typed after the session's end\n"]
    assert text_of(page) == "# typed after the session's end\n"
    assert page.evaluate("performance.timeOrigin") == loaded
    assert own(eye) == []


def test_a_second_factor_is_asked_for_in_the_same_layer(page: Page, opened: Attempt, ann: User) -> None:
    from allauth.mfa.totp.internal.auth import TOTP, generate_totp_secret

    secret = generate_totp_secret()
    TOTP.activate(ann, secret)
    end_the_session(page)
    write(page, "# with a second factor\n")
    layer = page.get_by_role("dialog", name="You are signed out")
    layer.get_by_label("Password").fill(PASSWORD)
    page.keyboard.press("Enter")
    layer.get_by_label("Code").fill("000000")
    page.keyboard.press("Enter")
    expect(layer.get_by_role("alert")).to_have_text("This code is not right.")
    layer.get_by_label("Code").fill(code_of(secret))
    page.keyboard.press("Enter")
    expect(layer).to_be_hidden()
    saved(page, 1)


def test_a_submission_is_one_however_often_it_is_sent_and_shows_what_arrived(
    page: Page, opened: Attempt
) -> None:
    code = "def with_tax(net):\n    return 'ü'\n"
    sha256 = hashlib.sha256(f"{code}\0".encode()).hexdigest()
    rule = lose_answers(page, "**/submit/")
    write(page, code)
    page.keyboard.press("Control+Shift+Enter")
    with page.expect_request("**/submit/") as sent:
        page.keyboard.press("Enter")
    assert f"sha256={sha256}" in str(sent.value.post_data)
    expect(page.get_by_role("alert")).to_contain_text("may not have arrived")
    page.unroute("**/submit/", rule)
    page.keyboard.press("Control+Shift+Enter")
    page.keyboard.press("Enter")
    expect(page.get_by_text("Received: 2 lines, 34 characters")).to_be_visible()
    expect(page.locator(".hash")).to_have_text(sha256)
    run = Run.objects.get(kind="submission")
    assert (run.function, run.sha256) == (code, sha256)
    answer = page.request.post(
        f"{page.url}submit/",
        form={"function": code, "module": "", "key": "other", "sha256": "0" * 64},
        headers={
            "X-CSRFToken": page.evaluate("workspace.field('csrfmiddlewaretoken').value"),
            "HX-Request": "true",
        },
    )
    assert answer.status == 422
    assert "not what the page has sent" in answer.text()
    assert Run.objects.count() == 1


def test_the_page_says_offline_and_leaves_nothing_behind_once_it_is_back(
    page: Page, opened: Attempt, eye: Eye
) -> None:
    eye.watch(page)
    page.context.set_offline(True)
    write(page, "# far from any network\n")
    page.locator("summary", has_text="Scratch run").click()
    write(page, "with_tax(3)", "scratchpad")
    expect(page.locator("#save")).to_have_text("Offline: kept on this computer, tried again")
    page.get_by_role("button", name="Pause").click()
    expect(page.get_by_role("alert").first).to_contain_text("could not be reached")
    eye.look(page, "workspace-offline", whole=False)
    page.context.set_offline(False)
    saved(page, 1)
    assert page.evaluate("Object.keys(localStorage).filter(key => key.startsWith('benchwright:draft'))") == []
    page.reload()
    expect(page.locator("code-editor#scratchpad .cm-content")).to_have_text("with_tax(3)")
    page.get_by_role("button", name="Pause").click()  # with nothing left to save
    expect(page.get_by_text("Paused. The clock stands")).to_be_visible()
    assert own(eye) == []
