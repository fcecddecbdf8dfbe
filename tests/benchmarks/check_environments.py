"""Environments by the page of a running site: Python 3.11 with a package, a second build, a comparison, a kill, removal.

    python -m tests.benchmarks.check_environments

Needs the Debian mirror and a package index. Exit 1 where something ends otherwise than said.
"""

from __future__ import annotations

import json
import os
import secrets
import signal
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.benchmarks.client import Person
from tests.benchmarks.figures import machine
from tests.benchmarks.site import Site, session_of, site

MARK = f"check-{secrets.token_hex(3)}"
PAGE = "/examples/environments/"
PATIENCE_SECONDS = 900
# Passes under Python 3.12 and later only.
CODE = '''import itertools

def pairs(items):
    """Return the items two by two."""
    return [tuple(each) for each in itertools.batched(items, 2)]

def test_pairs():
    assert pairs([1, 2, 3, 4]) == [(1, 2), (3, 4)]
'''
BAD = {
    "idna==3.10\ndocopt==0.6.2": "Line 2: docopt==0.6.2 is published, but without a wheel",
    "requests==99.0": "Line 1: requests==99.0 does not exist",
    "requests==2.32.3\nurllib3==1.20": "Line 2: urllib3==1.20 does not go with requests",
}
failures: list[str] = []


def expect(claim: str, holds: bool) -> None:
    """Print the claim, and keep it where it does not hold."""
    print(f"{'holds ' if holds else 'FAILS '} {claim}", flush=True)
    if not holds:
        failures.append(claim)


def wait(claim: str, done: Callable[[], bool]) -> float:
    """Wait until something is so and return the seconds; the end of patience is a failure."""
    began = time.monotonic()
    while not done():
        if time.monotonic() - began > PATIENCE_SECONDS:
            expect(claim, holds=False)
            break
        time.sleep(0.2)
    return time.monotonic() - began


def build_of(name: str) -> Any:
    """Return the newest build of an environment."""
    from runner.models import Build

    return Build.objects.filter(name=name).order_by("-pk")[0]


def ask(desk: Person, name: str, packages: str, python: str = "3.11") -> None:
    """Send the form, which must lead to the environment's page."""
    answer = desk.post(f"{PAGE}new/", {"name": name, "python": python, "packages": packages})
    expect(f"{name} is asked for by the page", answer.location == f"{PAGE}{name}/")


def look_at_the_mirror(desk: Person) -> None:
    """Ask what Debian offers."""
    from runner.models import Suite

    desk.post(f"{PAGE}suites/", {})
    took = wait("the mirror was looked at", lambda: not Suite.objects.filter(found_at=None).exists())
    print(f"       {'; '.join(str(suite) for suite in Suite.objects.all())} ({took:.0f} s)")
    pythons = set(Suite.objects.exclude(python="").values_list("python", flat=True))
    expect("Debian offers two Pythons at least, 3.11 among them", len(pythons) > 1 and "3.11" in pythons)


def build_twice(desk: Person) -> str:
    """Build an environment with one package, and again; return its name."""
    from runner.models import Environment

    name = f"{MARK}-one"
    ask(desk, name, "idna==3.10")
    seen: list[str] = []
    wait("it is built", lambda: _ended(desk, name, seen))
    build, made = build_of(name), Environment.objects.get(name=name)
    with_base = "mmdebstrap" in build.log
    print(
        f"       {build.seconds:.1f} s {'with' if with_base else 'without'} its base, {made.size_bytes / 1e6:.0f} MB, Python {made.language_version}, {made.image_digest}"
    )
    print(f"       {made.requirements.strip()}")
    expect("the page followed the log while it went", len(seen) > 1)
    desk.post(f"{PAGE}{name}/build/", {})
    wait("the second build ends", lambda: _ended(desk, name, []))
    again = build_of(name)
    print(f"       second build: {again.seconds:.1f} s")
    same = Environment.objects.get(name=name).built_at == made.built_at
    expect("a second build changes nothing", again.pk != build.pk and not again.fresh and same)
    return name


