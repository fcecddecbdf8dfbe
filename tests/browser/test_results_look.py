"""Results, releases, disputes, tokens and API documentation in a real browser: accessible and silent, wide and narrow."""

from __future__ import annotations

import os
import random
from pathlib import Path

import pytest
from playwright.sync_api import Page

from annotation import evidence
from annotation.accounts import create_account
from annotation.models import Adjudication, Verdict
from annotation.tokens import make_token
from config.access import Role
from examples.models import Version
from examples.releasing.drafting import DraftPlan, SplitPlan, draft_release
from examples.releasing.freezing import freeze
from tests.factories import make_attempt, make_beats, make_study, make_version

pytestmark = pytest.mark.browser
LEVELS = ["trivial", "requires effort", "very hard"]
SPLITS = [SplitPlan("train", 0.5), SplitPlan("test", 0.3), SplitPlan("held-out", 0.2, held_out=True)]
PAGES = {
    "releases": "/releases/",
    "release-new": "/releases/new/",
    "release-draft": "/releases/exec-csn-solved/1.1.0/",
    "release-frozen": "/releases/exec-csn-solved/1.0.0/",
    "study-results": "/studies/s-03/results/",
    "study-results-empty": "/studies/empty/results/",
    "study-results-small": "/studies/two/results/",
    "adjudication": "/adjudication/",
    "tokens": "/tokens/",
    "api-docs": "/api/docs/",
}


@pytest.fixture
def world(transactional_db, curator):
    """Eight annotators at 16 versions, a frozen release, a blocked draft, disputes, a token."""
    drawn = random.Random(7)
    people = [create_account(username=f"p{at}", role=Role.ANNOTATOR, password=None) for at in range(8)]
    versions = [make_version(f"round_shares_{at}", repository=f"owner/r{at // 3}") for at in range(16)]
    study = make_study("s-03", versions=versions, people=people, title="How solvable is exec-csn? Study S-03")
    for at, version in enumerate(versions):
        for place in range(2):
            solved = drawn.random() < 0.8 or place == 0
            attempt = make_attempt(
                study,
                version,
                people[(at + 3 * place + at // 4) % 8],
                solved=solved,
                difficulty=drawn.choice(LEVELS[: 2 if solved else 3]),
                seconds=drawn.expovariate(1 / 500) % 1700 + 60,
            )
            make_beats(attempt)
    two = make_study("two", versions=versions[:1], people=people[:2], title="Two people, one version")
    for person in people[:2]:
        make_beats(make_attempt(two, versions[0], person, seconds=95))
    make_study("empty", versions=versions[:1], people=people, title="Not begun")
    plan = DraftPlan("exec-csn-solved", "1.0.0", 20261101, SPLITS, "MIT", "Solved by *at least one* person.")
    chosen = Version.objects.exclude(pk__in=[versions[0].pk, versions[1].pk])
    freeze(draft_release(plan, versions=chosen, by=curator), by=curator, people=evidence)
    plan = DraftPlan("exec-csn-solved", "1.1.0", 20261101, SPLITS, "MIT")
    draft_release(plan, versions=Version.objects.all(), by=curator)
    for version, text in ((versions[4], "Zero is rejected although the text allows it."), (versions[9], "")):
        Verdict.objects.filter(attempt=version.slots.first().attempts.get()).update(
            test_quality=2,
            text=text,
            evidence="assertion 7 expects [2, 3]" if text else "",
            outcome="tests_wrong",
        )
    Adjudication.objects.create(
        version=versions[2], decision="solvable", reason="Solved it in five minutes.", decided_by=curator
    )
    make_token(curator, name="build server", scopes=["releases:read"], days=30)
    return curator


def shot(page: Page, name: str) -> None:
    """Save the page where SCREENSHOTS says; nothing where it says nothing."""
    if room := os.environ.get("SCREENSHOTS"):
        page.screenshot(path=Path(room) / f"{name}.png", full_page=True)


def test_pages_hold_wide_and_narrow_light_and_dark(world, site, sign_in, axe, watched, page):
    sign_in(page, world)
    said = watched(page)
    found = {}
    for number, (name, address) in enumerate(PAGES.items()):
        scheme = ("light", "dark")[number % 2]  # of a page, one is looked at here; `make shots` sees both
        page.emulate_media(color_scheme=scheme)
        page.goto(site + address)
        if name == "api-docs":  # Swagger UI's own markup is not ours; that it loads under our policy is
            page.wait_for_load_state("networkidle")
            continue
        for width in (390, 1360):
            page.set_viewport_size({"width": width, "height": 900})
            shot(page, f"{name}-{width}-{scheme}")
            overflow = page.evaluate(
                "document.documentElement.scrollWidth - document.documentElement.clientWidth"
            )
            assert overflow <= 0, f"{name} scrolls sideways by {overflow} px"
        found[name] = axe(page)
    assert {name: each for name, each in found.items() if each} == {}
    assert said == []


def test_pages_with_nothing_on_them_say_why_and_hold(
    transactional_db, curator, reader, site, sign_in, axe, page
):
    for user, names in (
        (curator, ("releases", "release-new", "adjudication", "tokens")),
        (reader, ("releases",)),
    ):
        page.context.clear_cookies()
        sign_in(page, user)
        for name in names:
            page.goto(site + PAGES[name])
            assert axe(page) == []
            shot(page, f"{name}-empty-{user.role}")
    assert page.get_by_text("Nothing is published yet").count() == 1


def test_a_curator_leaves_the_blocked_out_and_freezes(world, site, sign_in, page):
    sign_in(page, world)
    page.goto(f"{site}/releases/exec-csn-solved/1.1.0/")
    page.get_by_role("button", name="Leave out 2").click()
    page.get_by_role("button", name="Freeze 1.1.0").click()
    page.get_by_text("Take it and verify it").wait_for()
    with page.expect_download() as downloading:
        page.get_by_role("link", name="All files").click()
    assert downloading.value.suggested_filename == "exec-csn-solved-1.1.0.tar"
    shot(page, "release-after-freeze")


def test_a_token_is_made_and_shown_once(world, site, sign_in, axe, page):
    sign_in(page, world)
    page.goto(f"{site}/tokens/")
    page.get_by_label("Name", exact=True).fill("laptop")
    page.get_by_label("download frozen releases").check()
    page.get_by_role("button", name="Make the token").click()
    assert len(page.locator("#token").inner_text()) == 64
    assert axe(page) == []
    shot(page, "tokens-made")
    page.goto(f"{site}/tokens/")
    assert page.locator("#token").count() == 0
