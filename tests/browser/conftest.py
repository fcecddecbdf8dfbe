"""Fixtures of the browser tests.

worker      a worker process with real containers; gives the plain environment, built
bulk_worker the same for every queue and environment: it imports and checks as well
site        address of a real server (uvicorn, pages and sockets) on the database of the test, SQLite or Postgres
sign_in     sign_in(page, user): the page's browser is signed in as that account, without the form
axe         axe(page): the violations axe-core finds on the page as it stands, each as one line
eye         looks at pages in both appearances and widths; keeps pictures where SHOTS names a folder
watched     watched(page): a list that fills with console errors and refusals by the content security policy
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, expect

from annotation.models import User
from runner.models import Environment, Worker
from tests.browser.chromium import FLAGS, PACKAGE, chromium
from tests.browser.eye import Eye
from tests.services import free_port, listens, wait_until

# What a page is to show is waited for longer than Playwright's 5 s: other work may share the machine.
expect.set_options(timeout=30_000)

os.environ.setdefault(
    "DJANGO_ALLOW_ASYNC_UNSAFE", "1"
)  # Playwright's sync API runs an event loop in this thread

RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]


@pytest.fixture(scope="session")
def browser_type_launch_args(browser_type_launch_args: dict[str, Any]) -> dict[str, Any]:
    """Debian's Chromium instead of Playwright's own download."""
    program = chromium()
    if program is None:
        pytest.skip(f"no Chromium: `apt-get install {PACKAGE}` (make test does this as root)")
    return {**browser_type_launch_args, "executable_path": program, "args": FLAGS.split()}


def database_url(stored: dict[str, Any]) -> str:
    """Return the address of the database behind a connection's settings."""
    if "sqlite" in stored["ENGINE"]:
        return f"sqlite:///{stored['NAME']}"
    password = f":{stored['PASSWORD']}" if stored.get("PASSWORD") else ""
    return f"postgres://{stored['USER']}{password}@{stored['HOST']}:{stored['PORT']}/{stored['NAME']}"


class Site(NamedTuple):
    """A running site: its process, its address and the file it writes its log to."""

    process: subprocess.Popen[bytes]
    address: str
    log: Path


Serve = Callable[[str], Site]


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Iterator[None]:
    """Show what the site said last where a browser test has failed: the page alone rarely tells."""
    report = yield
    log = getattr(item, "funcargs", {}).get("site_log")
    if report.failed and isinstance(log, Path) and log.exists():
        report.sections.append(("the site's log", log.read_text(errors="replace")[-3000:]))
    return report


@pytest.fixture(scope="session")
def serve(tmp_path_factory: pytest.TempPathFactory, redis_url: str) -> Iterator[Serve]:
    """serve(database URL): a site on that database; one server for each database and session."""
    running: dict[str, Site] = {}

    def find(database: str) -> Site:
        if database not in running:
            running[database] = _start(database, redis_url, tmp_path_factory.mktemp("site"))
        return running[database]

    yield find
    for site in running.values():
        site.process.terminate()
        site.process.wait(20)


def _start(database: str, redis: str, room: Path) -> Site:
    """Start uvicorn on a free port; give the site once it listens."""
    from django.conf import settings

    port, log = free_port(), room / "log"
    environment = _environment(database, redis, room) | {"SITE_URL": f"http://127.0.0.1:{port}"}
    command = [sys.executable, "-m", "uvicorn", "--host", "127.0.0.1", "--port", str(port)]
    command += ["--log-level", "warning", "config.asgi:application"]
    with log.open("wb") as out:
        process = subprocess.Popen(command, env=environment, stdout=out, stderr=out, cwd=settings.BASE_DIR)
    wait_until(lambda: listens(port), "the site", process=process, log=log)
    return Site(process, f"http://127.0.0.1:{port}", log)


def _environment(database: str, redis: str, room: Path) -> dict[str, str]:
    """Return the environment of a process of a site on that database."""
    from django.conf import settings

    return {
        **os.environ,
        "DJANGO_SETTINGS_MODULE": "tests.served",
        "DATABASE_URL": database,
        "REDIS_URL": redis,
        "BENCHWRIGHT_DATA": str(room),
        "SECRET_KEY": settings.SECRET_KEY,
    }