def _ended(desk: Person, name: str, seen: list[str]) -> bool:
    """Ask the page as it asks itself, keep how much of the log it shows, and return whether the build is over."""
    from runner.models import Build

    text = desk.text_of(desk.get(f"{PAGE}{name}/", **{"HX-Request": "true"}))
    if not seen or seen[-1] != text:
        seen.append(text)
    return not Build.objects.open().filter(name=name).exists()


def refuse(desk: Person) -> None:
    """Ask for what cannot be had."""
    for at, (packages, words) in enumerate(BAD.items()):
        name = f"{MARK}-bad-{at}"
        ask(desk, name, packages)
        while not _ended(desk, name, []):
            time.sleep(0.2)
        problem = build_of(name).problem
        print(f"       {problem}")
        expect("its failure names the line and what helps", problem.startswith(words))


def compare(desk: Person, name: str) -> None:
    """Run one version in its own environment and in the new one."""
    from examples.models import Comparison, Version
    from examples.rerunning import side_by_side
    from runner.models import Environment
    from tests.benchmarks.records import load

    record = {"idx": 1, "code": CODE, "func_name": "pairs", "revised_instruction": "Pair them."}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "records.json"
        path.write_text(json.dumps([record]))
        load(path, "check")
    version = Version.objects.get()
    wait("it is checked", lambda: Version.objects.get().check_state not in ("pending", "running"))
    before = Version.objects.values().get()
    began = time.monotonic()
    other = Environment.objects.get(name=name)
    desk.post(f"/examples/{version.example_id}/environments/", {"environments": other.pk})
    comparison = Comparison.objects.get()
    wait("it is compared", lambda: not side_by_side(comparison).is_open)
    print(f"       compared in {time.monotonic() - began:.1f} s, 8 executions")
    here, there = side_by_side(comparison).columns
    for column in (here, there):
        print(
            f"       {column.environment.name}, {column.environment.language_version}: {column.passed} of 3, {column.shown.outcome} {column.failure}"
        )
    expect("the reference passes in plain and not under 3.11", (here.passed, there.passed) == (3, 0))
    expect("nothing of the version changed", Version.objects.values().get() == before)


def kill_the_worker(desk: Person, here: Site) -> str:
    """Kill the worker while it builds; return the name of what another one then built."""
    name = f"{MARK}-kill"
    ask(desk, name, "six==1.17.0\nidna==3.10")
    wait("it is being built", lambda: build_of(name).state == "running")
    os.kill(here.pid_of("config.work"), signal.SIGKILL)
    took = wait("it is built all the same", lambda: build_of(name).state in ("built", "failed"))
    build = build_of(name)
    print(f"       {took:.0f} s after the kill, try {build.tries}")
    expect("a killed worker's build is taken by the next", (build.state, build.tries) == ("built", 2))
    return name


def remove(desk: Person, used: str, idle: str) -> None:
    """Remove both; the used one stays."""
    import docker

    from runner.models import Build, Environment

    digest = build_of(idle).image_digest
    desk.post(f"{PAGE}unused/", {"name": idle})
    desk.post(f"{PAGE}unused/", {"name": used})
    expect("what an execution names is kept", Environment.objects.filter(name=used).exists())
    expect("what nothing names is removed", not Environment.objects.filter(name=idle).exists())
    took = wait("its image leaves the engine", lambda: build_of(idle).image_removed_at is not None)
    gone = docker.from_env().images.list(filters={"label": f"org.benchwright.environment={idle}"}) == []
    expect(
        f"its image left the engine after {took:.0f} s, and its digest is known still", gone and bool(digest)
    )
    print(f"       {Build.objects.count()} builds kept")


def clean() -> None:
    """Remove the images that this script made."""
    import docker

    client = docker.from_env(timeout=60)
    for image in client.images.list(filters={"label": "org.benchwright.environment"}):
        if image.labels["org.benchwright.environment"].startswith(MARK):
            client.images.remove(image.id, force=True)


def main() -> int:
    """Go through all of it and return the exit status."""
    print(machine())
    with site() as here:
        from annotation.accounts import create_account
        from config.access import Role

        curator = create_account(username="cleo", role=Role.CURATOR, password=None)
        desk = Person(here.port, session_of(curator))
        look_at_the_mirror(desk)
        name = build_twice(desk)
        refuse(desk)
        compare(desk, name)
        idle = kill_the_worker(desk, here)
        remove(desk, name, idle)
    clean()
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
