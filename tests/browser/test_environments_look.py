"""The pages on environments in a real browser: accessible and silent in both appearances and widths, and live."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta

import pytest
from django.utils import timezone
from playwright.sync_api import Page, expect

from annotation.models import User
from examples import environments as asking
from examples.models import Comparison
from examples.rerunning import compare
from runner.models import Build, Environment, Execution, Suite, TestRow, Worker
from runner.outcome import Outcome
from tests.browser.eye import Eye
from tests.factories import make_environment, make_version

pytestmark = [pytest.mark.browser, pytest.mark.timeout(300)]

Enter = Callable[[Page, User], None]
HASH = "3d9b8d1c55c4a2f0b7e6" * 3 + "91aa"
LOCK = f"""certifi==2026.10.19 --hash=sha256:{HASH}  # needed by requests
idna==3.20 --hash=sha256:{HASH}  # needed by requests
requests==2.32.3 --hash=sha256:{HASH}
urllib3==2.8.0 --hash=sha256:{HASH}  # needed by requests
"""
LOG = """Pulling python:3.11-slim.
Making benchwright/python:3.11 from Debian bookworm (about half a minute).
mmdebstrap: downloading packages with apt...
mmdebstrap: installing remaining packages inside the chroot...
Resolving 1 package(s) for Python 3.11.2; wheels only."""
PROBLEM = "Line 1: numpy==1.26.0 is published, but without a wheel that runs under Python 3.13 here, and nothing else is installed. Those that have one: 2.5.5, 2.5.4, 2.5.3."


def ask(by: User, name: str, packages: str, *, python: str = "3.11") -> Environment:
    """Ask for an environment."""
    return asking.ask_environment(name=name, python=python, packages=packages, by=by)


@pytest.fixture
def site_with_environments(transactional_db: None, curator: User) -> Environment:
    """One environment of ours, and four that were asked for: built, building, failed, unused; gives the built one."""
    now = timezone.now()
    Worker.objects.create(name="here", queues=["bulk"], boot="b", seen_at=now + timedelta(hours=1))
    for name, python, package in (("trixie", "3.13", "3.13.5-1"), ("bookworm", "3.11", "3.11.2-1+b1")):
        Suite.objects.create(name=name, python=python, package=package, found_at=now)
    Suite.objects.create(name="forky", problem="E: Release file is expired.", found_at=now)
    make_environment("plain")
    Environment.objects.update(size_bytes=125_000_000, packages={"pip": "25.1"})
    built, idle = ask(curator, "requests-2024", "requests==2.32.3"), ask(curator, "idle-311", "")
    for each in (built, idle):
        digest = f"sha256:{each.pk}{HASH[1:]}"
        Environment.objects.filter(pk=each.pk).update(
            image_digest=digest,
            built_at=now,
            size_bytes=193_000_000,
            recipe_hash=HASH,
            language_version="3.11.2",
            requirements=LOCK if each == built else "",
            packages={"requests": "2.32.3", "idna": "3.20"},
            provides=["certifi", "idna", "requests", "urllib3"],
        )
        Build.objects.filter(environment=each).update(
            state="built", image_digest=digest, fresh=True, log=LOG, started_at=now, finished_at=now
        )
    failed = ask(curator, "numpy-old", "numpy==1.26.0", python="3.13")
    Build.objects.filter(environment=failed).update(
        state="failed", problem=PROBLEM, log=LOG, started_at=now, finished_at=now
    )
    ask(curator, "building", "tornado==6.5")
    return built


def compared(curator: User, other: Environment) -> Comparison:
    """Return a comparison whose outcomes differ: the reference passes in its own environment, and not in the other."""
    version = make_version("turning-points", expected=["test_add", "test_more"])
    made = compare(version, [other], by=curator)
    for rerun in made.reruns.select_related("execution"):
        run, fine = rerun.execution, rerun.program == "reference" and rerun.execution.environment != other
        Execution.objects.filter(pk=run.pk).update(
            state="finished",
            outcome=Outcome.PASSED if fine else Outcome.FAILED,
            cpu_seconds=0.0213,
            memory_bytes=11_400_000,
        )
        for number, (test, passed) in enumerate([("test_add", True), ("test_more", fine)], 1):
            TestRow.objects.create(
                execution=run,
                number=number,
                test=test,
                line=3,
                outcome=Outcome.PASSED if passed else Outcome.FAILED,
                message="" if passed else "AttributeError: module 'itertools' has no attribute 'batched'",
            )
    return made


def test_environments_hold_in_every_state(
    site_with_environments: Environment, site: str, page: Page, eye: Eye, sign_in: Enter, curator: User
) -> None:
    eye.watch(page, refusals=True)
    sign_in(page, curator)
    made = compared(curator, site_with_environments)
    for name, address in {
        "environments": "/examples/environments/",
        "environment": "/examples/environments/requests-2024/",
        "example-environments": f"/examples/{made.version.example_id}/environments/",
    }.items():
        page.goto(site + address)
        eye.look(page, name)
    page.goto(f"{site}/examples/environments/new/")
    page.get_by_label("Name", exact=True).fill("two-lines")
    page.get_by_label("Packages").fill("idna==3.10\nnumpy")
    page.get_by_role("button", name="Build it").click()
    expect(page.get_by_text("Line 2: “numpy” is not one exact version")).to_be_visible()
    eye.look(page, "environment-new-422")
    assert eye.troubles == []


def test_a_build_is_followed_while_it_goes(
    site_with_environments: Environment, site: str, page: Page, eye: Eye, sign_in: Enter, curator: User
) -> None:
    eye.watch(page)
    sign_in(page, curator)
    building = Build.objects.filter(name="building")
    page.goto(f"{site}/examples/environments/building/")
    expect(page.get_by_text("waits for a worker")).to_be_visible()
    building.update(state="running", claim="x", log=LOG)
    expect(page.get_by_label("Log of the build")).to_contain_text("Making benchwright/python:3.11")
    building.update(state="failed", claim="", problem=PROBLEM, finished_at=timezone.now())
    expect(page.get_by_role("alert")).to_contain_text("Those that have one: 2.5.5")
    assert page.locator("#environment").get_attribute("hx-trigger") is None
    page.goto(f"{site}/examples/environments/new/")
    page.get_by_label("3.11, Debian bookworm").check()
    page.get_by_role("button", name="Look at the Debian mirror again").click()
    expect(page.get_by_text("looking at the Debian mirror")).to_be_visible()
    Suite.objects.update(asked_at=None)
    expect(page.get_by_text("bookworm has 3.11.2-1+b1")).to_be_visible()
    expect(page.get_by_label("3.11, Debian bookworm")).to_be_checked()
    assert eye.troubles == []
