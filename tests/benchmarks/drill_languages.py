"""JavaScript and C++ in real boxes: hostile submissions with one outcome each, and the examples we wrote, checked.

    python -m tests.benchmarks.drill_languages [javascript] [cpp] [hostile] [examples] [edits]

Builds the images `node` and `cpp` where they are absent, which takes a minute each: that is why it is a drill and no test.
`edits` makes the next version of each example, a line of context and a test more, and checks those. Exit 1 where a submission
came to anything else, where an example fails a check, or where a container was left.
"""

from __future__ import annotations

import sys
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from tests.benchmarks.figures import machine
from tests.benchmarks.prepared import AT_ONCE, check_all, database, prepare
from tests.benchmarks.records import load

if TYPE_CHECKING:
    from examples.models import Version
    from runner.models import Environment
    from runner.outcome import Measurement
    from runner.sandbox.containers import ColdSandbox
    from tests.runner.hostile_languages import LanguageCase

IMAGES = {"javascript": "node", "cpp": "cpp"}
PARTS = ("hostile", "examples", "edits")
ONE_MORE = {
    "javascript": "\nfunction test_one_more() {\n  assert.equal(ONE_MORE, 1);\n}\n",
    "cpp": "\nvoid test_one_more() {\n    assert(ONE_MORE == 1);\n}\n",
}
LINE = {"javascript": "const ONE_MORE = 1;\n", "cpp": "const int ONE_MORE = 1;\n"}
TRIES = 4


def main(words: list[str]) -> int:
    """Run what was asked for, all where nothing was; return the exit status."""
    prepare()
    print(f"{database()}; {machine()}")
    languages = [name for name in IMAGES if name in words] or list(IMAGES)
    parts = [part for part in PARTS if part in words] or PARTS
    held = True
    for name in languages:
        environment = provided(IMAGES[name])
        held = ("hostile" not in parts or hostile(name, environment)) and held
        held = ("examples" not in parts or examples(name)) and held
        held = ("edits" not in parts or edits(name)) and held
    return 0 if held else 1


def provided(name: str) -> Environment:
    """Build an environment where it is absent, say how long that took and how large it is, and return it."""
    from runner.environments.recipe import recipes
    from runner.provisioning import provision

    began = time.monotonic()
    environment = provision(recipes()[name], progress=lambda _: None)
    print(
        f"{name}: {environment.language} {environment.language_version}, {(environment.size_bytes or 0) / 1e6:.0f} MB, "
        f"{time.monotonic() - began:.0f} s"
    )
    return environment


def hostile(name: str, environment: Environment) -> bool:
    """Run a language's hostile submissions and print a line for each; return whether all came to their outcome."""
    from runner.sandbox.containers import ColdSandbox
    from runner.sandbox.engine import Engine
    from tests.runner.hostile_languages import CPP_CASES, JAVASCRIPT_CASES

    cases = JAVASCRIPT_CASES if name == "javascript" else CPP_CASES
    engine = Engine()
    sandbox = ColdSandbox(engine)
    print(f"{name + ' submission':44} {'expected':36} got")
    with ThreadPoolExecutor(AT_ONCE) as threads:
        held = sum(threads.map(lambda case: _held(sandbox, environment.image_digest, case), cases))
    left = engine.boxes(sandbox.keeper)
    print(f"{name}: {held} of {len(cases)} came to their one outcome; containers left: {len(left)}")
    sandbox.close()
    return held == len(cases) and not left


def _held(sandbox: ColdSandbox, image: str, case: LanguageCase) -> bool:
    from runner.outcome import judge

    job = case.job()
    measured = _run(sandbox, image, case)
    found = judge(measured, job.expected)
    expected = (case.whole, case.f, case.g)
    got = (found.outcome, *(row.outcome for row in found.tests))
    told = [", ".join(map(str, each)) for each in (expected, got)]
    wrong = "" if got == expected else f"   WRONG {measured.load_error[:300]!r} {measured.facts}"
    print(f"{case.name:44} {told[0]:36} {told[1]}{wrong}", flush=True)
    return got == expected


