"""The path without a model over doctested functions of three packages, and what happens to each CodeSearchNet record.

    python -m tests.benchmarks.check_doctested [FOLDER OF WHEELS]

The wheels of more-itertools, toolz and boltons are taken from the folder, else downloaded by pip; nothing of them is
imported here. At least 100 functions must be accepted; each accepted one passes with its reference and fails with an
empty body, in executions of its own after all checks. Exit 1 where one does not.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from tests.benchmarks.figures import machine
from tests.benchmarks.prepared import AT_ONCE, closing, database, prepare, provide_environments
from tests.benchmarks.records import data_file

PACKAGES = ("more-itertools", "toolz", "boltons")
RECORDS = ("codesearchnet/python_train_sample.jsonl", "codesearchnet/python_advtest_sample.jsonl")
LEAST = 100
SHOWN = 6


def main(folder: str = "") -> int:
    """Find, generate, execute again, print the funnel and the reasons; return the exit status."""
    prepare()
    print(f"{database()}; {machine()}")
    provide_environments()
    with tempfile.TemporaryDirectory() as made:
        wheels = sorted(Path(folder or _downloaded(made)).glob("*.whl"))
        accepted, held = _run("wheels", wheels)
    _run("codesearchnet", [data_file(name) for name in RECORDS])
    print(f"{accepted} accepted from wheels, at least {LEAST} wanted")
    return 0 if accepted >= LEAST and held else 1


def _downloaded(folder: str) -> str:
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary", ":all:"]
    subprocess.run([*command, "--dest", folder, *PACKAGES], check=True)
    return folder


def _run(name: str, sources: list[Path]) -> tuple[int, bool]:
    """Take every fragment of the sources to its end; return how many were accepted, and whether those hold."""
    from examples.generation.fragments.reading import read_path
    from examples.generation.fragments.runs import plain_run
    from examples.generation.fragments.screening import Wanted
    from examples.generation.fragments.taking import take_fragments
    from examples.generation.running import generate

    run = plain_run(name, dataset=name)
    began = time.monotonic()
    for source in sources:
        taken = take_fragments(run, read_path(source), Wanted(doctests=True))
        print(f"{source.name}: {taken.waiting} taken, left out {dict(taken.left_out.most_common())}")
    found = time.monotonic() - began
    waiting = list(run.fragments.filter(state="waiting").values_list("pk", flat=True))
    with ThreadPoolExecutor(AT_ONCE) as pool:
        list(pool.map(closing(generate), waiting))
    seconds = time.monotonic() - began - found
    _print(run, found, seconds)
    accepted = run.fragments.filter(state="accepted").select_related("example__current__environment")
    broken = list(_broken([each.example.current for each in accepted]))
    for version, said in broken:
        print(f"DOES NOT HOLD: {version}: {said}")
    return len(accepted), not broken


def _print(run: Any, found: float, seconds: float) -> None:
    from examples.generation.yields import yield_of

    report = yield_of([run])
    for stage in report.stages:
        print(f"{stage.count:6} {stage.title}")
    for stop in report.stops:
        ended = run.fragments.filter(reason_code=stop.code, state=stop.state)
        names = [f"{each.path}::{each.function}".strip(":") for each in ended[:SHOWN]]
        print(f"{stop.count:6} {stop.state:9} {stop.code:20} {', '.join(names)[:150]}")
    for each in run.fragments.filter(state__in=["rejected", "stopped"]):
        print(f"       {each.path}::{each.function}: {each.reason_code}: {each.reason[:160]}")
    print(
        f"finding {found:.1f} s, generating and checking {seconds:.1f} s, {report.executions} rounds executed"
    )
    doctested = run.fragments.exclude(reason_code__in=["no_doctest", "test_code", "no_function", "stub"])
    print(f"{doctested.count()} functions with doctests")


def _broken(versions: list[Any]) -> Iterator[tuple[Any, str]]:
    """Yield the versions that do not pass with their reference, or pass with an empty body, executed once more."""
    from examples.checking.empty_body import accepted
    from examples.jobs import check_job, empty_program, reference_program
    from runner.queueing import execute_now

    def look(version: Any) -> str:
        reference = execute_now(
            check_job(version, reference_program(version)), environment=version.environment
        )
        empty = execute_now(check_job(version, empty_program(version)), environment=version.environment)
        if not reference.passed:
            return f"its reference ends with {reference.outcome or reference.state}"
        return "an empty body passes" if accepted(empty) or empty.passed else ""

    with ThreadPoolExecutor(AT_ONCE) as pool:
        told = list(pool.map(closing(look), versions))
    counts = Counter(said or "holds" for said in told)
    print(f"executed once more: {dict(counts)}")
    yield from ((version, said) for version, said in zip(versions, told, strict=True) if said)


if __name__ == "__main__":
    status = main(*sys.argv[1:2])
    from runner import boxes

    boxes.close()
    sys.exit(status)
