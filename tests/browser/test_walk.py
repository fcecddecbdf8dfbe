"""The main job in a real browser: import, checks, a study, two solvers, results, a frozen release, a verified download."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import urllib.request
from pathlib import Path

import pytest
from django.conf import settings
from playwright.sync_api import FilePayload, Page, expect
from pytest_playwright.pytest_playwright import CreateContextCallback

from annotation.demo import RECORDS
from annotation.models import Attempt, User
from examples.models import Example, Version
from runner.models import Environment
from tests.answers import PROBA_TO_LABELS, TOKEN_BUCKET, Answers
from tests.browser.eye import Eye
from tests.browser.test_workspace import write
from tests.conftest import PASSWORD
from tests.examples.published import exec_csn

pytestmark = [pytest.mark.browser, pytest.mark.docker, pytest.mark.timeout(600)]

WAIT = 120_000  # ms: on a busy machine checks take their time; nothing here asserts how long
ANSWERS = {"proba2labels": PROBA_TO_LABELS, "token bucket": TOKEN_BUCKET}
NUMPY_RECORD = 1769
# Keeps every state of the rows that the page goes through: how many passed, failed, wait.
FOLLOW_ROWS = """() => {
  const state = () => ["ok", "bad", "none"].map(kind => document.querySelectorAll(`.tests li.${kind}`).length).join(" ")
  window.rowStates = [state()]
  new MutationObserver(() => { if (rowStates.at(-1) !== state()) rowStates.push(state()) })
    .observe(document.querySelector("#execution").parentElement, { childList: true, subtree: true, attributes: true })
}"""


def files() -> list[FilePayload]:
    """Return the two files a curator sends: a published record that needs numpy, and one of the demo."""
    (published,) = [record for record in exec_csn() if record["idx"] == NUMPY_RECORD]
    (demo,) = [
        line for line in RECORDS.read_bytes().splitlines() if json.loads(line)["key"] == "token_bucket"
    ]
    return [
        {"name": "exec_csn.json", "mimeType": "application/json", "buffer": json.dumps([published]).encode()},
        {"name": "demo.jsonl", "mimeType": "application/x-ndjson", "buffer": demo + b"\n"},
    ]


def enter(new_context: CreateContextCallback, site: str, user: User, eye: Eye) -> Page:
    """Return a page of a browser of the person's own, signed in by the form."""
    page = eye.watch(new_context().new_page())
    page.set_default_timeout(WAIT)
    page.goto(site)
    page.get_by_role("link", name="Sign in").first.click()
    page.get_by_label("Username").fill(user.username)
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Sign in").click()
    expect(page.locator("details.menu").first).to_be_visible()
    expect(page.locator("#messages")).to_be_empty()
    return page


def import_and_check(page: Page, eye: Eye) -> None:
    """The curator sends both files and watches until every check has passed."""
    eye.look(page, "examples-empty")
    page.get_by_role("link", name="Import records").first.click()
    page.wait_for_url("**/examples/imports/")
    eye.look(page, "imports-empty")
    for file, dataset, licence in zip(files(), ("exec-csn", "demo"), ("Apache-2.0", ""), strict=True):
        page.get_by_label("File", exact=True).set_input_files(file)
        page.get_by_label("Dataset", exact=True).fill(dataset)
        page.get_by_label("Licence of the dataset").fill(licence)
        page.get_by_role("button", name="Import", exact=True).click()
        expect(page.locator("#report")).to_contain_text("finished", timeout=WAIT)
        expect(page.locator("#report")).to_contain_text("No problems")
        expect(page.get_by_role("link", name="Its examples")).to_be_visible()
        eye.look(page, "import-report")
        page.get_by_role("link", name="imports").first.click()
        page.wait_for_url("**/examples/imports/")
    eye.look(page, "imports")
    page.get_by_role("link", name="Examples").first.click()
    rows = page.get_by_role("row").filter(has=page.locator("td.pick"))
    expect(rows).to_have_count(2)
    expect(page.get_by_text("all 7 checks passed")).to_have_count(2, timeout=WAIT)
    for label in ("3", "10"):
        expect(page.locator("td[data-l=assertions]", has_text=re.compile(f"^{label}$"))).to_be_visible()
    eye.look(page, "examples")
    page.get_by_role("link", name="proba2labels").first.click()
    expect(page.locator("#checks-summary")).to_contain_text("7 of 7 checks")
    expect(page.get_by_text("science", exact=False).first).to_be_visible()
    eye.look(page, "example")
    page.locator("#evidence-reference summary").click()
    page.locator("#evidence-reference a").first.click()
    page.wait_for_url("**/executions/*/")
    eye.look(page, "execution")


