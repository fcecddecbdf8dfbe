"""A case, a fix that is tried, and the report on fairness, in a real browser: decided, accepted, taken away."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from annotation.accounts import create_account
from annotation.adjudication import ask_second_reader, decide
from annotation.models import Adjudication, Fix, Trial, User, Verdict
from annotation.runs import fingerprint
from config.access import Role
from examples.models import Alternative, Version
from runner.models import Execution, TestRow
from tests.annotation.factories import SOURCE, make_version
from tests.annotation.judged import RIGHT, STRICT, attempt_by, finish_all
from tests.browser.eye import Eye
from tests.factories import make_checks, make_environment

pytestmark = [pytest.mark.browser, pytest.mark.timeout(240)]
OWN_WAY = "def with_tax(net):\n    return net + net / 5\n"


@pytest.fixture
def disputed(transactional_db: None, ann: User, ben: User) -> Version:
    """A version that one solved and two, who are right by its instruction, did not; and one with a second reader."""
    make_environment("plain")
    version = make_version(source=SOURCE)
    make_checks(version)
    cas = create_account(username="cas", role=Role.ANNOTATOR, password=None)
    attempt_by(ann, version, RIGHT)
    for person, function in ((ben, STRICT), (cas, OWN_WAY)):
        attempt = attempt_by(person, version, function, outcome="FAILED", test_quality=3)
        Verdict.objects.filter(attempt=attempt).update(
            outcome="tests_wrong",
            test_note="Nothing is said of rounding.",
            evidence_input="with_tax(19.99)",
            evidence_expected="23.988",
            evidence_got="23.99, I believe",
            evidence="“the price with tax” has no word on cents.",
        )
    other = make_version(source=SOURCE)
    attempt_by(ann, other, RIGHT)
    return version


def ended(**outcomes: str) -> None:
    """Let what was asked for have come to its outcomes, with the values that a failure compares."""
    finish_all(**outcomes)
    Execution.objects.filter(alternative_run__isnull=False).update(state="finished", outcome="FAILED")
    for trial in Trial.objects.filter(execution__outcome="FAILED").select_related("execution"):
        said = {"test": "test_with_tax", "assertion": 3, "outcome": "FAILED", "line": 5}
        TestRow.objects.update_or_create(
            execution_id=trial.execution_id, number=2, defaults={**said, "values": ["23.988", "23.99"]}
        )


def test_a_case_is_looked_at_a_fix_tried_and_accepted_and_the_report_read(
    site: str,
    page: Page,
    sign_in: Callable[[Page, User], None],
    curator: User,
    eye: Eye,
    disputed: Version,
) -> None:
    eye.watch(page)
    sign_in(page, curator)
    other = Version.objects.exclude(pk=disputed.pk).get()
    decide(other, decision="solvable", severity=0, reason="Two readings, one is meant.", by=curator)
    ask_second_reader(other, reason="I wrote the dataset's guidelines.", by=curator)

    page.goto(f"{site}/adjudication/?kind=tests")
    expect(page.get_by_role("link", name="Open the case")).to_have_count(1)
    page.goto(f"{site}/adjudication/")
    eye.look(page, "adjudication-queue")
    page.get_by_role("link", name="Open the case").first.click()
    expect(page.get_by_role("heading", name="Side by side")).to_be_visible()
    page.get_by_label("Execute each").fill("1")
    page.get_by_role("button", name="Execute", exact=True).click()
    expect(page.get_by_text("4 executions are asked for.")).to_be_visible()
    ended(strict="FAILED", **{OWN_WAY: "FAILED"})

    # Which solution is right is said beside its code, and kept.
    name = fingerprint(STRICT, "")[:8]
    page.get_by_label("Second solution").select_option(name)
    page.get_by_role("button", name="Compare").click()
    side = page.locator("section.panel", has=page.get_by_role("heading", name=name, exact=True))
    side.get_by_label("right", exact=True).check()
    side.get_by_label("Keep it as an accepted alternative").check()
    side.get_by_label("Reason").fill("The instruction says nothing of cents.")
    side.get_by_role("button", name="Record").click()
    expect(page.get_by_text("is recorded as judged")).to_be_visible()
    expect(page.get_by_text("rejects 1 solution judged right")).to_be_visible()
    assert Alternative.objects.standing().count() == 1
    eye.look(page, "adjudicate")

    # A fix is executed against all that is recorded; the page follows, and says who flips.
    page.get_by_role("link", name="Try a fix…").first.click()
    tests = page.locator("code-editor[label='Tests, Python'] .cm-content")
    expect(tests).to_contain_text("23.99")
    tests.click()
    page.keyboard.press("Control+End")
    page.keyboard.insert_text("    # Rounded or not.\n")
    page.get_by_label("Why", exact=True).fill("Cents are not asked for.")
    page.get_by_role("button", name="Look at the change").click()
    expect(page.get_by_text("verdicts will be carried")).to_be_visible()
    eye.look(page, "fix_new")
    page.get_by_role("button", name="Execute all of it").click()
    expect(page.get_by_text("0 of 4 executed")).to_be_visible()
    ended(**{OWN_WAY: "FAILED"})
    lost = Execution.objects.filter(trial__fix__isnull=False, trial__function=OWN_WAY)
    TestRow.objects.filter(execution__in=lost).delete()
    lost.update(state="unjudged", outcome="", reason="no worker")
    expect(page.get_by_role("status").get_by_text("some could not be judged")).to_be_visible()
    expect(page.locator("#flips tbody tr.on")).to_have_count(1)
    eye.look(page, "fix")
    page.get_by_role("button", name="Execute what is missing").click()
    ended()
    page.reload()
    expect(page.locator("#flips tbody tr.on")).to_have_count(2)
    page.get_by_text("2: major").check()
    page.locator("form", has=page.get_by_role("button", name="Make version 2")).get_by_label("Reason").fill(
        "It says nothing of cents."
    )
    page.get_by_role("button", name="Make version 2").click()
    expect(page.get_by_text("3 verdicts are carried to it")).to_be_visible()
    assert Fix.objects.get().made is not None
    assert Adjudication.objects.filter(version=disputed, decision="repair", severity=2).exists()
    eye.look(page, "fix-accepted")

    page.goto(f"{site}/studies/shop/fairness/")
    expect(page.get_by_role("heading", name="Findings")).to_be_visible()
    eye.look(page, "study_fairness")
    with page.expect_download() as taken:
        page.get_by_role("link", name="CSV").first.click()
    assert taken.value.suggested_filename == "shop-findings.csv"
    assert eye.troubles == []
