"""Pages and states that the walk does not come by: refused, empty, broken, paused, in dispute, without a worker."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone
from playwright.sync_api import Page, expect

from annotation.assignment import take_slot
from annotation.attempts import close_attempt, give_up
from annotation.beats import pause
from annotation.drafts import save_draft
from annotation.invitations import invite
from annotation.models import Attempt, Study, User
from annotation.runs import run_scratch, run_visible, submit
from config.access import Role
from examples.editing import edit_of
from examples.importing.store import store_stream
from examples.models import Example, ImportReport, Version
from examples.proposing import propose_version
from examples.releasing.drafting import DraftPlan, SplitPlan, draft_release
from runner.models import Environment, Execution, Fault, Worker
from runner.outcome import Outcome
from tests.annotation.factories import RIGHT, SOURCE, WRONG, finish, leave_unjudged
from tests.annotation.factories import make_study as make_open_study
from tests.browser.eye import Eye
from tests.factories import make_attempt, make_checks, make_study, make_version, study_with_protocol

pytestmark = [pytest.mark.browser, pytest.mark.timeout(400)]

Enter = Callable[[Page, User], None]
Go = Callable[..., None]


@pytest.fixture
def go(site: str, page: Page, eye: Eye) -> Go:
    """go(address, name): open a page of the site and look at it."""
    eye.watch(page, refusals=True)

    def visit(address: str, name: str, **options: bool) -> None:
        page.goto(site + address)
        # Half a second for each page, which only a picture needs.
        page.wait_for_load_state("networkidle" if eye.folder else "load")
        eye.look(page, name, **options)

    return visit


@pytest.fixture
def a_worker(transactional_db: None) -> Worker:
    """The row of a worker that answers for the next hour, so that pages have no banner."""
    return Worker.objects.create(
        name="here", queues=["interactive"], boot="b", seen_at=timezone.now() + timedelta(hours=1)
    )


def test_who_is_not_signed_in_sees_what_this_is_and_how_to_come_in(
    a_worker: Worker, page: Page, go: Go, eye: Eye, ann: User, curator: User
) -> None:
    go("/", "home")
    go("/accounts/login/", "signin")
    page.get_by_label("Username").fill("ann")
    page.get_by_label("Password").fill("wrong")
    page.get_by_role("button", name="Sign in").click()
    expect(page.get_by_role("alert")).to_be_visible()
    eye.look(page, "signin-refused")
    go("/accounts/login/?kept=1", "signin-kept")
    go("/accounts/password/reset/", "password-reset")
    go(f"/join/{invite(role=Role.ANNOTATOR, by=curator, study=make_open_study(people=[])).token}/", "join")
    page.get_by_role("textbox").first.fill("ann")
    for box in page.locator("input[type=password]").all():
        box.fill("short")
    page.get_by_role("button", name="Make my account").click()
    expect(page.locator(".err").first).to_be_visible()
    eye.look(page, "join-422")
    go("/join/used-up/", "join-over")
    go("/nowhere/", "404")
    assert eye.troubles == []


def attempt_of(person: User, *, title: str = "", **fields: Any) -> Attempt:
    """Return the person's open attempt in a study of its own."""
    study = make_open_study(people=[person], guidelines="Be *quick*.", **fields)
    Study.objects.filter(pk=study.pk).update(title=title or study.title)
    attempt = take_slot(study, person, timezone.now())
    assert isinstance(attempt, Attempt)
    save_draft(attempt, function=WRONG, module="", base_revision=0)
    return attempt


