"""The curator's pages over examples in a real browser: accessible and silent, wide and narrow, and live while checks run."""

from __future__ import annotations

import io
import json
import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

import pytest
from django.utils import timezone
from playwright.sync_api import Page, expect

from annotation.accounts import create_account
from annotation.models import User
from config.access import Role
from examples.checking.run import CHECKS
from examples.editing import edit_of
from examples.importing.store import store_stream
from examples.models import Check, Dataset, Example, ImportReport, Version
from examples.proposing import propose_version
from runner.models import Environment, Execution, TestRow
from runner.outcome import Outcome
from tests.factories import make_attempt, make_checks, make_environment, make_study, make_version

pytestmark = pytest.mark.browser
State = Version.CheckState
SOURCE = '''def {name}(levels, noise=0.0):
    """Return the highs and lows of a series, in order."""
    turns = []
    for before, here, after in zip(levels, levels[1:], levels[2:]):
        if here > before and here > after and here - max(before, after) >= noise:
            turns.append(("high", here))
    return turns

def test_{name}():
    assert {name}([]) == []
    assert {name}([1, 3, 2]) == [("high", 3)]
    assert {name}([1, 3, 2], noise=4) == []
    assert {name}([0, 1, 0, 2, 0]) == [("high", 1), ("high", 2)]
    assert {name}([1, 1, 1]) == []

if __name__ == "__main__":
    test_{name}()
'''
NAMES = [
    "turning_points",
    "group_lines",
    "balance_postings",
    "parse_range",
    "quote_words",
    "merge_settings",
    "lay_out_table",
    "walk_rope",
    "round_shares",
    "resolve_links",
    "count_visits",
    "fold_spans",
    "page_numbers",
    "trim_series",
    "pick_columns",
    "weigh_terms",
]
FAILURES = {
    3: {"network": "Needs a network: the reference tried 93.184.216.34:443 and does not pass without."},
    5: {"empty_body": "Vacuous: a function with an empty body gets through every test."},
    8: {
        "stable": "Flaky: 95 repeats of the same program gave 90 x PASSED, 5 x FAILED.",
        "reference": "The reference passes 90 of 95.",
    },
    11: {"licence": "No licence is known. Set it on the example, or on dataset exec-csn."},
}


def records() -> list[dict[str, object]]:
    """Return records in the published shape, written here."""
    return [
        {
            "idx": 1000 + at,
            "code": SOURCE.format(name=name),
            "func_name": name,
            "revised_instruction": f"Write `{name}`: return the highs and lows of a series, in order.\n\n- a rise smaller than `noise` is no turn\n- the ends are never turns",
            "repo_name": f"someone/{name.split('_')[0]}kit",
        }
        for at, name in enumerate(NAMES)
    ]


def execution(version: Version, seed: int, *, failed: bool = False) -> Execution:
    """Return a finished execution of the version's reference, with rows."""
    from examples.jobs import check_job, reference_program

    made = Execution.objects.create(
        queue=Execution.Queue.BULK,
        environment=version.environment,
        job_data=check_job(version, reference_program(version), seed=seed).as_json(),
        state=Execution.State.FINISHED,
        outcome=Outcome.FAILED if failed else Outcome.PASSED,
        cpu_seconds=0.0213,
        wall_seconds=0.094,
        memory_bytes=11_400_000,
        stdout="\x1b[31mred\x1b[0m and \u202ereversed\n" if failed else "",
        stderr="Traceback (most recent call last):\n  AssertionError\n" if failed else "",
        facts={
            "image": version.environment.image_digest,
            "mode": "cold",
            "seed": seed,
            "kernel": "6.12",
            "engine": "27.5",
        },
        finished_at=timezone.now(),
    )
    test = version.expected[0]
    for number in range(1, 6):
        bad = failed and number == 3
        TestRow.objects.create(
            execution=made,
            number=number,
            test=test,
            assertion=number,
            line=number + 1,
            outcome=Outcome.FAILED if bad else Outcome.PASSED,
            message="AssertionError" if bad else "",
            values=["[('high', 3)]", "[]"] if bad else [],
            milliseconds=0.4 * number,
        )
    return made


