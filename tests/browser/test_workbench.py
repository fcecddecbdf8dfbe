"""The workspace as a place to work in: panes, the function in its place, search, keys, runs compared, the study's rules."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from django.utils import timezone
from playwright.sync_api import Page, expect

from annotation.assignment import take_slot
from annotation.models import Attempt, Paste, Protocol, User
from runner.models import Environment
from tests.annotation.factories import make_study, make_version
from tests.browser.eye import NARROW, WIDE, Eye
from tests.browser.test_workspace import write

pytestmark = [pytest.mark.browser, pytest.mark.timeout(240)]

Enter = Callable[[Page, User], None]

TILL = '''"""A till."""

RATE = 0.2


def rounded(amount: float) -> float:
    """Return the amount in cents."""
    return round(amount, 2)


class Till:
    """Adds up, with tax at the RATE."""

    rate = RATE

    def __init__(self) -> None:
        self.total = 0.0

    def add(self, net: float) -> float:
        """Add a price and return the total with tax."""
        self.total = rounded(self.total + net * (1 + self.rate))
        return self.total

    def empty(self) -> None:
        self.total = 0.0


def test_add():
    till = Till()
    assert till.add(100) == 120.0
    assert till.add(50) == 180.0
    till.empty()
    assert till.add(1) == 1.2
'''
RED = "\\x1b[31mred\\x1b[0m\\x1b]8;;http://x.example\\x07link\\x1b]8;;\\x07"
WRONG = f'def add(self, net: float) -> float:\n    print("{RED}")\n    return net\n'
SLOW = "def add(self, net: float) -> float:\n    import time\n    time.sleep(2.5)\n    return net\n"


def attempt_at(person: User, **rules: object) -> Attempt:
    """Return the person's open attempt on the till, under these rules."""
    version = make_version(source=TILL, focal="Till.add", visible=2, focal_name="Till.add")
    attempt = take_slot(make_study(people=[person], versions=[version]), person, timezone.now())
    assert isinstance(attempt, Attempt)
    Protocol.objects.filter(pk=attempt.protocol_id).update(**rules)
    return attempt


def open_workspace(page: Page, site: str, attempt: Attempt) -> None:
    page.goto(f"{site}/attempts/{attempt.pk}/")
    expect(page.locator("code-editor#solution .cm-content")).to_be_visible()
    page.wait_for_load_state()


def seen(page: Page) -> list[str]:
    """Return the lines of the file as they stand from top to bottom on the right, the editors' among them."""
    found: list[str] = page.evaluate(
        """() => [...document.querySelectorAll('#work [data-around]:not([hidden]) .l, #work code-editor:not(#scratchpad)')]
        .sort((one, other) => one.getBoundingClientRect().top - other.getBoundingClientRect().top)
        .flatMap(each => each.matches('.l') ? [each.textContent] : [`<${each.id}>`])"""
    )
    return found


def test_panes_keep_their_measure_and_the_function_is_edited_in_its_place(
    site: str, page: Page, ann: User, sign_in: Enter, eye: Eye
) -> None:
    attempt = attempt_at(ann)
    sign_in(page, ann)
    eye.watch(page)
    open_workspace(page, site, attempt)
    divider = page.get_by_role("separator", name="Width of what is asked")
    expect(divider).to_have_attribute("aria-valuenow", "46")
    divider.focus()
    page.keyboard.press("Shift+ArrowRight")
    page.keyboard.press("ArrowLeft")
    expect(divider).to_have_attribute("aria-valuenow", "54")
    wide = page.locator("#asked").bounding_box()
    page.get_by_role("separator", name="Height of the editor").focus()
    page.keyboard.press("ArrowDown")
    page.reload()
    expect(divider).to_have_attribute("aria-valuenow", "54")
    again, editor = page.locator("#asked").bounding_box(), page.locator("#solution").bounding_box()
    assert wide
    assert again
    assert editor
    assert abs(wide["width"] - again["width"]) < 2
    assert editor["height"] == 22 * 16  # one step more than the 20 rem it begins with
    divider.focus()
    page.keyboard.press("Enter")
    expect(divider).to_have_attribute("aria-valuenow", "46")
    context = page.locator("[data-context] .l").all_inner_texts()
    page.locator("summary", has_text="Imports and helpers").click()
    page.get_by_role("button", name="In its place").click()
    lines = [line.strip("\u200b") for line in seen(page)]
    assert lines.index("<helpers>") == lines.index("class Till:") - 1
    assert lines.index("<solution>") == lines.index("        self.total = 0.0") + 2
    assert lines[lines.index("<solution>") + 2] == "    def empty(self) -> None:"
    header = page.locator("[data-context] .l.foc").count()
    assert len([line for line in lines if not line.startswith("<")]) + header + 1 == len(context)
    expect(page.locator("#asked #execution")).to_be_visible()
    eye.look(page, "workspace-in-place", whole=False)
    page.reload()
    expect(page.get_by_role("button", name="In its place")).to_have_attribute("aria-pressed", "true")
    page.get_by_role("button", name="In its place").click()
    assert page.locator("[data-context] .l").all_inner_texts() == context
    expect(page.locator("#asked #execution")).to_have_count(0)
    assert eye.troubles == []