def work_of(ann: User) -> dict[str, str]:
    """Return the addresses of an annotator's pages, by the state they are in."""
    now, code = timezone.now(), {"function": WRONG, "module": ""}
    queued, failed, scratched, unjudged, flagged, paused, lost, due, closed = (
        attempt_of(ann, title=title, submissions=2)
        for title in ("Queued", "Failed", "Scratch", "Unjudged", "Flagged", "Paused", "Lost", "Due", "Closed")
    )
    broken = run_visible(failed, **code, key="1", now=now)
    finish(broken, Outcome.LOAD_ERROR)
    Execution.objects.filter(pk=broken.execution_id).update(
        load_error='  File "solution.py", line 8\n    return net +\n                ^\nSyntaxError: invalid syntax'
    )
    snippet = run_scratch(scratched, **code, snippet="print(with_tax(10))\nwith_tax(20)", key="1", now=now)
    finish(snippet)
    Execution.objects.filter(pk=snippet.execution_id).update(stdout="10\n20\n", wall_seconds=0.031)
    leave_unjudged(submit(unjudged, **code, key="1", now=now))
    finish(submit(flagged, **code, key="1", now=now), tampered=True)
    pause(paused, now=now)
    lost.slot.study.slots.filter(pk=lost.slot_id).update(lease_end=now - timedelta(hours=1))
    Attempt.objects.filter(pk=lost.pk).update(state="released", ended_at=timezone.now())
    lost.slot.study.slots.filter(pk=lost.slot_id).update(state="free", annotator=None, lease_end=None)
    finish(submit(due, function=RIGHT, module="", key="1", now=now))
    give_up(closed, reason="The tests ask for more than the text says.", now=now)
    answers = {
        "outcome": "tests_wrong",
        "difficulty": "very hard",
        "instruction_quality": 1,
        "test_quality": 2,
    }
    close_attempt(closed, answers={**answers, "evidence": "with_tax(-1)", "text": "Too strict."}, now=now)
    run_visible(queued, **code, key="1", now=now)  # the last one asked for, or another would replace it
    return {
        "work-states": "/work/",
        "workspace-queued": f"/attempts/{queued.pk}/",
        "workspace-load-error": f"/attempts/{failed.pk}/",
        "workspace-scratch": f"/attempts/{scratched.pk}/",
        "workspace-unjudged": f"/attempts/{unjudged.pk}/",
        "workspace-flagged": f"/attempts/{flagged.pk}/",
        "workspace-paused": f"/attempts/{paused.pk}/",
        "workspace-lost": f"/attempts/{lost.pk}/",
        "verdict-due": f"/attempts/{due.pk}/verdict/",
        "closed": f"/attempts/{closed.pk}/verdict/",
        "guidelines": f"/work/{queued.slot.study.name}/guidelines/",
        "account": "/account/",
        "password-change": "/accounts/password/change/",
        "second-factor": "/accounts/2fa/",
        "signout": "/accounts/logout/",
    }


def test_an_annotators_pages_hold_in_every_state(
    a_worker: Worker, page: Page, go: Go, eye: Eye, sign_in: Enter, ann: User, ben: User
) -> None:
    sign_in(page, ann)
    go("/work/", "work-empty")
    for name, address in work_of(ann).items():
        go(address, name, whole=not name.startswith("workspace"))
        if name == "verdict-due":
            page.get_by_label("tests wrong", exact=False).check()
            page.locator("#verdict").evaluate("form => { form.noValidate = true }")
            page.get_by_role("button", name="Close the attempt").click()
            expect(page.get_by_role("alert")).to_be_visible()
            expect(page.get_by_text("Choose one.")).to_have_count(3)
            eye.look(page, "verdict-422")
    go(f"/attempts/{attempt_of(ben).pk}/", "404-of-somebody-else")
    Worker.objects.all().delete()
    go("/work/", "engine-banner")
    assert eye.troubles == []


def make_checks_fail(version: Version) -> None:
    """Let two checks of the version have failed."""
    version.checks.all().delete()
    make_checks(version, reference="The reference passes 3 of 5.", network="Needs a network.")
    failed = {"check_state": Version.CheckState.FAILED, "failed_checks": "reference,network"}
    Version.objects.filter(pk=version.pk).update(**failed)


