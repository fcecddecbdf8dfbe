"""The closing form, the second judgement and the replay in a real browser: nothing typed is lost, and every page is looked at."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta

import pytest
from django.utils import timezone
from playwright.sync_api import Page, expect
from pytest_playwright.pytest_playwright import CreateContextCallback

from annotation.answers import said_so_far
from annotation.assignment import take_slot
from annotation.attempts import settle
from annotation.models import Attempt, Draft, User
from annotation.runs import submit
from examples.models import AuditEntry
from runner.models import Worker
from runner.outcome import Outcome
from tests.annotation.factories import RIGHT, WRONG, finish, make_study, make_version
from tests.annotation.test_replay import worked
from tests.browser.eye import Eye
from tests.conftest import PASSWORD

pytestmark = [pytest.mark.browser, pytest.mark.timeout(300)]

Enter = Callable[[Page, User], None]


@pytest.fixture(autouse=True)
def a_worker(transactional_db: None) -> Worker:
    """The row of a worker that answers for the next hour, so that pages have no banner."""
    seen = timezone.now() + timedelta(hours=1)
    return Worker.objects.create(name="here", queues=["interactive"], boot="b", seen_at=seen)


def due(person: User) -> Attempt:
    """Return an attempt with a failed submission, in a study that asks everything and reveals afterwards."""
    study = make_study(
        people=[person],
        versions=[make_version()],
        solvers=1,
        reveals_after_closing=True,
        asks_confidence=True,
        arms=["none", "assistant"],
    )
    attempt, now = take_slot(study, person, timezone.now()), timezone.now()
    assert isinstance(attempt, Attempt)
    finish(submit(attempt, function=WRONG, module="", key="s", now=now), Outcome.FAILED)
    settle(attempt, now=now)
    return attempt


def test_what_is_said_at_the_end_survives_everything_and_then_the_reference_is_shown(
    page: Page, site: str, sign_in: Enter, eye: Eye, ann: User
) -> None:
    attempt = due(ann)
    sign_in(page, ann)
    eye.watch(page, refusals=True)
    page.goto(f"{site}/attempts/{attempt.pk}/verdict/")
    expect(page.get_by_label("Input")).to_be_hidden()
    page.get_by_label("Tests wrong", exact=False).check()
    page.get_by_label("Input").fill("with_tax(-1)")
    page.get_by_role("group", name="How hard was it?").get_by_label("very hard").check()
    saved = page.locator("#verdict-save")
    expect(saved).to_contain_text("Saved")

    page.context.set_offline(True)
    page.get_by_label("Why").fill("Nothing forbids a negative price.")
    expect(saved).to_contain_text("Offline: kept on this computer")
    page.context.set_offline(False)
    expect(saved).to_contain_text("Saved")
    assert all("ERR_INTERNET_DISCONNECTED" in trouble for trouble in eye.troubles), (
        "as it must be while offline"
    )
    eye.troubles.clear()

    page.context.clear_cookies()
    page.get_by_label("Note on the tests").fill("Too strict below zero.")
    layer = page.get_by_role("dialog", name="You are signed out")
    layer.get_by_label("Password").fill(PASSWORD)
    layer.get_by_role("button", name="Sign in and go on").click()
    expect(saved).to_contain_text("Saved")
    page.reload()
    expect(page.get_by_label("Note on the tests")).to_have_value("Too strict below zero.")
    said = said_so_far(attempt)
    assert (said["outcome"], said["evidence_input"], said["difficulty"]) == (
        "tests_wrong",
        "with_tax(-1)",
        "very hard",
    )
    assert said["evidence"] == "Nothing forbids a negative price."
    assert said["test_note"] == "Too strict below zero."

    other = page.context.new_page()
    other.goto(f"{site}/attempts/{attempt.pk}/verdict/")
    other.get_by_label("Expected").fill("-1.2")
    expect(other.locator("#verdict-save")).to_contain_text("Saved")
    other.close()
    page.get_by_label("Got").fill("0.0, I believe")
    expect(saved).to_contain_text("Saved")
    assert (said_so_far(attempt)["evidence_expected"], said_so_far(attempt)["evidence_got"]) == (
        "-1.2",
        "0.0, I believe",
    )

    page.reload()
    expect(page.get_by_label("Expected")).to_have_value("-1.2")
    page.locator("#verdict").evaluate("form => { form.noValidate = true }")
    page.get_by_role("button", name="Close the attempt").click()
    expect(page.get_by_role("alert")).to_contain_text("before this can be closed")
    eye.look(page, "verdict-evidence-422")
    page.get_by_label("Which test").select_option("a hidden one")
    for question in ("Is the instruction clear enough?", "Could the tests reject correct work?"):
        page.get_by_role("group", name=question).get_by_role("radio").nth(1).check()
    page.get_by_role("group", name="How sure are you").get_by_label("fairly sure").check()
    expect(page.get_by_label("Which one, and for what")).to_be_hidden()
    page.get_by_label("a code assistant", exact=False).check()
    page.get_by_label("Which one, and for what").fill("the editor's own, for the rounding")
    eye.look(page, "verdict-evidence")
    page.get_by_role("button", name="Close the attempt").click()

    expect(page.get_by_role("heading", name="See the reference and every test")).to_be_visible()
    assert "19.99" not in page.content()
    eye.look(page, "second-offer")
    page.get_by_role("button", name="Show them").click()
    expect(page.get_by_role("heading", name="What do you say now?")).to_be_visible()
    assert "19.99" in page.content()
    page.get_by_label("they reject what the instruction allows").check()
    page.locator("#second").evaluate("form => { form.noValidate = true }")
    page.get_by_role("button", name="Send the second judgement").click()
    expect(page.get_by_role("alert")).to_be_visible()
    eye.look(page, "second-422")
    page.get_by_label("it does what the instruction asks").check()
    for question in ("Is the instruction clear enough?", "Could the tests reject correct work?"):
        page.get_by_role("group", name=question).get_by_role("radio").nth(2).check()
    page.get_by_label("What makes you say so").fill(
        "The last assertion wants rounding that nothing asks for."
    )
    page.get_by_role("button", name="Send the second judgement").click()
    expect(page.get_by_role("heading", name="What you said now")).to_be_visible()
    eye.look(page, "second-given")
    page.get_by_role("link", name=attempt.slot.version.example.title).click()
    expect(page.get_by_role("heading", name="Your evidence")).to_be_visible()
    eye.look(page, "closed-evidence")
    attempt.refresh_from_db()
    assert (attempt.verdict.test_quality, attempt.reveal.judgement.test_quality) == (1, 2)
    assert eye.troubles == []


def test_a_curator_moves_through_an_attempt_by_keyboard_by_links_and_without_script(
    page: Page,
    site: str,
    sign_in: Enter,
    eye: Eye,
    new_context: CreateContextCallback,
    ann: User,
    curator: User,
) -> None:
    attempt = worked(ann)
    text = "".join(f"    part_{at} = net * {at}\n" for at in range(12))
    start = attempt.started_at + timedelta(minutes=10)
    Draft.objects.bulk_create(
        Draft(
            attempt=attempt,
            revision=at,
            function=RIGHT + text[: 60 * (at - 4)],
            saved_at=start + timedelta(seconds=2 * at),
        )
        for at in range(5, 30)
    )
    study = attempt.slot.study
    sign_in(page, curator)
    eye.watch(page)
    page.goto(f"{site}/studies/{make_study(people=[]).name}/attempts/")
    eye.look(page, "study-attempts-empty")
    page.goto(f"{site}/studies/{study.name}/")
    page.get_by_role("link", name="Attempts").first.click()
    page.wait_for_url("**/attempts/")
    eye.look(page, "study-attempts")
    page.get_by_role("link", name=ann.pseudonym).click()
    where, moment = page.locator("#where output"), page.locator("#moment")
    expect(where).to_contain_text("step 31 of 31")
    eye.look(page, "replay")

    slider = page.get_by_role("slider")
    slider.focus()
    page.keyboard.press("ArrowLeft")
    expect(where).to_contain_text("step 30 of 31")
    expect(slider).to_be_focused()
    page.keyboard.press("Home")
    expect(where).to_contain_text("Started, step 0 of 31")
    expect(moment).to_contain_text("No difference.")
    page.locator("#events").get_by_role("link", name="Run 1").click()
    expect(where).to_contain_text("Run 1, step 4 of 31")
    expect(slider).to_have_value("4")
    expect(page.locator("#events [aria-current=step]")).to_contain_text("Run 1")
    page.get_by_label("compare with step").fill("0")
    expect(page.get_by_text("since Started, step 0")).to_be_visible()
    assert page.url.endswith("?at=4&against=0")
    eye.look(page, "replay-run")
    page.get_by_role("button", name="Replay").click()
    expect(where).to_contain_text("step 6 of 31")
    page.get_by_role("button", name="Stop").click()
    page.reload()
    expect(where).to_be_visible()
    assert AuditEntry.objects.filter(action="attempt replayed", person=curator).count() == 2

    page.get_by_text("Give it back to its annotator").click()
    page.get_by_label("Why it is given back").fill("Say which test you mean.")
    page.get_by_role("button", name="Give it back").click()
    expect(page.locator("#messages")).to_contain_text("Given back")
    attempt.refresh_from_db()
    assert attempt.state == "submitted"
    assert eye.troubles == []

    plain = new_context(java_script_enabled=False).new_page()
    sign_in(plain, curator)
    plain.goto(f"{site}/attempts/{attempt.pk}/replay/?at=4")
    expect(plain.locator("#where output")).to_contain_text("step 4 of 31")
    plain.get_by_role("link", name="earlier step").click()
    expect(plain.locator("#where output")).to_contain_text("step 3 of 31")
    plain.get_by_label("compare with step").fill("1")
    plain.get_by_role("button", name="Show").click()
    expect(plain.get_by_text("since Revision 1, step 1")).to_be_visible()

    sign_in(page, ann)
    page.goto(f"{site}/attempts/{attempt.pk}/verdict/")
    expect(page.get_by_text("Say which test you mean.")).to_be_visible()
    eye.look(page, "verdict-given-back")
    assert eye.troubles == []
