"""The code editor in a real browser: typing, leaving by keyboard, running, the server's marks, and life without script."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from annotation.models import User

pytestmark = pytest.mark.browser


@pytest.fixture
def kit_page(site: str, page: Page, curator: User, sign_in: Callable[[Page, User], None]) -> Page:
    """The component sheet, which holds an editor."""
    sign_in(page, curator)
    page.goto(f"{site}/kit/")
    return page


@pytest.fixture
def editor(kit_page: Page) -> Locator:
    """The editor's text, focused, empty, without marks."""
    expect(kit_page.locator("code-editor .cm-notes")).to_be_visible()
    kit_page.evaluate("document.querySelector('code-editor').marks = []")
    text = kit_page.get_by_role("textbox", name="Editor, Python")
    text.click()
    kit_page.keyboard.press("Control+a")
    kit_page.keyboard.press("Delete")
    return text


def value(page: Page) -> str:
    """Return what the form would send."""
    return str(page.evaluate("new FormData(document.querySelector('#editor-form')).get('code')"))


def test_what_is_typed_is_what_the_form_sends(kit_page: Page, editor: Locator) -> None:
    kit_page.evaluate(
        "document.querySelector('#editor-form').addEventListener('input', event => { window.heard = event.target.tagName })"
    )
    kit_page.keyboard.type("x = 1\ny = 2")
    assert value(kit_page) == "x = 1\ny = 2"
    assert kit_page.evaluate("window.heard") == "TEXTAREA"


def test_a_new_line_keeps_the_indent_and_tab_goes_to_the_next_stop(kit_page: Page, editor: Locator) -> None:
    kit_page.keyboard.type("def f():\nreturn 1")
    assert value(kit_page) == "def f():\n    return 1"
    kit_page.keyboard.press("Control+a")
    kit_page.keyboard.type("ab")
    kit_page.keyboard.press("Tab")
    kit_page.keyboard.type("c")
    assert value(kit_page) == "ab  c"
    kit_page.keyboard.press("Control+a")
    kit_page.keyboard.press("Tab")
    assert value(kit_page) == "    ab  c"
    kit_page.keyboard.press("Shift+Tab")
    assert value(kit_page) == "ab  c"


def test_undo_brings_the_text_back(kit_page: Page, editor: Locator) -> None:
    kit_page.keyboard.press("Control+z")
    assert value(kit_page).startswith("def f(levels):")


def test_escape_then_tab_leaves_the_editor_and_says_so(kit_page: Page, editor: Locator) -> None:
    kit_page.keyboard.press("Tab")
    expect(editor).to_be_focused()
    kit_page.keyboard.press("Escape")
    expect(kit_page.get_by_text("Tab now leaves the editor.")).to_be_visible()
    kit_page.keyboard.press("Tab")
    expect(kit_page.get_by_role("button", name="Run Ctrl Enter")).to_be_focused()


def test_typing_after_escape_makes_tab_indent_again(kit_page: Page, editor: Locator) -> None:
    kit_page.keyboard.press("Escape")
    kit_page.keyboard.type("a")
    expect(kit_page.get_by_text("Tab now leaves the editor.")).to_be_hidden()
    kit_page.keyboard.press("Tab")
    expect(editor).to_be_focused()


def test_the_way_out_is_part_of_the_editors_description(kit_page: Page, editor: Locator) -> None:
    expect(editor).to_have_accessible_description("Tab indents. Press Escape, then Tab, to leave the editor.")


def test_control_enter_presses_the_run_button_once_and_adds_no_line(kit_page: Page, editor: Locator) -> None:
    kit_page.evaluate(
        "window.runs = 0; document.querySelector('[data-run]').addEventListener('click', () => { window.runs++ })"
    )
    kit_page.keyboard.type("x")
    kit_page.keyboard.press("Control+Enter")
    assert kit_page.evaluate("window.runs") == 1
    assert value(kit_page) == "x"


def test_a_page_may_run_by_itself_instead(kit_page: Page, editor: Locator) -> None:
    kit_page.evaluate(
        """window.runs = 0; window.asked = 0
        document.querySelector('[data-run]').addEventListener('click', () => { window.runs++ })
        document.addEventListener('editor-run', event => { window.asked++; event.preventDefault() })"""
    )
    kit_page.keyboard.press("Control+Enter")
    assert kit_page.evaluate("[window.asked, window.runs]") == [1, 0]


def test_no_key_typed_into_the_editor_reaches_a_shortcut_of_the_page(kit_page: Page, editor: Locator) -> None:
    kit_page.evaluate(
        "window.keys = []; document.addEventListener('keydown', event => window.keys.push(event.key))"
    )
    kit_page.keyboard.type("jk?")
    assert kit_page.evaluate("window.keys.filter(key => key !== 'Shift')") == []
    assert value(kit_page) == "jk?"


def test_the_servers_marks_are_shown_on_their_line_and_cleared_by_the_next_run(kit_page: Page) -> None:
    notes = kit_page.locator("code-editor .cm-notes")
    expect(notes).to_have_text("line 3IndexError: list index out of range")
    expect(kit_page.locator("code-editor .cm-marked")).to_have_text("    if levels[0] > high:")
    kit_page.get_by_role("button", name="line 3").click()
    kit_page.keyboard.press("Control+Enter")
    expect(notes).to_be_hidden()
    expect(kit_page.locator("code-editor .cm-marked")).to_have_count(0)