def imported(by: User, *records: object) -> str:
    """Import records as one file, and return the address of the report."""
    report = ImportReport.objects.create(
        dataset_name="own", file_name="own.json", started_by=by, state="running"
    )
    store_stream(io.BytesIO(json.dumps(records).encode()), report)
    return f"/examples/imports/{report.pk}/"


def versions_of(curator: User) -> list[Version]:
    """Return six versions: two of them failed, one has a twin in another dataset, one has a successor."""
    versions = [make_version(f"add{at}", repository=f"owner/r{at // 2}", author=curator) for at in range(6)]
    for version in versions[4:]:
        make_checks_fail(version)
    twin = make_version("twin", dataset="second")
    Version.objects.filter(pk=twin.pk).update(content_hash=versions[3].content_hash)
    Example.objects.filter(pk=twin.example_id).update(status="retired", status_reason="Twice in here.")
    instruction = "Add two numbers, also negative ones."
    edit = replace(edit_of(versions[2]), instruction=instruction)
    propose_version(versions[2], edit, note="Somebody had asked about negative ones.", by=curator)
    return versions


def studies_of(versions: list[Version], ann: User, ben: User) -> None:
    """Make a study in dispute, a closed one, and one that nobody has begun."""
    disputed = make_study("disputed", versions=versions[:3], people=[ann, ben], title="In dispute")
    make_attempt(disputed, versions[0], ann)
    make_attempt(disputed, versions[0], ben, solved=False, outcome="tests_wrong", test_quality=3)
    make_attempt(disputed, versions[1], ann, seconds=700)
    closed = make_study("closed", versions=versions[:1], people=[ann], solvers=1, title="Closed for good")
    make_study("begun", versions=versions[:2], people=[ann], title="Not begun")
    study_with_protocol(name="draft", title="A draft", guidelines="Be *quick*.")
    Study.objects.filter(pk=disputed.pk).update(state="paused")
    Study.objects.filter(pk=closed.pk).update(state="closed", closed_at=timezone.now())


def curated(curator: User, ann: User, ben: User) -> dict[str, str]:
    """Return the addresses of a curator's pages, each with something wrong, open or long on it."""
    versions = versions_of(curator)
    studies_of(versions, ann, ben)
    plan = DraftPlan("blocked", "0.1.0", 7, [SplitPlan("test", 1.0)], "MIT")
    draft_release(plan, versions=Version.objects.filter(number=1), by=curator)
    record = {"idx": 1, "code": SOURCE, "func_name": "with_tax", "revised_instruction": "Add the tax."}
    failed, waiting = versions[4].example_id, versions[2].example_id
    return {
        "adjudication": "/adjudication/",
        "datasets": "/examples/datasets/",
        "dataset": "/examples/datasets/demo/",
        "duplicates": "/examples/duplicates/",
        "examples-no-match": "/examples/?q=nowhere",
        "examples-failed": "/examples/?checks=failed",
        "example-failed": f"/examples/{failed}/",
        "example-waiting": f"/examples/{waiting}/",
        "example-two-versions": f"/examples/{waiting}/versions/",
        "import-problems": imported(curator, {**record, "code": "def f(:"}, {"idx": 2}, record),
        "import-failed": imported(curator, {"what": "is this"}),
        "studies": "/studies/",
        "study-paused": "/studies/disputed/",
        "study-closed": "/studies/closed/",
        "study-edit": "/studies/draft/edit/",
        "results-disputed": "/studies/disputed/results/",
        "results-empty": "/studies/begun/results/",
        "release-blocked": "/releases/blocked/0.1.0/",
        "invitations": "/invitations/",
        "people": "/people/",
        "kit": "/kit/",
    }


# Forms with something missing, each by the address, the name of its picture and the button that sends it.
INCOMPLETE = [
    ("/studies/new/", "study-new-422", "Make the draft"),
    ("/examples/imports/", "imports-422", "Import"),
    ("/releases/new/", "release-new-422", "Make the draft"),
    ("/tokens/", "tokens-422", "Make the token"),
]