def _run(sandbox: ColdSandbox, image: str, case: LanguageCase) -> Measurement:
    """Run a case; where the provider failed, which is ours to repeat, as often as the product does."""
    from runner.sandbox.base import SandboxUnavailable

    for tries in range(TRIES):
        name = f"drill-{time.monotonic_ns()}"
        try:
            return sandbox.run(
                case.job(), image=image, name=name, on_started=lambda: None, on_row=lambda row: None
            )
        except SandboxUnavailable as error:
            print(f"{case.name}: try {tries + 1}: {error}", flush=True)
            time.sleep(2)
    raise SystemExit(f"{case.name} could not be run")


def imported(name: str) -> int:
    """Import a language's examples, where they are not there yet, and return how many there are."""
    from examples.demo.braced import file_of
    from examples.models import Example

    load(file_of(name), f"demo-{name}")  # type: ignore[arg-type]
    return Example.objects.filter(dataset__name=f"demo-{name}").count()


def examples(name: str) -> bool:
    """Import a language's examples and check them as the product does; return whether each passed every check."""
    from examples.models import Version

    there = imported(name)
    passed = checked(
        f"{name}: examples", list(Version.objects.filter(language=name, number=1).order_by("pk"))
    )
    return passed == there == 12


def edits(name: str) -> bool:
    """Edit each example as a curator does, check what comes of it, and return whether each passed every check."""
    from annotation.accounts import create_account
    from annotation.models import User
    from config.access import Role
    from examples.editing import edit_of
    from examples.models import Version
    from examples.proposing import propose_version

    there = imported(name)
    by = User.objects.first() or create_account(username="drill", role=Role.CURATOR, password=None)
    made = []
    for version in Version.objects.filter(language=name, number=1).order_by("pk"):
        edit = edit_of(version)
        tests = edit.tests
        tests += tests.splitlines(keepends=True)[0] if tests.startswith("{") else ONE_MORE[name]
        lines = edit.context.splitlines(keepends=True)
        at = next(
            (at for at, line in enumerate(lines) if not line.startswith(("#", '"use')) and line.strip()), 0
        )
        context = "".join([*lines[:at], LINE[name], *lines[at:]])
        made.append(
            propose_version(version, replace(edit, context=context, tests=tests), note="Edited.", by=by)
        )
    return checked(f"{name}: edited examples", made) == there == 12


def checked(what: str, versions: list[Version]) -> int:
    """Check versions, print a line for each, and return how many passed every check."""
    from examples.models import Check

    seconds = check_all([version.pk for version in versions])
    for version in versions:
        version.refresh_from_db()
        print(f"{version.example.key:32} {_told(version)}", flush=True)
    failed = Check.objects.filter(version__in=versions).exclude(state="passed")
    for check in failed.select_related("version__example"):
        print(f"{check.version.example.key}: {check.name} {check.state}: {check.finding[:300]}")
    passed = sum(version.check_state == "passed" for version in versions)
    print(f"{what}: {passed} of {len(versions)} pass every check, in {seconds:.0f} s")
    return passed


def _told(version: Any) -> str:
    """Return what an example's checks found, in one line."""
    checks = {check.name: check for check in version.checks.all()}
    reference = checks["reference"].evidence if "reference" in checks else {}
    empty = checks["empty_body"].evidence["runs"][0]["outcome"] if "empty_body" in checks else "?"
    canary = checks["canary"].evidence.get("label", "") if "canary" in checks else "?"
    cpu = version.reference_cpu_seconds or 0.0
    return f"reference {reference.get('passed')}/{reference.get('of')}, empty body {empty}, {canary}, {cpu:.2f} s CPU"


if __name__ == "__main__":
    status = main(sys.argv[1:])
    from runner import boxes

    boxes.close()
    sys.exit(status)