@pytest.fixture
def worker(served: Site, redis_url: str, tmp_path: Path) -> Iterator[Environment]:
    """A worker process with real containers beside the site; gives the plain environment, built."""
    plain = _built("plain")
    with _working(_environment(_database(), redis_url, tmp_path), tmp_path / "worker.log", ["interactive"]):
        yield plain


@pytest.fixture
def bulk_worker(served: Site, redis_url: str, tmp_path: Path) -> Iterator[dict[str, Environment]]:
    """A worker of every queue on the site's own data, which finds what is uploaded there; gives every environment."""
    built = {name: _built(name) for name in ("plain", "science")}
    environment = _environment(_database(), redis_url, served.log.parent)
    with _working(environment, tmp_path / "worker.log", ["interactive", "bulk", "generation"]):
        yield built


def _built(name: str) -> Environment:
    """Return an environment with its image; skips the test where there is no engine, or none can be built."""
    from runner.environments.recipe import BuildFailed, recipes
    from runner.provisioning import provision

    try:
        return provision(recipes()[name], progress=print)
    except BuildFailed as reason:
        pytest.skip(f"no Docker engine, or no image {name}: {reason}")


@contextmanager
def _working(environment: dict[str, str], log: Path, queues: list[str]) -> Iterator[None]:
    """Run a worker process until the block ends, entered once it and its engine have answered."""
    from django.conf import settings

    command = [sys.executable, "-m", "config.work", *queues]
    with log.open("wb") as out:
        process = subprocess.Popen(command, env=environment, stdout=out, stderr=out, cwd=settings.BASE_DIR)
    try:
        wait_until(
            lambda: Worker.objects.filter(engine_error="").exists(), "the worker", process=process, log=log
        )
        yield
    finally:
        process.terminate()
        process.wait(30)


def _database() -> str:
    """Return the address of the database this test is on."""
    from django.db import connection

    return database_url(connection.settings_dict)


@pytest.fixture
def served(transactional_db: None, serve: Serve) -> Site:
    """The site on the database this test is on."""
    return serve(_database())


@pytest.fixture
def site_log(served: Site) -> Path:
    """The log of the site, shown when the test fails."""
    return served.log


@pytest.fixture
def site(served: Site, site_log: Path) -> str:
    """Address of a site on the database this test is on; what the test commits, the site sees."""
    return served.address


@pytest.fixture
def sign_in(site: str) -> Callable[[Page, User], None]:
    """sign_in(page, user) puts the account's session into the page's browser."""
    from django.conf import settings
    from django.test import Client

    def enter(page: Page, user: User) -> None:
        client = Client()
        client.force_login(user, backend="django.contrib.auth.backends.ModelBackend")
        session = client.cookies[settings.SESSION_COOKIE_NAME].value
        page.context.add_cookies([{"name": settings.SESSION_COOKIE_NAME, "value": session, "url": site}])

    return enter


@pytest.fixture
def axe() -> Callable[[Page], list[str]]:
    """axe(page) returns what breaks WCAG 2.2 A or AA or axe's best practice, each rule with its first places."""

    def violations(page: Page) -> list[str]:
        found = Axe().run(
            page, options={"runOnly": {"type": "tag", "values": RULES}, "resultTypes": ["violations"]}
        )
        return [
            f"{rule['id']}: {[node['html'][:160] for node in rule['nodes'][:3]]}"
            for rule in found.response["violations"]
        ]

    return violations


@pytest.fixture
def eye(axe: Callable[[Page], list[str]]) -> Eye:
    """An eye; its pictures go to the folder that SHOTS names."""
    return Eye(axe, Path(os.environ["SHOTS"]) if "SHOTS" in os.environ else None)


@pytest.fixture
def watched() -> Callable[[Page], list[str]]:
    """watched(page) returns a list that fills, from now on, with console errors, script errors and policy refusals."""

    def listen(page: Page) -> list[str]:
        said: list[str] = []
        page.on("console", lambda message: said.append(message.text) if message.type == "error" else None)
        page.on("pageerror", lambda error: said.append(str(error)))
        return said

    return listen
