"""One annotator solves an example in a real browser, run by a real worker in real containers; nothing is lost on the way."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import APIResponse, Browser, Page, Route, WebSocket, expect

from annotation.assignment import take_slot
from annotation.models import Attempt, Draft, User
from runner.models import Environment
from tests.annotation.factories import RIGHT, WRONG, make_study, make_version

pytestmark = [pytest.mark.browser, pytest.mark.timeout(240)]

Enter = Callable[[Page, User], None]
Watch = Callable[[Page], list[str]]
Check = Callable[[Page], list[str]]

SLOW = '''"""Counting."""

import time


def step(number: int) -> int:
    """Return the number after this one."""
    return number + 1


def test_step():
    assert step(1) == 2
    time.sleep(0.8)
    assert step(2) == 3
    time.sleep(0.8)
    assert step(3) == 4
    assert step(4) == 5
'''


PASTE = """(content, text) => {
  const data = new DataTransfer()
  data.setData("text/plain", text)
  content.dispatchEvent(new ClipboardEvent("paste", { clipboardData: data, bubbles: true, composed: true, cancelable: true }))
}"""


def write(page: Page, text: str, editor: str = "solution") -> None:
    """Replace an editor's text as a person would: select all, paste."""
    content = page.locator(f"code-editor#{editor}").locator(".cm-content")
    content.click()
    page.keyboard.press("Control+A")
    content.evaluate(PASTE, text)


def text_of(page: Page, editor: str = "solution") -> str:
    return str(page.locator(f"code-editor#{editor}").evaluate("editor => editor.value"))


def saved(page: Page, revision: int) -> None:
    expect(page.locator("#save")).to_contain_text(f"revision {revision}", timeout=10_000)


@pytest.fixture
def opened(site: str, page: Page, ann: User, sign_in: Enter) -> Attempt:
    """The workspace of a new attempt of ann's, open in the browser."""
    study = make_study(people=[ann], guidelines="Be *quick*.")
    sign_in(page, ann)
    page.goto(f"{site}/work/")
    page.get_by_role("button", name="Next example").click()
    expect(page.locator("code-editor#solution .cm-content")).to_be_visible()
    page.wait_for_load_state()  # the editor is there before htmx has bound the buttons; a key would then send the form
    return Attempt.objects.get(slot__study=study)


@pytest.mark.docker
def test_an_example_is_solved_from_the_first_look_to_the_verdict(
    site: str, page: Page, ann: User, sign_in: Enter, worker: Environment, watched: Watch
) -> None:
    said = watched(page)
    study = make_study(people=[ann], submissions=2)
    sign_in(page, ann)
    page.goto(site)
    page.get_by_role("button", name="Next example").click()
    tests = page.locator(".tests li")
    expect(tests).to_have_count(1)
    expect(tests.first).to_contain_text("to run")
    write(page, WRONG)
    page.keyboard.press("Control+Enter")
    expect(tests.first).to_contain_text("failed", timeout=20_000)
    expect(tests.first.locator(".values")).to_contain_text("120.0")
    write(page, RIGHT)
    page.keyboard.press("Control+Enter")
    expect(tests.first).to_contain_text("passed", timeout=20_000)
    expect(page.locator(".runs li")).to_have_count(2)
    expect(page.locator("summary.primary")).to_have_text("Submit…")
    page.keyboard.press("Control+'")
    page.keyboard.insert_text("with_tax(200)")
    page.keyboard.press("Control+Enter")
    expect(page.locator(".output").last).to_contain_text("240.0", timeout=20_000)
    page.locator("summary", has_text="Submit…").click()
    page.get_by_role("button", name="Submit for the record").click()
    expect(page.get_by_text("Every test passed")).to_be_visible(timeout=20_000)
    expect(page.locator("#execution")).to_contain_text("1 of 1")
    page.get_by_role("link", name="Say how it went").click()
    expect(page.get_by_label(re.compile("^Solved"))).to_be_checked()
    page.get_by_label("requires effort").check()
    page.get_by_role("group", name="Is the instruction clear enough?").get_by_role("radio").first.check()
    page.get_by_role("group", name="Could the tests reject correct work?").get_by_role("radio").first.check()
    page.get_by_role("button", name="Close the attempt").click()
    expect(page.get_by_role("heading", name="My work")).to_be_visible()
    attempt = Attempt.objects.get(slot__study=study)
    assert (attempt.state, attempt.verdict.outcome, attempt.verdict.solved) == ("closed", "solved", True)
    assert said == []