def test_the_context_is_searched_and_every_key_can_be_turned_off(
    site: str, page: Page, ann: User, sign_in: Enter, eye: Eye
) -> None:
    attempt = attempt_at(ann)
    sign_in(page, ann)
    eye.watch(page)
    open_workspace(page, site, attempt)
    page.locator("code-editor#solution .cm-content").click()
    page.keyboard.press("Control+Shift+F")
    box, found = page.get_by_role("searchbox", name="Search the context"), page.locator("[data-found]")
    expect(box).to_be_focused()
    page.keyboard.type("rate")
    expect(found).to_have_text("1 of 4")
    assert page.evaluate("[...CSS.highlights.get('found')].map(String)") == ["RATE", "RATE", "rate", "RATE"]
    page.keyboard.press("Enter")
    expect(found).to_have_text("2 of 4")
    page.keyboard.press("Shift+Enter")
    page.keyboard.press("Shift+Enter")
    expect(found).to_have_text("4 of 4")
    assert page.evaluate("[...CSS.highlights.get('found-here')].map(String)") == ["RATE"]
    eye.look(page, "workspace-search", whole=False)
    page.keyboard.press("Control+A")
    page.keyboard.type("RATE")
    expect(found).to_have_text("1 of 3")
    page.keyboard.press("Escape")
    expect(found).to_be_empty()
    for part in ("execution", "asked", "solution"):
        page.keyboard.press("Shift+F6" if part == "execution" else "F6")
        assert page.evaluate("document.activeElement.id") == part
    page.keyboard.press("Escape")
    page.keyboard.press("Tab")
    page.keyboard.press("?")
    sheet = page.get_by_role("dialog", name="Keys")
    expect(sheet).to_be_visible()
    eye.look(page, "workspace-keys", whole=False)
    sheet.get_by_role("checkbox").uncheck()
    page.keyboard.press("Escape")
    page.reload()
    page.locator("h1").click()
    for key in ("?", "/", "F6", "Control+'"):
        page.keyboard.press(key)
    expect(sheet).to_be_hidden()
    assert page.evaluate("document.activeElement.id") not in ("find", "solution", "scratchpad", "execution")
    page.get_by_role("button", name="Keys").click()
    sheet.get_by_role("checkbox").check()
    page.keyboard.press("Escape")
    page.locator("h1").click()
    page.keyboard.press("/")
    expect(box).to_be_focused()
    assert eye.troubles == []


