"""A curator pastes a function with doctests, watches its steps arrive, edits the tests, accepts, finds it in the dataset."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from django.utils import timezone
from playwright.sync_api import Page, expect

from annotation.models import User
from examples.models import Fragment, Version
from runner.models import Environment, Suite
from tests.browser.eye import Eye

pytestmark = [pytest.mark.browser, pytest.mark.docker, pytest.mark.timeout(240)]
CODE = '''STEP = 2


def every_other(items, start=0):
    """Return every other item, from `start` on.

    >>> every_other([1, 2, 3, 4])
    [1, 3]
    >>> every_other("abcd", start=1)
    ['b', 'd']
    >>> every_other([])
    []
    """
    return list(items)[start::STEP]


def unrelated(path):
    """Read a file.

    >>> unrelated("a")
    """
    return open(path).read()
'''


def test_a_pasted_function_becomes_an_example_of_the_dataset(
    site: str,
    page: Page,
    sign_in: Callable[[Page, User], None],
    curator: User,
    bulk_worker: dict[str, Environment],
    eye: Eye,
) -> None:
    eye.watch(page)
    sign_in(page, curator)
    page.goto(f"{site}/generation/new/")
    page.locator("code-editor[label='Code, Python'] .cm-content").click()
    page.keyboard.insert_text(CODE)
    page.get_by_label("Name of the run").fill("pasted")
    page.get_by_label("Dataset").fill("made")
    page.get_by_label("Licence").fill("MIT")
    page.get_by_label("A curator decides about each fragment that held").check()
    eye.look(page, "generation-new")
    page.get_by_role("button", name="Start the run").click()

    expect(page.get_by_role("link", name="files")).to_be_visible()  # why the other function was left out
    page.get_by_role("link", name="every_other").click()
    expect(page.get_by_role("status").get_by_text("awaits a curator")).to_be_visible()
    expect(page.get_by_role("heading", name="Acceptance")).to_be_visible()
    expect(page.get_by_text("3 examples became 3 assertions.").first).to_be_visible()

    page.get_by_role("link", name="Tests", exact=True).click()
    page.locator("code-editor[label='Tests, Python'] .cm-content").click()
    page.keyboard.press("Control+End")
    page.keyboard.insert_text("    assert every_other([9], start=1) == []\n")
    eye.look(page, "generation-edit")
    page.get_by_role("button", name="Save and go on").click()
    expect(page.get_by_role("heading", name="Tests, round 2")).to_be_visible()
    accept = page.get_by_role("button", name="Accept", exact=True)
    expect(accept).to_be_visible()
    eye.look(page, "generation-fragment")
    accept.click()

    page.get_by_role("link", name="Open the example").click()
    expect(page.get_by_role("heading", name="every_other", level=1)).to_be_visible()
    page.goto(f"{site}/generation/runs/pasted/")
    eye.look(page, "generation-run")
    page.get_by_role("link", name="All 2 that were found").click()
    expect(page.get_by_text("touches files: open in line 22")).to_be_visible()
    eye.look(page, "generation-fragments")
    wish = Fragment.objects.get(state="accepted").wishes.create(package="tax", said="pip install tax")
    Suite.objects.create(name="trixie", python="3.13", package="3.13.5-2", found_at=timezone.now())
    page.goto(f"{site}/generation/wishes/{wish.pk}/")
    eye.look(page, "generation-wish")
    page.goto(f"{site}/generation/runs/pasted/")
    page.get_by_role("link", name="Its examples").click()
    expect(page.get_by_role("link", name="every_other")).to_be_visible()
    page.goto(f"{site}/generation/")
    eye.look(page, "generation")
    version = Version.objects.get()
    assert version.expected == ["test_every_other"]
    assert "assert every_other([9], start=1) == []" in version.segments[0]["text"]
    assert ">>>" not in version.context
    assert Fragment.objects.get(state="accepted").example_id == version.example_id
    assert eye.troubles == []
