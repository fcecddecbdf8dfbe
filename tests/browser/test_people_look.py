"""Every page of people's: nothing axe objects to, nothing the policy refuses, nothing too wide; SHOTS=folder keeps pictures."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from django.utils import timezone
from playwright.sync_api import Browser, Page

from annotation.assignment import take_slot
from annotation.attempts import close_attempt, give_up
from annotation.drafts import save_draft
from annotation.invitations import invite
from annotation.models import Attempt, User
from annotation.runs import run_scratch, run_visible, submit
from config.access import Role
from runner.models import Execution, TestRow
from runner.outcome import Outcome
from tests.annotation.factories import RIGHT, finish, leave_unjudged, make_attempt, make_study, make_version
from tests.browser.test_workspace import SLOW

pytestmark = [pytest.mark.browser, pytest.mark.timeout(240)]

Enter = Callable[[Page, User], None]
Watch = Callable[[Page], list[str]]
Check = Callable[[Page], list[str]]

# Colours do not depend on the width: each of both is looked at once.
LOOKS = [("light", 1360), ("dark", 390)]


@pytest.fixture(params=LOOKS, ids=lambda look: f"{look[0]}-{look[1]}")
def look(request: pytest.FixtureRequest, browser: Browser) -> Page:
    """A page in one appearance and width."""
    scheme, width = request.param
    return browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme).new_page()


def filled(ann: User, curator: User) -> dict[str, str]:
    """Return the addresses of this app's pages by name, each with something on it."""
    version = make_version(source=SLOW, focal="step", visible=4)
    more = [make_version() for _ in range(3)]
    study = make_study(
        people=[ann], versions=[version, *more], guidelines="Be *quick*.\n\n* no assistant", submissions=2
    )
    now = timezone.now()
    closed = take_slot(study, ann, now)
    assert isinstance(closed, Attempt)
    give_up(closed, reason="The tests ask for more than the text says.", now=now)
    answers = {"outcome": "tests_wrong", "difficulty": "trivial", "instruction_quality": 1, "test_quality": 2}
    close_attempt(closed, answers={**answers, "evidence": "step(0)", "text": "Too strict."}, now=now)
    attempt = take_slot(study, ann, now)
    assert isinstance(attempt, Attempt)
    save_draft(
        attempt, function="def step(number):\n    return number\n", module="import math", base_revision=0
    )
    _some_runs(attempt)
    due = make_attempt(ann)
    finish(submit(due, function=RIGHT, module="", key="d", now=now))
    invite(role=Role.ANNOTATOR, by=curator, study=study, note="a colleague")
    token = invite(role=Role.ANNOTATOR, by=curator).token
    draft = make_study(people=[], versions=0, state="draft", guidelines="")
    return {
        "workspace": f"/attempts/{attempt.pk}/",
        "work": "/work/",
        "verdict": f"/attempts/{due.pk}/verdict/",
        "closed": f"/attempts/{closed.pk}/verdict/",
        "guidelines": f"/work/{study.name}/guidelines/",
        "account": "/account/",
        "studies": "/studies/",
        "study": f"/studies/{study.name}/",
        "draft": f"/studies/{draft.name}/",
        "protocol": f"/studies/{draft.name}/edit/",
        "new": "/studies/new/",
        "invitations": "/invitations/",
        "people": "/people/",
        "about": "/about/",
        "join": f"/join/{token}/",
        "join-over": "/join/nothing/",
    }


def _some_runs(attempt: Attempt) -> None:
    """Add a failed run of the visible tests, one that ran out of time, one of ours, and a scratch run, the last shown."""
    now, code = (
        timezone.now(),
        {"function": "def step(number):\n    return number\n", "module": "import math"},
    )
    for key, outcome in (("1", Outcome.TIMEOUT_CPU), ("2", Outcome.FAILED)):
        run = run_visible(attempt, **code, key=key, now=now)
        finish(run, outcome)
    for number, came, values in ((1, "PASSED", []), (2, "FAILED", ["2", "3"])):
        TestRow.objects.create(
            execution=run.execution,
            number=number,
            test=run.execution.job.expected[0],
            assertion=number,
            outcome=came,
            line=2 * number,
            values=values,
            milliseconds=0.2,
        )
    leave_unjudged(run_scratch(attempt, **code, snippet="step(2)", key="3", now=now))
    last = run_scratch(attempt, **code, snippet="print(step(2))\nstep(3)", key="4", now=now)
    finish(last)
    Execution.objects.filter(pk=last.execution_id).update(
        stdout="2\n3\n", stderr="a warning\n", wall_seconds=0.031
    )


WHO = {"annotator": ("workspace", "work", "verdict", "closed", "guidelines", "account"), "admin": ("studies", "study", "draft", "protocol", "new", "invitations", "people"), "nobody": ("about", "join", "join-over")}  # fmt: skip


@pytest.mark.parametrize("kind", WHO)
def test_every_page_holds_in_both_appearances_and_widths(
    kind: str,
    site: str,
    look: Page,
    ann: User,
    admin_user: User,
    sign_in: Enter,
    axe: Check,
    watched: Watch,
) -> None:
    addresses = filled(ann, admin_user)
    said = watched(look)
    if kind != "nobody":
        sign_in(look, ann if kind == "annotator" else admin_user)
    for name in WHO[kind]:
        look.goto(site + addresses[name])
        look.wait_for_load_state()
        if folder := os.environ.get("SHOTS"):
            scheme = (
                "dark" if look.evaluate("matchMedia('(prefers-color-scheme: dark)').matches") else "light"
            )
            width = look.viewport_size["width"] if look.viewport_size else 0
            look.screenshot(
                path=Path(folder) / f"{name}-{scheme}-{width}.png",
                full_page=name != "workspace" or width < 600,
            )
        assert axe(look) == [], name
        assert not look.evaluate("document.documentElement.scrollWidth > innerWidth"), f"{name} is too wide"
    assert [text for text in said if "404" not in text] == []