def check(version: Version, failures: dict[str, str]) -> None:
    """Give a version its checks, those of `failures` failed, with evidence as the checks keep it."""
    make_checks(version, **failures)
    runs = [execution(version, seed, failed=seed == 4 and "reference" in failures) for seed in range(1, 6)]
    told = [
        {
            "execution": run.pk,
            "outcome": run.outcome,
            "seed": seed,
            "cpu_seconds": run.cpu_seconds,
            "wall_seconds": run.wall_seconds,
            "failure": ""
            if run.passed
            else f"{version.expected[0]}, line 4 of the tests: [('high', 3)] against []",
        }
        for seed, run in enumerate(runs, 1)
    ]
    evidence: dict[str, dict[str, Any]] = {
        "reference": {"passed": 5, "of": 5, "runs": told},
        "empty_body": {"runs": told[:1]},
        "tests_ran": {"tests": 1, "assertions": 5, "silent": []},
        "stable": {"repeats": 5, "outcomes": {"PASSED": 5}},
        "environment": {"packages": {"numpy": "2.3.4", "pandas": "2.3.3", "requests": "2.32.5"}},
    }
    found = {
        "reference": "The reference passes 5 of 5, each in a cold container under a seed of its own.",
        "empty_body": "An empty body does not pass: FAILED.",
        "tests_ran": "1 test function(s) ran and reported 5 assertion(s).",
        "stable": "All 5 repeats have one outcome, test by test.",
        "network": "No attempt to use a network was seen.",
        "environment": f"{version.environment.name} at {version.environment.image_digest[:19]}…",
        "licence": "MIT, of dataset exec-csn.",
    }
    for made in version.checks.all():
        made.evidence = evidence.get(made.name, {})
        made.finding = failures.get(made.name, found[made.name])
        made.save(update_fields=["evidence", "finding"])
        made.executions.set(runs)
    names = [name for name in CHECKS if name in failures]
    Version.objects.filter(pk=version.pk).update(
        check_state=State.FAILED if names else State.PASSED,
        failed_checks=",".join(names),
        checked_at=timezone.now(),
        reference_cpu_seconds=0.0213,
        cpu_limit_seconds=1.0,
    )


@pytest.fixture
def world(transactional_db: None, curator: User) -> User:
    """Sixteen imported examples with their checks, a second import with problems, verdicts, a second version."""
    make_environment("plain")
    make_environment("science", digest="sha256:" + "b7" * 32)
    Environment.objects.update(provides=["numpy", "pandas", "requests"])
    Dataset.objects.create(
        name="exec-csn", title="Exec-CSN, own sample", licence="MIT", source="written here"
    )
    load("sample.json", "exec-csn", records(), curator)
    broken = [
        {**records()[0], "idx": 1, "code": "def f(:\n"},
        {"idx": 2, "func_name": "=cmd()"},
        {**records()[0], "idx": 4711},
    ]
    load("second.json", "own-2026", broken, curator)
    versions = list(Version.objects.order_by("pk"))
    for at, version in enumerate(versions[:14]):
        check(version, FAILURES.get(at, {}))
    Version.objects.filter(pk=versions[15].pk).update(check_state=State.RUNNING, check_claim="x")
    people = [create_account(username=f"p{at}", role=Role.ANNOTATOR, password=None) for at in range(3)]
    study = make_study("s-03", versions=versions[:3], people=people, solvers=3)
    make_attempt(study, versions[0], people[0])
    make_attempt(study, versions[0], people[1], solved=False, test_quality=2)
    make_attempt(study, versions[1], people[2])
    Example.objects.filter(pk__in=[versions[0].example_id, versions[1].example_id]).update(status="accepted")
    Example.objects.filter(pk=versions[5].example_id).update(
        status="retired", status_reason="Its tests accept anything."
    )
    edit = edit_of(versions[0])
    tests = edit.tests + f"    assert {NAMES[0]}([2, 1, 2]) == []\n"
    text = edit.instruction.replace("the ends are never turns", "the first and last readings are never turns")
    new = propose_version(
        versions[0],
        replace(edit, instruction=text, tests=tests, visible=3),
        note="A solver had asked what happens at the ends.",
        by=curator,
    )
    check(new, FAILURES[8])
    return curator


def load(name: str, dataset: str, items: list[dict[str, object]], by: User) -> ImportReport:
    """Import records as a file of that name."""
    found = Dataset.objects.filter(name=dataset).first()
    report = ImportReport.objects.create(
        dataset_name=dataset, dataset=found, file_name=name, started_by=by, state="running"
    )
    return store_stream(io.BytesIO(json.dumps(items).encode()), report)


def addresses() -> dict[str, str]:
    """Return the pages to look at, by name."""
    first = Example.objects.order_by("pk")[0].pk
    fit = Example.objects.order_by("pk")[2].pk
    return {
        "examples": "/examples/",
        "examples-filtered": "/examples/?q=kit&checks=failed&dataset=exec-csn",
        "examples-no-match": "/examples/?q=nowhere",
        "example": f"/examples/{first}/",
        "example-fit": f"/examples/{fit}/",
        "example-waiting": f"/examples/{first + 15}/",
        "example-content": f"/examples/{first}/content/",
        "example-versions": f"/examples/{first}/versions/",
        "example-verdicts": f"/examples/{first}/verdicts/",
        "example-provenance": f"/examples/{first}/provenance/",
        "propose": f"/examples/{first}/versions/new/",
        "execution": f"/examples/executions/{Execution.objects.filter(outcome='FAILED', checks__isnull=False).last().pk}/",
        "imports": "/examples/imports/",
        "import-report": f"/examples/imports/{ImportReport.objects.first().pk}/",
        "datasets": "/examples/datasets/",
        "dataset": "/examples/datasets/exec-csn/",
        "duplicates": "/examples/duplicates/",
    }