def make_study(page: Page, site: str, people: list[User], eye: Eye) -> None:
    """The curator writes a protocol with k = 2, chooses everything that is usable and both people, and opens it."""
    page.get_by_role("link", name="Studies").first.click()
    page.wait_for_url("**/studies/")
    eye.look(page, "studies-empty")
    page.goto(f"{site}/studies/new/")
    page.get_by_label("Title").fill("Can two people solve both?")
    page.get_by_label("Short name").fill("walk")
    page.get_by_label("Solvers for each version (k)").fill("2")
    page.get_by_label("Guidelines").fill("Write the function. *Run* as often as you like, submit once.")
    page.get_by_role("button", name="Preview").click()
    expect(page.locator("#preview em")).to_have_text("Run")
    eye.look(page, "study-new")
    page.get_by_role("button", name="Make the draft").click()
    page.wait_for_url("**/studies/walk/")
    eye.look(page, "study-draft-empty")
    page.get_by_role("button", name="Count").click()
    expect(page.get_by_text("2 versions can come in.")).to_be_visible()
    page.get_by_role("button", name="Add what matches").click()
    expect(page.get_by_text("2 versions added")).to_be_visible()
    for person in people:
        page.get_by_label(person.pseudonym, exact=True).check()
    page.get_by_role("button", name="Add the chosen").click()
    expect(page.locator("#messages")).to_contain_text("2 added.")
    eye.look(page, "study-draft")
    page.get_by_role("button", name="Open the study").click()
    expect(page.get_by_text("of 4").first).to_be_visible()
    eye.look(page, "study-open")


def solve_next(page: Page, eye: Eye | None) -> str:
    """An annotator takes the next example, is wrong once, then right, submits and closes; return the example's name."""
    page.get_by_role("button", name="Next example").click()
    expect(page.locator("code-editor#solution .cm-content")).to_be_visible()
    name = next(name for name in ANSWERS if name in page.locator("h1").inner_text())
    if eye:
        eye.look(page, f"workspace-{name.replace(' ', '-')}-new", whole=False)
    run_wrong_then_right(page, ANSWERS[name], eye if name == "token bucket" else None)
    if name == "token bucket":
        states = page.evaluate("rowStates")
        between = {state for state in states if state.split()[1] == "0"} - {"0 0 6", "6 0 0"}
        assert len(between) >= 3, f"rows came at once: {states}"
    page.locator("summary", has_text="Submit…").click()
    page.get_by_role("button", name="Submit for the record").click()
    expect(page.get_by_text("Every test passed")).to_be_visible(timeout=WAIT)
    expect(page.locator("summary", has_text="Give up…")).to_be_hidden()
    if eye:
        eye.look(page, f"workspace-{name.replace(' ', '-')}-passed", whole=False)
    close(page, eye)
    return name


def run_wrong_then_right(page: Page, answers: Answers, eye: Eye | None) -> None:
    """Run the visible tests on a wrong answer and see a row turn bad; then on a right one until all have turned good."""
    rows = page.locator(".tests li")
    write(page, answers.wrong)
    page.keyboard.press("Control+Enter")
    expect(page.locator(".tests li.bad")).to_have_count(1, timeout=WAIT)
    if eye:
        eye.look(page, "workspace-wrong", whole=False)
    if answers.module:
        page.locator("summary", has_text="Imports and helpers").click()
        write(page, answers.module, "helpers")
    write(page, answers.right)
    page.evaluate(FOLLOW_ROWS)
    page.keyboard.press("Control+Enter")
    expect(page.locator(".tests li.bad")).to_have_count(0, timeout=WAIT)
    expect(page.locator(".tests li.ok")).to_have_count(rows.count(), timeout=WAIT)


def close(page: Page, eye: Eye | None) -> None:
    """Say how it went; the form suggests what the machine found."""
    page.get_by_role("link", name="Say how it went").click()
    expect(page.get_by_label(re.compile("^Solved"))).to_be_checked()
    page.get_by_label("requires effort").check()
    for question in ("Is the instruction clear enough?", "Could the tests reject correct work?"):
        page.get_by_role("group", name=question).get_by_role("radio").first.check()
    if eye:
        eye.look(page, "verdict")
    page.get_by_role("button", name="Close the attempt").click()
    expect(page.get_by_role("heading", name="My work")).to_be_visible()


def read_results(page: Page, site: str, eye: Eye) -> None:
    """The study's page says 2 of 2 of each example, with Wilson, and that the interval over annotators is undefined."""
    page.goto(f"{site}/studies/walk/results/")
    report = page.locator("article.report")
    expect(report).to_contain_text("4 of 4 attempts")
    expect(report).to_contain_text(
        "the interval over annotators is undefined (every annotator has the same share"
    )
    examples = page.get_by_role("region", name="By example, table").locator("tbody tr")
    expect(examples).to_have_count(2)
    for row in examples.all():
        expect(row).to_contain_text("2 of 2, 100 % (34 to 100)")
    expect(report.get_by_text("over annotators undefined: every annotator").first).to_be_visible()
    eye.look(page, "study-results")
    page.goto(f"{site}/studies/walk/")
    expect(page.get_by_role("link", name="Results")).to_have_class(re.compile("primary"))
    eye.look(page, "study-done")
    page.goto(f"{site}/examples/")
    page.get_by_role("link", name="proba2labels").first.click()
    for tab in ("Content", "Versions", "Verdicts", "Provenance"):
        page.get_by_role("navigation", name="Sections").get_by_role("link", name=tab).click()
        page.wait_for_url(f"**/{tab.lower()}/")
        eye.look(page, f"example-{tab.lower()}")