@pytest.mark.docker
def test_rows_arrive_one_by_one_and_errors_are_marked_at_the_editors_line(
    site: str, page: Page, ann: User, sign_in: Enter, worker: Environment
) -> None:
    version = make_version(source=SLOW, focal="step", visible=4)
    attempt = take_slot(make_study(people=[ann], versions=[version]), ann, version.created_at)
    assert isinstance(attempt, Attempt)
    sign_in(page, ann)
    page.goto(f"{site}/attempts/{attempt.pk}/")
    write(page, "def step(number: int) -> int:\n    return number + 1\n")
    page.keyboard.press("Control+Enter")
    passed = page.locator(".tests li.ok")
    for count in (1, 2, 4):
        expect(passed).to_have_count(count, timeout=20_000)
    write(page, "def step(number: int) -> int:\n\n    return number + missing\n")
    page.keyboard.press("Control+Enter")
    expect(page.locator(".tests li.bad")).to_contain_text("NameError", timeout=20_000)
    expect(page.locator("code-editor#solution .cm-notes")).to_contain_text("line 3")
    # The same once more: running clears the marks, and its outcome brings them back.
    page.keyboard.press("Control+Enter")
    expect(page.locator("#execution")).to_have_attribute("data-runs", "3", timeout=20_000)
    expect(page.locator("#execution")).to_have_attribute("data-running", "false", timeout=20_000)
    expect(page.locator("code-editor#solution .cm-notes")).to_contain_text("line 3")
    write(page, "def step(number: int) -> int\n    return 1\n")
    page.keyboard.press("Control+Enter")
    expect(page.get_by_text("The code could not be loaded")).to_be_visible(timeout=20_000)
    expect(page.locator("code-editor#solution .cm-notes")).to_contain_text("line 1")


PEEK = """def with_tax(net: float) -> float:
    import sys
    print(sys._getframe(1).f_code.co_consts)
    print(sys._getframe(1).f_code.co_consts, file=sys.stderr)
    raise ValueError(sys._getframe(1).f_code.co_consts)
"""


@pytest.mark.docker
def test_a_submission_that_prints_the_hidden_tests_shows_nothing_of_them(
    site: str, page: Page, opened: Attempt, worker: Environment
) -> None:
    write(page, PEEK)
    page.locator("summary", has_text="Submit…").click()
    page.get_by_role("button", name="Submit for the record").click()
    expect(page.locator("#execution")).to_contain_text("0 of 1", timeout=30_000)
    assert "23.99" not in page.content()
    assert "19.99" not in page.content()
    page.goto(f"{site}/attempts/{opened.pk}/verdict/")
    assert "23.99" not in page.content()


@pytest.mark.docker
def test_without_a_socket_the_page_asks_by_itself(page: Page, opened: Attempt, worker: Environment) -> None:
    page.route_web_socket("**/ws/**", lambda socket: None)
    page.reload()
    expect(page.locator("code-editor#solution .cm-content")).to_be_visible()
    write(page, RIGHT)
    page.keyboard.press("Control+Enter")
    expect(page.locator(".tests li.ok")).to_have_count(1, timeout=30_000)


@pytest.mark.docker
def test_an_answer_that_comes_after_the_outcome_does_not_hide_it(
    page: Page, opened: Attempt, worker: Environment
) -> None:
    kept: list[tuple[Route, APIResponse]] = []
    page.route("**/run/", lambda route: kept.append((route, route.fetch())))
    page.evaluate("document.dispatchEvent(new Event('htmx:wsClose'))")  # so that the answer holds a panel
    write(page, RIGHT)
    page.keyboard.press("Control+Enter")
    expect(page.locator(".tests li.ok")).to_have_count(1, timeout=20_000)
    ((route, answer),) = kept
    assert 'data-running="true"' in answer.text()
    with page.expect_response("**/run/"):
        route.fulfill(response=answer)
    page.evaluate("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")
    expect(page.locator("#execution")).to_have_attribute("data-running", "false")
    expect(page.locator(".tests li.ok")).to_have_count(1)


@pytest.mark.docker
def test_with_a_socket_the_page_says_at_once_that_something_runs(
    page: Page, opened: Attempt, worker: Environment
) -> None:
    kept: list[Route] = []
    page.route("**/run/", lambda route: kept.append(route))
    write(page, RIGHT)
    page.keyboard.press("Control+Enter")
    expect(page.locator("#execution")).to_have_attribute("data-running", "true")
    with page.expect_response("**/run/") as answer:
        kept[0].continue_()
    assert answer.value.status == 204
    expect(page.locator(".tests li.ok")).to_have_count(1, timeout=20_000)
    expect(page.locator("#execution")).to_have_attribute("data-running", "false")


def test_a_run_that_cannot_be_asked_for_does_not_seem_to_run(page: Page, opened: Attempt) -> None:
    page.route("**/run/", lambda route: route.abort())
    page.keyboard.press("Control+Enter")
    expect(page.get_by_role("alert")).to_contain_text("could not be reached")
    expect(page.locator("#execution")).to_have_attribute("data-running", "false")


def test_a_draft_survives_reload_and_a_second_sign_in(
    site: str, page: Page, opened: Attempt, browser: Browser, ann: User, sign_in: Enter
) -> None:
    write(page, "def with_tax(net):\n    return 1  # mine\n")
    saved(page, 1)
    page.reload()
    assert "# mine" in text_of(page)
    elsewhere = browser.new_context().new_page()
    sign_in(elsewhere, ann)
    elsewhere.goto(f"{site}/attempts/{opened.pk}/")
    expect(elsewhere.locator("code-editor#solution .cm-content")).to_contain_text("# mine")