def test_a_curators_pages_hold_in_every_state(
    a_worker: Worker,
    page: Page,
    go: Go,
    eye: Eye,
    sign_in: Enter,
    ann: User,
    ben: User,
    curator: User,
    admin_user: User,
) -> None:
    sign_in(page, curator)
    go("/adjudication/", "adjudication-empty")
    go("/examples/datasets/", "datasets-empty")
    go("/examples/duplicates/", "duplicates-empty")
    pages = curated(curator, ann, ben)
    invite(role=Role.ANNOTATOR, by=curator, note="a colleague")
    sign_in(page, admin_user)
    for name, address in pages.items():
        go(address, name)
    go("/api/docs/", "api-docs", axe=False)  # Swagger UI's own markup is not ours
    page.emulate_media(color_scheme="dark")
    assert page.evaluate("getComputedStyle(document.documentElement).colorScheme") == "light"
    example = Example.objects.exclude(status="retired").first()
    assert example is not None
    go(f"/examples/{example.pk}/versions/new/", "propose")
    for address, name, button in [
        *INCOMPLETE,
        (f"/examples/{example.pk}/versions/new/", "propose-422", "Save version 2"),
    ]:
        page.goto(site_of(page) + address)
        page.evaluate("document.querySelectorAll('form').forEach(form => { form.noValidate = true })")
        page.get_by_role("button", name=button, exact=True).click()
        expect(page.locator(".err, .note.bad").first).to_be_visible()
        eye.look(page, name)
    assert eye.troubles == []


def test_the_operations_page_holds_with_nothing_and_with_trouble(
    page: Page, go: Go, eye: Eye, sign_in: Enter, curator: User
) -> None:
    sign_in(page, curator)
    go("/operations/", "operations-empty")
    troubled_operations()
    expect(page.locator("#operations")).to_contain_text("executes nothing")  # it renews itself
    eye.look(page, "operations")
    page.get_by_role("button", name="Try execution").first.click()
    expect(page.locator("#messages")).to_contain_text("queued again")
    assert eye.troubles == []


def troubled_operations() -> None:
    """Let one host work and one not, and executions have ended in every way."""
    now, digest = timezone.now(), "sha256:" + "5e" * 32
    environment = Environment.objects.create(
        name="plain", image_digest=digest, built_at=now, size_bytes=125_000_000
    )
    facts = {"host": "north", "engine": "20.10.24", "kernel": "6.1.0", "waiting": {digest: 4}}
    facts |= {
        "images": {digest: 1},
        "modes": {"zygote": "yes", "zygote-userns": "AppArmor forbids it", "single": "yes"},
    }
    seen = now + timedelta(hours=1)
    queues = ["interactive", "bulk"]
    Worker.objects.create(name="north-1", queues=queues, boot="a", seen_at=seen, facts=facts)
    trouble = "Listing boxes: no engine can be reached (Connection refused)."
    south = {"host": "south", "images": {}}
    Worker.objects.create(
        name="south-1", queues=queues, boot="b", seen_at=seen, engine_error=trouble, facts=south
    )
    for number in range(12):
        asked, begun = now - timedelta(milliseconds=80), now - timedelta(milliseconds=40)
        times = {"created_at": asked, "leased_at": begun, "started_at": begun, "first_row_at": now}
        times |= {"finished_at": now}
        ended: dict[str, Any] = {"state": "finished", "outcome": "PASSED", **times} if number % 4 else {}
        lost = {"state": "unjudged", "reason": trouble, "finished_at": now}
        execution = Execution.objects.create(
            environment=environment, queue=queues[number % 2], job_data={}, **(ended or lost)
        )
        if not ended:
            Fault.objects.create(execution=execution, host="south", reason=trouble, last=True)
    Execution.objects.create(environment=environment, queue="bulk", job_data={})


def site_of(page: Page) -> str:
    """Return the address of the site the page is on."""
    return str(page.evaluate("location.origin"))
