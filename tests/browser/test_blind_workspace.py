"""What an answer may try to see of the hidden tests reaches no page, no socket and no part of the API."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, Response, WebSocket, expect

from annotation.assignment import take_slot
from annotation.models import Attempt, Run, User
from runner.models import Environment
from tests.annotation.factories import make_study, make_version
from tests.browser.test_workspace import write

pytestmark = [pytest.mark.browser, pytest.mark.docker, pytest.mark.timeout(400)]

WAIT = 120_000
HIDDEN = ("19.99", "23.99", "secret_value")  # stand in the hidden part of the tests only
CONSTANTS = "(sys._getframe(1).f_code.co_consts, sys._getframe(1).f_code.co_varnames)"
ANSWERS = (
    f"    print({CONSTANTS})\n    return round(net * (1 + RATE), 2)\n",
    f"    print({CONSTANTS}, file=sys.stderr)\n    raise ValueError({CONSTANTS})\n",
    f"    return {CONSTANTS}\n",
)
PAGES = ("/work/", "/attempts/{}/", "/attempts/{}/execution/", "/attempts/{}/verdict/", "/api/v1/examples/")
PAGES += (
    "/api/v1/examples/{}/",
    "/api/v1/studies/",
    "/api/v1/datasets/",
    "/api/v1/releases/",
    "/api/schema/",
)


class Ear:
    """Hears all that a page is sent: frames of its sockets, and answers, whose text is read when asked for."""

    def __init__(self, page: Page) -> None:
        self.frames: list[str] = []
        self.answers: list[Response] = []
        page.on("websocket", self._join)
        page.on("response", lambda answer: self.answers.append(answer))

    def _join(self, socket: WebSocket) -> None:
        socket.on("framereceived", lambda payload: self.frames.append(str(payload)))

    def texts(self) -> list[str]:
        """Return every frame, and the text of every answer to a request that the page made by script."""
        fetched = [each for each in self.answers if each.request.resource_type in ("fetch", "xhr")]
        return [*self.frames, *(each.text() for each in fetched if each.ok)]


def submitted(page: Page, body: str, number: int) -> None:
    """Submit an answer and wait until its outcome stands on the page."""
    write(page, f"def with_tax(net: float) -> float:\n{body}")
    page.locator("summary", has_text="Submit…").click()
    page.get_by_role("button", name="Submit for the record").click()
    expect(page.locator(".runs li")).to_have_count(number + 1, timeout=WAIT)
    expect(page.locator("#execution")).to_contain_text("of 1 tests passed", timeout=WAIT)


@pytest.mark.parametrize("last_is_right", [False, True])
def test_an_answer_that_prints_the_constants_of_its_test_shows_no_hidden_one(
    last_is_right: bool,
    site: str,
    page: Page,
    ann: User,
    sign_in: Callable[[Page, User], None],
    worker: Environment,
) -> None:
    version = make_version()
    attempt = take_slot(make_study(people=[ann], versions=[version], submissions=4), ann, version.created_at)
    assert isinstance(attempt, Attempt)
    ear = Ear(page)
    sign_in(page, ann)
    page.goto(f"{site}/attempts/{attempt.pk}/")
    page.locator("summary", has_text="Imports and helpers").click()
    write(page, "import sys\n", "helpers")
    write(page, f"def with_tax(net: float) -> float:\n{ANSWERS[0]}")
    page.keyboard.press("Control+Enter")
    expect(page.locator(".tests li.ok")).to_have_count(1, timeout=WAIT)
    for number, body in enumerate(ANSWERS[:1] if last_is_right else ANSWERS[1:], 1):
        submitted(page, body, number)
    told = {*ear.texts(), page.content()}
    assert len(ear.frames) >= 3
    for pattern in PAGES:
        told.add(page.request.get(site + pattern.format(attempt.pk)).text())
    assert [secret for secret in HIDDEN for text in told if secret in text] == []
    kept = Run.objects.values_list("kind", "execution__stdout", "execution__stderr")
    assert "120.0" in kept.get(kind="visible")[1]  # the trick works, where its test may be seen
    assert set(kept.filter(kind="submission")) == {
        ("submission", "", "")
    }  # of hidden ones nothing is even kept