def test_text_typed_without_a_network_is_kept_and_sent_later(page: Page, opened: Attempt) -> None:
    def refuse(route: Route) -> None:
        route.abort()

    page.route("**/draft/", refuse)
    write(page, "def with_tax(net):\n    return 2  # offline\n")
    expect(page.locator("#save")).to_contain_text("Offline: kept on this computer", timeout=10_000)
    assert not Draft.objects.exists()
    page.reload()
    expect(page.locator("code-editor#solution .cm-content")).to_contain_text("# offline")
    page.unroute("**/draft/", refuse)
    saved(page, 1)
    assert "# offline" in Draft.objects.get().function


def test_of_two_texts_neither_is_lost_and_the_person_chooses(
    site: str, page: Page, opened: Attempt, browser: Browser, ann: User, sign_in: Enter
) -> None:
    elsewhere = browser.new_context().new_page()
    sign_in(elsewhere, ann)
    elsewhere.goto(f"{site}/attempts/{opened.pk}/")
    expect(elsewhere.locator("code-editor#solution .cm-content")).to_be_visible()
    write(page, "# first\n")
    saved(page, 1)
    write(elsewhere, "# second\n")
    dialog = elsewhere.get_by_role("dialog")
    expect(dialog).to_be_visible(timeout=10_000)
    expect(elsewhere.get_by_label("On this page")).to_have_value("# second\n")
    expect(elsewhere.get_by_label("Saved on the server")).to_have_value("# first\n")
    elsewhere.get_by_role("button", name="Keep this page's").click()
    saved(elsewhere, 2)
    assert list(Draft.objects.values_list("function", flat=True)) == ["# first\n", "# second\n"]


def test_leaving_the_page_sends_what_was_typed(site: str, page: Page, opened: Attempt) -> None:
    write(page, "# on the way out\n")
    page.goto(f"{site}/work/")
    for _ in range(50):
        if Draft.objects.exists():
            break
        page.wait_for_timeout(100)
    assert Draft.objects.get().function == "# on the way out\n"


def test_pausing_keeps_the_text_and_locks_the_page(page: Page, opened: Attempt) -> None:
    write(page, "# before the pause\n")
    page.get_by_role("button", name="Pause").click()
    expect(page.get_by_text("Paused. The clock stands")).to_be_visible()
    expect(page.get_by_role("heading", name="Instruction")).to_be_hidden()
    assert Draft.objects.get().function == "# before the pause\n"
    page.get_by_role("button", name="Go on").click()
    expect(page.get_by_role("button", name="Pause")).to_be_visible()
    assert opened.pauses.get().ended_at is not None


def test_beats_come_by_themselves_and_the_keys_are_a_question_mark_away(page: Page, opened: Attempt) -> None:
    with page.expect_response("**/beat/"):
        page.reload()
    assert opened.beats.exists()
    page.locator("h1").click()
    page.keyboard.press("?")
    expect(page.get_by_role("dialog", name="Keys")).to_be_visible()
    page.keyboard.press("Escape")
    write(page, "# a ? in the editor\n")
    expect(page.get_by_role("dialog", name="Keys")).to_be_hidden()


def test_signing_out_elsewhere_closes_the_socket_and_keeps_the_text(
    site: str, page: Page, opened: Attempt, ann: User
) -> None:
    heard: list[WebSocket] = []
    page.on("websocket", lambda socket: socket.on("framereceived", lambda _: heard.append(socket)))
    page.reload()
    while (
        not heard or heard[-1].is_closed()
    ):  # a first frame says that the server listens for this person's leaving
        page.wait_for_timeout(50)
    other = page.context.new_page()
    other.goto(f"{site}/work/")
    with heard[-1].expect_event("close", predicate=lambda _: True):
        other.locator("details.menu summary").click()
        other.get_by_role("button", name="Sign out").click()
    write(page, "# signed out\n")
    expect(page.get_by_role("dialog", name="You are signed out")).to_be_visible(timeout=10_000)
    expect(page.locator("#save")).to_contain_text("kept on this computer")


def test_it_works_without_script(site: str, browser: Browser, ann: User, sign_in: Enter) -> None:
    make_study(people=[ann])
    page = browser.new_context(java_script_enabled=False).new_page()
    sign_in(page, ann)
    page.goto(f"{site}/work/")
    page.get_by_role("button", name="Next example").click()
    page.get_by_label("Your solution, Python").last.fill(WRONG)
    page.get_by_role("button", name="Run visible tests").click()
    expect(page.get_by_label("Your solution, Python").last).to_have_value(WRONG)
    expect(page.locator("#execution")).to_contain_text("queued")
    page.locator("summary", has_text="Give up…").click()
    page.get_by_label("What stopped you?").fill("no script")
    page.get_by_role("button", name="Give up for good").click()
    expect(page.get_by_role("heading", name="How did it go?")).to_be_visible()
