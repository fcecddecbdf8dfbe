"""A curator writes a protocol, reads what annotators will read, opens the study, changes it with a reason, calculates."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta

import pytest
from django.utils import timezone
from playwright.sync_api import Page, expect

from annotation.assignment import take_slot
from annotation.models import Attempt, Background, Study, User, Verdict
from annotation.onboarding.steps import Step, accept, next_step
from tests.annotation.factories import make_version
from tests.browser.eye import Eye
from tests.factories import make_attempt

pytestmark = [pytest.mark.browser, pytest.mark.timeout(240)]

Enter = Callable[[Page, User], None]


def write_the_protocol(page: Page, site: str, eye: Eye) -> None:
    """Fill the form, be refused with field and remedy, mend it, preview it, save it."""
    page.goto(f"{site}/studies/new/")
    page.get_by_label("Title").fill("With and without help")
    page.get_by_label("Short name").fill("arms")
    page.get_by_label("code assistant", exact=True).check()
    page.get_by_label("Time and length of pastes are recorded").check()
    page.get_by_label("Limit on active time, in minutes").fill("20")
    page.get_by_label("The counted time is too short to have read the example").check()
    preview = page.locator("#preview")
    page.get_by_role("button", name="Preview").click()
    expect(preview).to_contain_text("Mend these fields first: Consent text.")
    page.get_by_role("button", name="Make the draft").click()
    expect(page.locator("#id_consent_text_error")).to_contain_text("or leave pastes out")
    eye.look(page, "study-new-refused")
    page.get_by_label("Consent text").fill("We store *what you write* and when you paste.")
    page.get_by_role("button", name="Preview").click()
    expect(preview).to_contain_text("You have 20 minutes of active time for each example.")
    expect(preview).to_contain_text("What is allowed is drawn for each example")
    expect(preview.locator("em")).to_have_text("what you write")
    eye.look(page, "study-new-preview")
    page.get_by_role("button", name="Make the draft").click()
    page.wait_for_url("**/studies/arms/")


def draw_and_open(page: Page, person: User, eye: Eye) -> None:
    """Draw a stratified sample, see that the people can be compared, open the study."""
    page.get_by_label("Draw so many of them").fill("4")
    page.get_by_label("dataset", exact=True).check()
    page.get_by_role("button", name="Count").click()
    expect(page.get_by_role("region", name="Strata, table")).to_contain_text("shop")
    eye.look(page, "study-sample")
    page.get_by_role("button", name="Draw a sample").click()
    expect(page.locator("#messages")).to_contain_text("4 drawn of 6")
    page.get_by_label(person.pseudonym, exact=True).check()
    page.get_by_role("button", name="Add the chosen").click()
    expect(page.get_by_text("By plan, yes")).to_be_visible()
    page.get_by_role("button", name="Open the study").click()
    expect(page.locator("#messages")).to_contain_text("Open")


def change_the_protocol(page: Page, eye: Eye) -> None:
    """Be refused without a reason, give one, look at the difference, put it into force."""
    page.get_by_role("link", name="Protocol", exact=True).click()
    page.get_by_role("link", name="Write a change").click()
    page.get_by_label("Submissions allowed (m)").fill("3")
    page.get_by_label("Why it changes").fill("   ")
    page.get_by_role("button", name="Save the change").click()
    expect(page.locator("#id_reason_error")).to_contain_text("Say why the protocol changes")
    eye.look(page, "study-protocol-change-refused")
    page.get_by_label("Why it changes").fill("One slip of the pen ended too many attempts.")
    page.get_by_role("button", name="Save the change").click()
    page.wait_for_url("**/studies/arms/protocol/")
    two = page.get_by_role("region", name="Protocol 2", exact=True)
    expect(two).to_contain_text("One slip of the pen")
    expect(two.locator("del")).to_have_text("1")
    expect(two.locator("ins")).to_have_text("3")
    eye.look(page, "study-protocol-proposed")
    page.get_by_role("button", name="Put protocol 2 into force").click()
    expect(page.get_by_role("region", name="What annotators read")).to_contain_text("You have 3 submissions")
    expect(two).to_contain_text("in force")
    eye.look(page, "study-protocol")
    page.get_by_role("region", name="Protocol 1", exact=True).get_by_role("link").click()
    expect(page.get_by_role("region", name="What annotators read")).to_contain_text("You have one submission")


def ready(study: Study, person: User) -> User:
    """Return the person, who has said yes to everything that comes before the work."""
    member = study.people.get(person=person)
    while (step := next_step(member)) in (Step.CONSENT, Step.GUIDELINES):
        accept(member, step.value, accepted=True, now=timezone.now())
    if step == Step.BACKGROUND:
        Background.objects.create(member=member)
    return person


def some_attempts(study: Study, *people: User) -> None:
    """Let each version but the last be closed by everybody, one of them unsolved now and then."""
    versions = list(study.slots.order_by("version").values_list("version", flat=True).distinct())
    for at, version in enumerate(versions[:-1]):
        for number, person in enumerate(people):
            slot = study.slots.filter(version=version, state="free").first()
            make_attempt(study, slot.version, person, solved=at != number)
    Attempt.objects.update(arm="none")
    Attempt.objects.filter(annotator=people[-1]).update(arm="assistant")
    Verdict.objects.update(created_at=timezone.now() - timedelta(minutes=30))


def test_a_protocol_from_first_draft_to_its_change_and_a_forecast(
    page: Page, site: str, sign_in: Enter, eye: Eye, curator: User, ann: User, ben: User
) -> None:
    for _ in range(6):
        make_version()
    sign_in(page, curator)
    eye.watch(page, refusals=True)
    write_the_protocol(page, site, eye)
    draw_and_open(page, ann, eye)
    study = Study.objects.get(name="arms")
    study.people.create(person=ben)
    began = take_slot(study, ready(study, ann), timezone.now())
    assert isinstance(began, Attempt)
    change_the_protocol(page, eye)
    assert Attempt.objects.get(pk=began.pk).protocol.submissions == 1
    Attempt.objects.filter(pk=began.pk).delete()
    study.slots.update(state="free", annotator=None, lease_end=None)

    page.goto(f"{site}/studies/calculator/")
    page.get_by_label("Wanted interval").fill("5")
    page.get_by_role("button", name="Calculate").click()
    # ± 5 % at 80 % needs 245 attempts; 20 by each person and 2 on each version make 1 + 19 * 0.1 + 1 * 0.2 = 3.1 of it
    expect(page.get_by_role("region", name="Needed for")).to_contain_text("760")
    eye.look(page, "calculator")
    study.refresh_from_db()
    some_attempts(study, ann, ben)
    page.goto(f"{site}/studies/calculator/?study=arms")
    expect(page.get_by_role("region", name="With and without help so far")).to_contain_text(
        "At this rate done on"
    )
    eye.look(page, "calculator-study")
    page.goto(f"{site}/studies/arms/results/")
    expect(page.get_by_role("list", name="Solved by arm")).to_contain_text("code assistant")
    eye.look(page, "study-results-arms")
    sign_in(page, ann)
    page.goto(f"{site}/work/arms/guidelines/")
    expect(page.locator(".reading")).to_contain_text("You have 3 submissions")
    eye.look(page, "guidelines-arms")
    assert eye.troubles == []