@pytest.mark.docker
def test_runs_say_how_far_they_are_and_are_compared(
    site: str, page: Page, ann: User, sign_in: Enter, eye: Eye, worker: Environment
) -> None:
    attempt = attempt_at(ann)
    sign_in(page, ann)
    eye.watch(page)
    open_workspace(page, site, attempt)
    write(page, WRONG)
    page.keyboard.press("Control+Enter")
    failed = page.locator(".tests li.bad")
    expect(failed.locator(".values")).to_have_text("left100right120.0")
    expect(page.locator("#said")).to_have_text("Visible tests, run 1: 1 failed, 1 not run.")
    printed = page.get_by_label("Printed")
    expect(printed).to_have_text("redlink\n")
    assert printed.locator("a").count() == 0
    eye.look(page, "workspace-failed", whole=False)
    write(page, SLOW)
    page.keyboard.press("Control+Enter")
    elapsed = page.locator("[data-elapsed]")
    expect(elapsed).to_contain_text("of at most 5.0 s")
    expect(page.locator("#said")).to_have_text("Visible tests, run 2: running.")
    expect(elapsed.locator("b")).to_have_text(re.compile(r"^[12]\.\d s$"))
    eye.look(page, "workspace-running", whole=False, axe=False)
    expect(page.locator("#execution")).to_have_attribute("data-running", "false")
    compare = page.locator("form.compare")
    compare.get_by_role("button", name="Show").click()
    changes = page.get_by_role("region", name="Changes of the function")
    expect(changes.locator(".add")).to_have_count(2)
    expect(changes.locator(".del")).to_have_text(["removed:     print(" + f'"{RED}")'])
    eye.look(page, "workspace-compared", whole=False)
    page.goto(f"{site}/attempts/{attempt.pk}/changes/?from=2&to=1")
    expect(page.get_by_role("heading", name="From visible tests 2 to visible tests 1")).to_be_visible()
    eye.look(page, "run-changes")
    page.goto(f"{site}/attempts/{attempt.pk}/changes/?from=2&to=9")
    expect(page.get_by_text("There is no such run")).to_be_visible()
    assert eye.troubles == []


def test_help_giving_up_and_pastes_are_as_the_protocol_says(
    site: str, page: Page, ann: User, sign_in: Enter, eye: Eye
) -> None:
    attempt = attempt_at(ann, give_up_after_seconds=600, records_pastes=True, consent_text="Sizes of pastes.")
    Attempt.objects.filter(pk=attempt.pk).update(arm="search")
    sign_in(page, ann)
    eye.watch(page, refusals=True)
    open_workspace(page, site, attempt)
    expect(page.locator("#arm")).to_contain_text("search allowed")
    expect(page.get_by_text("size and origin, never the text")).to_be_visible()
    secret = "# from an assistant\n"
    with page.expect_response("**/paste/"):
        write(page, secret)
    page.keyboard.press("Control+A")
    content = page.locator("code-editor#solution .cm-content")
    with page.expect_response("**/paste/"):
        content.evaluate(
            """(content, text) => {
              const data = new DataTransfer()
              content.dispatchEvent(new ClipboardEvent("copy", { clipboardData: data, bubbles: true, composed: true, cancelable: true }))
              const again = new DataTransfer()
              again.setData("text/plain", text)
              content.dispatchEvent(new ClipboardEvent("paste", { clipboardData: again, bubbles: true, composed: true, cancelable: true }))
            }""",
            secret,
        )
    stored = list(Paste.objects.values_list("editor", "origin", "characters", "lines"))
    assert stored == [("function", "elsewhere", 20, 2), ("function", "editor", 20, 2)]
    page.locator("summary", has_text="Give up…").click()
    expect(page.get_by_text("Offered after 10:00 of active time.")).to_be_visible()
    expect(page.get_by_role("button", name="Give up for good")).to_be_disabled()
    eye.look(page, "workspace-rules", whole=False)
    page.set_viewport_size({"width": NARROW, "height": 900})
    for menu in page.locator(".ask-menu").all():
        if menu.get_attribute("open") is None:
            menu.locator("summary").first.click()
        box = menu.locator("> :not(summary)").bounding_box()
        assert box
        assert box["x"] >= 0
        assert box["x"] + box["width"] <= NARROW
    page.set_viewport_size({"width": WIDE, "height": 900})
    page.locator("summary", has_text="Give up…").click()
    page.get_by_label("What stopped you?").fill("no idea")
    page.evaluate("document.querySelector('[data-from-active]').removeAttribute('data-from-active')")
    page.evaluate("document.querySelector('form[action*=give-up] button').disabled = false")
    page.get_by_role("button", name="Give up for good").click()
    expect(page.get_by_text("In this study giving up is offered after 10:00")).to_be_visible()
    attempt.refresh_from_db()
    assert attempt.state == "open"
    assert eye.troubles == []
