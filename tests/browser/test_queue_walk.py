"""From a link to the first example and out again, in a real browser with real boxes: steps, warm-up, qualification, leaving."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import timedelta

import pytest
from django.urls import reverse
from django.utils import timezone
from playwright.sync_api import Page, expect
from pytest_playwright.pytest_playwright import CreateContextCallback

from annotation.invitations import invite
from annotation.models import Attempt, BrokenReport, Protocol, Slot, Study, StudyPerson, User
from annotation.onboarding.gold import mark_gold
from config.access import Role
from runner.models import Environment
from tests.annotation.factories import RIGHT, WRONG, make_study
from tests.browser.eye import Eye
from tests.browser.test_workspace import saved, write
from tests.conftest import PASSWORD

pytestmark = [pytest.mark.browser, pytest.mark.docker, pytest.mark.timeout(600)]

WAIT = 120_000  # ms: nothing here asserts how long something takes
INITIALS = """def initials(name):
    return "".join(part[0].upper() + "." for part in words(name))
"""
CONSENT = "We keep what you write, when, and how it came out, under a pseudonym. You can leave at any time."


def protocol_of(study: Study) -> None:
    """Ask for every step there is."""
    Protocol.objects.filter(study=study).update(
        consent_text=CONSENT,
        guidelines="Work alone. *Run* as often as you like.",
        asks_prior_exposure=True,
        warm_up=True,
        pass_mark=1.0,
    )


def solve(page: Page, text: str) -> None:
    """Write an answer, submit it, wait for its outcome, and say that it went well."""
    expect(page.locator("code-editor#solution .cm-content")).to_be_visible()
    page.wait_for_load_state()
    write(page, text)
    page.locator("summary", has_text="Submit…").click()
    page.get_by_role("button", name="Submit for the record").click()
    page.get_by_role("link", name="Say how it went").click(timeout=WAIT)
    page.get_by_label("requires effort").check()
    for question in ("Is the instruction clear enough?", "Could the tests reject correct work?"):
        page.get_by_role("group", name=question).get_by_role("radio").first.check()
    seen_before = page.get_by_role("group", name="Had you seen it before?")
    if seen_before.count():
        seen_before.get_by_role("radio").first.check()
    page.get_by_role("button", name="Close the attempt").click()
    expect(page.get_by_role("heading", name="My work")).to_be_visible()


def leave(page: Page, way: str | None, button: str, **fields: str) -> None:
    """Leave the open example by its menu."""
    expect(page.locator("code-editor#solution .cm-content")).to_be_visible()
    page.wait_for_load_state()
    page.locator("summary", has_text="Leave…").click()
    if way:
        page.locator("summary", has_text=way).click()
    for label, words in fields.items():
        page.get_by_label(label.replace("_", " ")).fill(words)
    page.get_by_role("button", name=button).click()
    expect(page.get_by_role("heading", name="My work")).to_be_visible()


def go_in(page: Page, site: str, token: str, study: Study, eye: Eye) -> None:
    """Accept the invitation and go every step, to the first example that counts."""
    page.goto(site + reverse("join", args=[token]))
    page.get_by_label("Username").fill("nora")
    page.get_by_label("Password", exact=True).fill(PASSWORD)
    page.get_by_label("Password again").fill(PASSWORD)
    page.get_by_role("button", name="Make my account").click()
    expect(page.locator(".steps [aria-current]")).to_contain_text("Consent")
    eye.look(page, "work-steps")
    page.get_by_role("link", name="Go on: consent").click()
    eye.look(page, "onboarding-consent")
    page.get_by_role("button", name="I do not agree").click()
    expect(page.get_by_text("Nothing is given out to you, and nothing more is asked")).to_be_visible()
    page.get_by_role("button", name="I agree").click()
    expect(page.get_by_label("How long have you programmed?")).to_be_visible()
    page.get_by_label("How long have you programmed?").select_option("6 to 10")
    eye.look(page, "onboarding-background")
    page.get_by_role("button", name="Go on").click()
    expect(page.get_by_text("Work alone.")).to_be_visible()
    eye.look(page, "onboarding-guidelines")
    page.get_by_role("button", name="I have read this").click()
    eye.look(page, "onboarding-warm-up")
    page.get_by_role("button", name="Begin the warm-up").click()
    solve(page, INITIALS)
    page.get_by_role("link", name="Go on: qualification").click()
    expect(page.get_by_text("you are in with 1 of 1 solved")).to_be_visible()
    page.get_by_role("button", name="Next example of the qualification").click()
    solve(page, WRONG)
    page.get_by_role("link", name="Go on: qualification").click()
    expect(page.get_by_text("Second and last try")).to_be_visible()
    eye.look(page, "onboarding-retry")
    page.get_by_role("link", name="What was expected").click()
    expect(page.get_by_role("region", name="Reference")).to_contain_text("(1 + RATE)")
    eye.look(page, "feedback")
    page.get_by_role("link", name="Go on").click()
    page.get_by_role("button", name="Next example of the qualification").click()
    solve(page, RIGHT)
    assert Attempt.objects.counted().count() == 0  # nothing of it counts


def test_from_the_invitation_through_every_step_to_an_empty_queue_that_says_why(
    new_context: CreateContextCallback,
    worker: Environment,
    site: str,
    sign_in: Callable[[Page, User], None],
    curator: User,
    ben: User,
    eye: Eye,
):
    study = make_study(people=[ben], versions=6, solvers=1)
    protocol_of(study)
    gold = list(study.slots.order_by("version").values_list("version", flat=True))[:2]
    for version, purpose in zip(gold, ("qualification", "retry"), strict=True):
        mark_gold(study, version, purpose=purpose, by=curator)
    token = invite(role=Role.ANNOTATOR, by=curator, study=study).token
    page = eye.watch(new_context().new_page())
    page.set_default_timeout(WAIT)
    go_in(page, site, token, study, eye)

    page.get_by_role("button", name="Next example").click()
    write(page, "def with_tax(net):\n    return 'later'\n")
    saved(page, 1)
    page.locator("summary", has_text="Leave…").click()
    page.locator("summary", has_text="It is broken…").click()
    eye.look(page, "workspace-leave", whole=False)
    page.locator("summary", has_text="Leave…").click()
    leave(page, None, "Set it aside")
    expect(page.get_by_role("region", name="Set aside, table")).to_contain_text("kept until")
    page.get_by_role("button", name="Next example").click()
    leave(page, "Not for me…", "Decline it for good", **{"Why_is_it_not_for_you?": "I wrote this"})
    page.get_by_role("button", name="Next example").click()
    broken = {"What_did_you_see,_and_what_did_you_expect?": "The instruction says net, the tests say gross."}
    leave(page, "It is broken…", "Report it and leave", **broken)
    eye.look(page, "work-set-aside")
    page.get_by_role("button", name=re.compile("^Take up")).click()
    expect(page.locator("code-editor#solution .cm-content")).to_contain_text("later")
    solve(page, RIGHT)
    assert list(Attempt.objects.counted().order_by("pk").values_list("state", flat=True)) == [
        "closed",
        "declined",
        "reported",
    ]

    hold_the_rest(study, ben)
    page.reload()
    nothing = page.get_by_role("region", name="Studies, table")
    expect(nothing).to_contain_text("1 held by others")
    expect(nothing).to_contain_text(re.compile(r"comes back at \d\d:\d\d UTC .*1 more paused"))
    eye.look(page, "work-empty-queue")
    page.get_by_role("link", name="My history").click()
    expect(page.get_by_role("region", name="By study, table")).to_contain_text("Prices")
    expect(page.get_by_text("waits for a curator")).to_be_visible()
    eye.look(page, "own-page")

    decide(eye.watch(new_context().new_page()), site, sign_in, curator, study, eye)
    page.reload()
    expect(page.get_by_text("The curators: go on as it is. net it is")).to_be_visible()
    page.locator("summary", has_text="Leave the study…").click()
    page.get_by_role("button", name="Leave the study").click()
    expect(page.get_by_text(re.compile("^you left it"))).to_be_visible()
    assert not StudyPerson.objects.get(person__username="nora").active
    asks_for_an_account(eye.watch(new_context().new_page()), site, eye)
    assert eye.troubles == []


def hold_the_rest(study: Study, ben: User) -> None:
    """Let ben hold one place, and take the others out of the queue as if they were done."""
    now = timezone.now()
    met = Attempt.objects.exclude(annotator=ben).values("slot__version")
    rest = study.slots.of_the_study().filter(state="free", paused=False).order_by("pk")
    one = rest.exclude(version__in=met)[0]
    Slot.objects.filter(pk=one.pk).update(
        state="taken", annotator=ben, taken_at=now, lease_end=now + timedelta(minutes=30)
    )
    rest.filter(state="free").update(state="closed", annotator=ben, taken_at=now - timedelta(hours=1))


def decide(
    page: Page, site: str, sign_in: Callable[[Page, User], None], curator: User, study: Study, eye: Eye
) -> None:
    """The curator sees who holds what, gives a place back, and decides on the report."""
    page.set_default_timeout(WAIT)
    sign_in(page, curator)
    page.goto(site + reverse("study", args=[study.name]))
    page.get_by_role("link", name="Queue and people").click()
    expect(page.get_by_text("The instruction says net, the tests say gross.")).to_be_visible()
    expect(page.get_by_role("region", name="Gold examples, table")).to_contain_text("0 of 1")
    eye.look(page, "study-queue")
    page.get_by_role("button", name=re.compile("^Give the place")).click()
    expect(page.get_by_text("Nobody holds a place")).to_be_visible()
    assert Slot.objects.filter(state="taken").count() == 0
    page.get_by_label("go on as it is").check()
    page.get_by_role("textbox", name="Reason").fill("net it is")
    page.get_by_role("button", name="Decide").click()
    expect(page.locator("#messages")).to_contain_text("Decided: go on as it is")
    eye.look(page, "study-queue-decided")
    report = BrokenReport.objects.get()
    assert (report.decision, report.decided_by) == ("go_on", curator)


def asks_for_an_account(page: Page, site: str, eye: Eye) -> None:
    """A stranger asks for an account, on a site that has that switched on."""
    page.goto(site + reverse("sign_up"))
    eye.look(page, "sign-up")
    page.get_by_label("Username").fill("olaf")
    page.get_by_label("Password", exact=True).fill(PASSWORD)
    page.get_by_label("Password again").fill(PASSWORD)
    page.get_by_role("button", name="Ask").click()
    expect(page.get_by_role("heading", name="Your request is kept")).to_be_visible()
    assert not User.objects.get(username="olaf").is_active