def shot(page: Page, name: str) -> None:
    """Save the page where SCREENSHOTS says; nothing where it says nothing."""
    if room := os.environ.get("SCREENSHOTS"):
        page.screenshot(path=Path(room) / f"{name}.png", full_page=True)


SCHEMES: tuple[Literal["light"], Literal["dark"]] = ("light", "dark")
Enter = Callable[[Page, User], None]
Look = Callable[[Page], list[str]]


def test_pages_hold_wide_and_narrow_light_and_dark(
    world: User, site: str, sign_in: Enter, axe: Look, watched: Look, page: Page
) -> None:
    sign_in(page, world)
    said = watched(page)
    found = {}
    for number, (name, address) in enumerate(addresses().items()):
        scheme = SCHEMES[number % 2]  # of a page, one is looked at here; `make shots` sees both
        page.emulate_media(color_scheme=scheme)
        page.goto(site + address)
        for width in (390, 1360):
            page.set_viewport_size({"width": width, "height": 900})
            shot(page, f"{name}-{width}-{scheme}")
            overflow = page.evaluate(
                "document.documentElement.scrollWidth - document.documentElement.clientWidth"
            )
            assert overflow <= 0, f"{name} scrolls sideways by {overflow} px"
        page.evaluate(
            "document.querySelectorAll('details:not([data-menu])').forEach(each => { each.open = true })"
        )
        found[name] = axe(page)
    assert {name: each for name, each in found.items() if each} == {}
    assert said == []


def test_the_list_follows_the_checks_and_keeps_what_was_ticked(
    transactional_db: None, curator: User, site: str, sign_in: Enter, watched: Look, page: Page
) -> None:
    first, second = make_version("first", checked=False), make_version("second", checked=False)
    Version.objects.filter(pk=first.pk).update(check_state=State.RUNNING, check_claim="x")
    sign_in(page, curator)
    said = watched(page)
    page.goto(f"{site}/examples/")
    page.get_by_label(f"Select {first.example.label}").check()
    expect(page.locator("#progress")).to_contain_text("2 on this page")
    make_checks(first)
    Version.objects.filter(pk=first.pk).update(check_state=State.PASSED, check_claim="")
    expect(page.locator(f"#c{first.example_id}")).to_contain_text("all 7 checks passed", timeout=10_000)
    expect(page.locator("#progress")).to_contain_text("1 on this page")
    expect(page.get_by_label(f"Select {first.example.label}")).to_be_checked()
    make_checks(second, reference="It fails.")
    Version.objects.filter(pk=second.pk).update(check_state=State.FAILED, failed_checks="reference")
    expect(page.locator("#progress")).to_contain_text("are done", timeout=10_000)
    assert page.locator("#progress").get_attribute("hx-trigger") is None
    assert said == []


def test_the_example_follows_its_checks_and_then_may_be_accepted(
    transactional_db: None, curator: User, site: str, sign_in: Enter, watched: Look, page: Page
) -> None:
    version = make_version(checked=False)
    Example.objects.update(status="candidate")
    sign_in(page, curator)
    said = watched(page)
    page.goto(f"{site}/examples/{version.example_id}/")
    expect(page.locator("#decision")).to_contain_text("its checks have not run yet")
    make_checks(version)
    Version.objects.filter(pk=version.pk).update(check_state=State.PASSED, checked_at=timezone.now())
    expect(page.locator("#checks")).to_contain_text("reference as it should be", timeout=10_000)
    expect(page.locator("#checks-summary")).to_contain_text("7 of 7 checks")
    page.get_by_role("button", name="Accept").click()
    expect(page.locator("#messages")).to_contain_text("is accepted")
    assert said == []


def test_a_version_is_proposed_with_a_mistake_first(
    transactional_db: None, curator: User, site: str, sign_in: Enter, axe: Look, watched: Look, page: Page
) -> None:
    version = make_version()
    sign_in(page, curator)
    said = watched(page)
    page.goto(f"{site}/examples/{version.example_id}/versions/new/")
    editor = page.locator("code-editor").nth(0)
    editor.evaluate("editor => { editor.value = 'def test_add():\\n    assert add(1, 2 == 3\\n' }")
    page.get_by_label("Why").fill("One more case.")
    page.get_by_role("button", name="Save version 2").click()
    expect(page.get_by_text("Line 2:")).to_be_visible()
    assert axe(page) == []
    editor = page.locator("code-editor").nth(0)
    editor.evaluate(
        "editor => { editor.value = 'def test_add():\\n    assert add(1, 2) == 3\\n    assert add(0, 0) == 0\\n' }"
    )
    page.get_by_role("button", name="Look at the change").click()
    expect(page.locator("#preview")).to_contain_text("assert add(0, 0) == 0")
    shot(page, "propose-preview")
    assert axe(page) == []
    page.get_by_role("button", name="Save version 2").click()
    expect(page.locator("#messages")).to_contain_text("Version 2 is saved")
    example = Example.objects.get()
    assert example.current is not None
    assert example.current.number == 2
    assert Check.objects.filter(version=version).count() == 7
    assert said == [
        "Failed to load resource: the server responded with a status of 422 (Unprocessable Entity)"
    ]