def test_a_swap_brings_new_marks_whose_words_cannot_act(kit_page: Page) -> None:
    kit_page.evaluate(
        """document.querySelector('[data-marks-for]').outerHTML =
        '<template data-marks-for="kit-editor"><i data-line="1" data-message="&lt;img src=x&gt; bad"></i>'
        + '<i data-line="900" data-severity="warning" data-message="beyond the end"></i></template>'"""
    )
    notes = kit_page.locator("code-editor .cm-notes")
    expect(notes).to_have_text("line 1<img src=x> badline 6beyond the end")
    assert (
        kit_page.locator("code-editor").evaluate("editor => editor.shadowRoot.querySelector('img[src]')")
        is None
    )
    kit_page.evaluate(
        "document.querySelector('[data-marks-for]').outerHTML = '<ul data-marks-for=\"kit-editor\"></ul>'"
    )
    expect(notes).to_be_hidden()


def test_marks_can_be_set_and_read_by_script(kit_page: Page, editor: Locator) -> None:
    kit_page.keyboard.type("a\nb")
    kit_page.evaluate(
        "document.querySelector('code-editor').marks = [{line: 2, message: 'no b', severity: 'error'}]"
    )
    assert kit_page.evaluate("document.querySelector('code-editor').marks") == [
        {"line": 2, "message": "no b", "severity": "error"}
    ]


def test_a_script_may_set_the_text_and_a_reset_brings_the_first_one_back(kit_page: Page) -> None:
    kit_page.evaluate("document.querySelector('code-editor').value = 'set'")
    assert value(kit_page) == "set"
    kit_page.evaluate("document.querySelector('#editor-form').reset()")
    assert value(kit_page).startswith("def f(levels):")


def test_a_read_only_editor_takes_no_text(kit_page: Page, editor: Locator) -> None:
    kit_page.evaluate("document.querySelector('code-editor').setAttribute('readonly', '')")
    kit_page.keyboard.type("x")
    assert value(kit_page) == ""


def test_python_has_the_same_colours_in_the_editor_as_on_the_page(kit_page: Page, editor: Locator) -> None:
    kit_page.keyboard.insert_text("def f(x):\n    return len('a', 1, None)  # note\n")
    colours = """root => Object.fromEntries([...root.querySelectorAll('%s')].map(
        element => [element.textContent, getComputedStyle(element).color]))"""
    inside = kit_page.locator("code-editor").evaluate(
        f"host => ({colours % '.cm-line span'})(host.shadowRoot)"
    )
    outside = kit_page.locator("body").evaluate(f"body => ({colours % '.code .l span, .hl span'})(body)")
    for word in ("def", "return", "len"):
        assert inside[word] == outside[word], word


def test_search_opens_on_control_f_and_closes_on_escape(kit_page: Page, editor: Locator) -> None:
    kit_page.keyboard.press("Control+f")
    expect(kit_page.locator("code-editor .cm-search")).to_be_visible()
    kit_page.keyboard.press("Escape")
    expect(kit_page.locator("code-editor .cm-search")).to_have_count(0)


def test_without_script_the_textarea_is_there(
    site: str, browser: Browser, curator: User, sign_in: Callable[[Page, User], None]
) -> None:
    page = browser.new_context(java_script_enabled=False).new_page()
    sign_in(page, curator)
    page.goto(f"{site}/kit/")
    field = page.locator("code-editor textarea")
    expect(field).to_be_visible()
    field.fill("typed without script")
    expect(field).to_have_value("typed without script")


def test_a_long_line_scrolls_inside_the_editor_on_a_phone(
    kit_page: Page, axe: Callable[[Page], list[str]]
) -> None:
    kit_page.set_viewport_size({"width": 390, "height": 900})
    kit_page.evaluate("document.querySelector('code-editor').value = 'x = ' + '1 + '.repeat(200)")
    inside = kit_page.locator("code-editor .cm-scroller")
    assert inside.evaluate("scroller => scroller.scrollWidth > scroller.clientWidth")
    assert kit_page.locator("code-editor .cm-editor").evaluate(
        "editor => editor.getBoundingClientRect().right <= innerWidth"
    )
    assert axe(kit_page) == []


def test_words_texts_and_notes_of_each_language_have_the_colours_of_the_page(kit_page: Page) -> None:
    written = {
        "javascript": "return 'text' // note",
        "cpp": 'return "text"; // note',
        "python": "return 'text' # note",
    }
    found = kit_page.evaluate(
        """async written => {
            const probe = document.body.appendChild(document.createElement("i")), names = {}, found = {}
            for (const name of ["kw", "str", "com"]) {
                probe.style.color = `var(--hl-${name})`
                names[getComputedStyle(probe).color] = name
            }
            for (const [language, code] of Object.entries(written)) {
                const made = document.createElement("code-editor")
                made.setAttribute("language", language)
                made.append(Object.assign(document.createElement("textarea"), { value: code }))
                document.querySelector("main").append(made)
                made.scrollIntoView()
                await new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))
                found[language] = [...made.shadowRoot.querySelectorAll(".cm-line span")]
                    .map(span => names[getComputedStyle(span).color]).filter(Boolean)
            }
            return found
        }""",
        written,
    )
    assert found == {language: ["kw", "str", "com"] for language in written}