def release(page: Page, site: str, eye: Eye) -> None:
    """The curator accepts both, drafts a release with two splits, sees the gate open, and freezes."""
    page.goto(f"{site}/examples/")
    page.get_by_label("All on this page").check()
    page.get_by_role("button", name="Accept").click()
    expect(page.locator("#messages")).to_contain_text("2")
    page.get_by_role("link", name="Releases").first.click()
    page.wait_for_url("**/releases/")
    eye.look(page, "releases-empty")
    page.get_by_role("link", name="New release").first.click()
    page.wait_for_url("**/releases/new/")
    page.get_by_label("Name", exact=True).fill("walked")
    page.get_by_label("Versions of").select_option(label="Can two people solve both?")
    page.get_by_label("Accepted examples only").check()
    page.get_by_label("train, %").fill("50")
    page.get_by_label("test, %").fill("50")
    eye.look(page, "release-new")
    page.get_by_role("button", name="Make the draft").click()
    expect(page.get_by_text("Every condition holds for all 2 versions")).to_be_visible()
    eye.look(page, "release-draft")
    page.get_by_role("button", name="Freeze 1.0.0").click()
    expect(page.get_by_role("heading", name="Take it and verify it")).to_be_visible()
    eye.look(page, "release-frozen")


def token_of(page: Page, eye: Eye) -> str:
    """The reader makes a token in the browser; return it."""
    eye.look(page, "releases")
    page.get_by_role("link", name="walked 1.0.0").click()
    page.wait_for_url("**/releases/walked/1.0.0/")
    page.get_by_role("link", name="Tokens for scripts").click()
    page.wait_for_url("**/tokens/")
    eye.look(page, "tokens-empty")
    page.get_by_label("Name", exact=True).fill("walk")
    page.get_by_label("download frozen releases").check()
    page.get_by_role("button", name="Make the token").click()
    expect(page.locator("#token")).to_be_visible()
    eye.look(page, "tokens-made")
    return page.locator("#token").inner_text()


def download(site: str, token: str, room: Path) -> None:
    """Fetch the sums and every file they name, by the API."""
    base = f"{site}/api/v1/releases/walked/1.0.0"

    def fetch(address: str, name: str) -> None:
        request = urllib.request.Request(address, headers={"Authorization": f"Token {token}"})
        with urllib.request.urlopen(request, timeout=60) as answer:
            (room / name).write_bytes(answer.read())

    fetch(f"{base}/sums/", "SHA256SUMS")
    for line in (room / "SHA256SUMS").read_text().splitlines():
        name = line.split("  ")[1]
        fetch(f"{base}/files/{name}/", name)


def verified(site: str, token: str) -> str:
    """Run docs/scripts/verify_release.py as a stranger would, and return what it says."""
    script = settings.BASE_DIR / "docs" / "scripts" / "verify_release.py"
    command = [sys.executable, str(script), site, "walked", "1.0.0"]
    environment = {"PATH": os.environ["PATH"], "BENCHWRIGHT_TOKEN": token}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=240)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_two_people_and_a_curator_walk_from_a_file_to_a_verified_download(
    bulk_worker: dict[str, Environment],
    new_context: CreateContextCallback,
    site: str,
    ann: User,
    ben: User,
    curator: User,
    reader: User,
    eye: Eye,
    tmp_path: Path,
) -> None:
    curating = enter(new_context, site, curator, eye)
    import_and_check(curating, eye)
    assert Version.objects.get(focal_name="proba2labels").environment == bulk_worker["science"]
    make_study(curating, site, [ann, ben], eye)
    for person in (ann, ben):
        working = enter(new_context, site, person, eye)
        looking = eye if person == ann else None
        if looking:
            eye.look(working, "work")
        assert {solve_next(working, looking), solve_next(working, looking)} == set(ANSWERS)
        eye.look(working, "work-done")
    assert Attempt.objects.filter(state="closed", verdict__solved=True).count() == 4
    read_results(curating, site, eye)
    release(curating, site, eye)
    assert set(Example.objects.values_list("status", flat=True)) == {"accepted"}
    token = token_of(enter(new_context, site, reader, eye), eye)
    download(site, token, tmp_path)
    subprocess.run(["sha256sum", "-c", "--strict", "SHA256SUMS"], cwd=tmp_path, check=True)
    said = verified(site, token)
    assert said.count(": passes") == 2
    assert "walked 1.0.0 is as published." in said
    assert eye.troubles == []
