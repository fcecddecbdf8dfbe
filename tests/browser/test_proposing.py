"""A curator edits a version in the browser: looks at the change before saying why, and saves it."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from annotation.models import User
from examples.models import Version
from tests.annotation.factories import make_version
from tests.browser.eye import Eye

pytestmark = [pytest.mark.browser, pytest.mark.timeout(240)]


def test_the_context_is_edited_looked_at_and_saved(
    site: str, page: Page, sign_in: Callable[[Page, User], None], curator: User, eye: Eye
) -> None:
    version = make_version()
    eye.watch(page)
    sign_in(page, curator)
    page.goto(f"{site}/examples/{version.example_id}/versions/new/")
    context = page.locator("code-editor[label='Context, Python'] .cm-content")
    expect(context).to_contain_text("...")
    context.click()
    page.keyboard.press("Control+Home")
    page.keyboard.insert_text("import math\n")
    page.get_by_role("button", name="Look at the change").click()
    expect(page.get_by_role("heading", name="Against version 1")).to_be_visible()
    eye.look(page, "propose-context")
    assert Version.objects.count() == 1
    page.get_by_label("Why").fill("It needs the module.")
    page.get_by_role("button", name="Save version 2").click()
    expect(page.get_by_text("Version 2 is saved")).to_be_visible()
    assert Version.objects.get(number=2).context == f"import math\n{version.context}"
    assert eye.troubles == []
